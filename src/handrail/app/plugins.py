"""Tools from installed packages and from files in the home. A broken one is left out."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import structlog

from handrail.app.tool_files import list_tool_files, load_tool_file, registered_by
from handrail.core.errors import HandrailError, SetupError
from handrail.policy.injection.checked import needs_injection_check
from handrail.tools.base import AnyTool, Tool
from handrail.tools.catalogue import builtin_registry
from handrail.tools.registry import ToolRegistry

GROUP = "handrail.tools"
OURS = "Handrail"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A package or a file whose tools are not used, and why."""

    origin: str
    reason: str


class Toolbox:
    """The tools of this machine, each with its origin: Handrail, a package or a file."""

    def __init__(self) -> None:
        self.registry = builtin_registry()
        self.left_out: list[LeftOut] = []
        self._origins = {tool.name: OURS for tool in self.registry}

    def add(self, origin: str, load: Callable[[], list[AnyTool]]) -> None:
        """Add all tools of a package or a file, or none if one of them cannot be used."""
        try:
            found = [_checked(tool) for tool in load()]
            self.registry = ToolRegistry([*self.registry, *found])
        except (Exception, SystemExit) as error:
            self.left_out.append(LeftOut(origin, _in_words(error)))
        else:
            self._origins |= {tool.name: origin for tool in found}

    def origin_of(self, name: str) -> str | None:
        return self._origins.get(name)

    def risk_of(self, name: str, rated: str) -> str:
        """Where judgement begins: what a tool is rated, or what a call of it is at least."""
        tool = self.registry.find(name)
        if tool is None or tool.floor is None or tool.floor is tool.safety_level:
            return rated
        return f"{tool.floor.name} and up"

    def warn(self, where: str) -> None:
        """Log what is left out."""
        for one in self.left_out:
            log.warning("tools.left_out", where=where, origin=one.origin, reason=one.reason)


def load_toolbox(folder: Path | None = None) -> Toolbox:
    """Load Handrail's own tools, then those of packages, then those of files in the folder.

    A tool cannot replace one that was loaded before it.
    """
    toolbox = Toolbox()
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        toolbox.add(_origin_of(entry), lambda entry=entry: _tools_of(entry))
    try:
        files = [] if folder is None else list_tool_files(folder)
    except (SetupError, OSError) as error:
        toolbox.left_out.append(LeftOut(str(folder), _in_words(error)))
        return toolbox
    for path in files:
        toolbox.add(str(path), lambda path=path: load_tool_file(path))
    return toolbox


def _tools_of(entry: EntryPoint) -> list[AnyTool]:
    found = entry.load()
    if isinstance(found, Tool):
        return [found]
    if isinstance(found, type) and issubclass(found, Tool):
        return [found()]
    return registered_by(found, entry.value)


def _checked(tool: AnyTool) -> AnyTool:
    """The results of foreign tools are always scanned, so none may have a name that is exempt."""
    if not needs_injection_check(tool.name):
        raise SetupError(f"{tool.name!r} is a name reserved by Handrail; rename the tool")
    return tool


def _origin_of(entry: EntryPoint) -> str:
    package = "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    return f"{entry.name} of {package}"


def _in_words(error: BaseException) -> str:
    if isinstance(error, HandrailError):
        return error.message
    return " ".join(f"{type(error).__name__}: {error}".split())

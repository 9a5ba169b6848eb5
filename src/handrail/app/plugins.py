"""Tools from installed packages. Whatever is wrong with one, Handrail goes on without it."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import structlog

from handrail.core.errors import HandrailError, SetupError
from handrail.policy.injection.checked import needs_injection_check
from handrail.tools.base import AnyTool, Tool
from handrail.tools.catalogue import builtin_registry
from handrail.tools.registry import ToolRegistry

GROUP = "handrail.tools"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A plug-in that Handrail does without, and why."""

    package: str
    entry_point: str
    reason: str


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of this machine: ours, and those of the packages installed beside us."""

    registry: ToolRegistry
    left_out: tuple[LeftOut, ...] = ()

    def risk_of(self, name: str, rated: str) -> str:
        """Where judgement begins: what a tool is rated, or what a call of it is at least."""
        tool = self.registry.find(name)
        if tool is None or tool.floor is None or tool.floor is tool.safety_level:
            return rated
        return f"{tool.floor.name} and up"

    def warn(self, where: str) -> None:
        """Tell whoever runs Handrail here what is left out."""
        for one in self.left_out:
            log.warning(
                "plugin.left_out",
                where=where,
                package=one.package,
                entry_point=one.entry_point,
                reason=one.reason,
            )


def load_toolbox() -> Toolbox:
    """Load every plug-in. Ours are there before, so none of them can be replaced."""
    registry, left_out = builtin_registry(), list[LeftOut]()
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            # A plug-in comes in whole or not at all.
            registry = ToolRegistry([*registry, *map(_checked, _tools_of(entry))])
        except (Exception, SystemExit) as error:
            left_out.append(LeftOut(_package_of(entry), entry.name, _in_words(error)))
    return Toolbox(registry, tuple(left_out))


def _tools_of(entry: EntryPoint) -> list[AnyTool]:
    found = entry.load()
    if isinstance(found, Tool):
        return [found]
    if isinstance(found, type) and issubclass(found, Tool):
        return [found()]
    return _registered_by(entry.load(), entry.value)


def _checked(tool: AnyTool) -> AnyTool:
    """What others bring back is always looked at, so no name may promise otherwise."""
    if not needs_injection_check(tool.name):
        raise SetupError(f"{tool.name!r} is a name that Handrail keeps for itself; rename the tool")
    return tool


def _registered_by(register: Any, place: str) -> list[AnyTool]:
    if isinstance(register, type) or not callable(register):
        raise SetupError(f"{place} is no Tool and no function that registers one")
    own = ToolRegistry()
    register(own)
    if not len(own):
        raise SetupError(f"{place} has registered no tool")
    return list(own)


def _package_of(entry: EntryPoint) -> str:
    return "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _in_words(error: BaseException) -> str:
    if isinstance(error, HandrailError):
        return error.message
    return f"{type(error).__name__}: {error}"

"""Which toolchains this person has: only what is really there, and nothing is run to know it."""

import os
import re
from collections.abc import Iterator, Mapping

from handrail.executors.toolchains.kinds import KINDS
from handrail.executors.toolchains.toolchain import FOLDER, Toolchain, holds, toolchain_at

_VARIABLE = re.compile(r"\$([A-Z_]+)/")
_ENVIRONMENTS = (".venv", "venv", "env", ".virtualenv")
_MOST_BYTES = 10_000


def find_toolchains(environment: Mapping[str, str], workspace: str) -> list[Toolchain]:
    """What version managers and the like have put in place, and what the workspace's Python needs.

    Of its workspace's own words nothing is believed: what a virtual environment says it was made
    from has to be a Python in its own right.
    """
    found: dict[str, Toolchain] = {}
    for kind in KINDS:
        for place in kind.places:
            path = _expand(place, environment)
            if path is not None and os.path.isdir(path):
                toolchain = toolchain_at(path, kind.name)
                if toolchain.folders:
                    found.setdefault(os.path.realpath(path), toolchain)
                    break
    for prefix in _bases_of(workspace):
        known = [mount for toolchain in found.values() for mount in toolchain.mounts]
        if not holds(["/usr", *known], prefix):
            found[os.path.realpath(prefix)] = toolchain_at(prefix, FOLDER)
    return list(found.values())


def _expand(place: str, environment: Mapping[str, str]) -> str | None:
    variable = _VARIABLE.match(place)
    if variable is not None:
        value = environment.get(variable[1], "")
        place = os.path.join(value, place[variable.end() :])
        if not value:
            return None
    path = os.path.normpath(os.path.expanduser(place))
    return path if os.path.isabs(path) else None


def _bases_of(workspace: str) -> Iterator[str]:
    """The folders of the Pythons from which virtual environments of the workspace were made."""
    for name in _ENVIRONMENTS:
        settings = os.path.join(workspace, name, "pyvenv.cfg")
        home = _home_in(settings)
        if home is not None and os.path.basename(home) == "bin" and _is_python(home):
            yield os.path.dirname(os.path.realpath(home))


def _home_in(settings: str) -> str | None:
    try:
        if not os.path.isfile(settings):
            return None
        with open(settings, encoding="utf-8") as stream:
            lines = stream.read(_MOST_BYTES).splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    for line in lines:
        name, _, value = line.partition("=")
        if name.strip() == "home" and os.path.isabs(value.strip()):
            return value.strip()
    return None


def _is_python(folder: str) -> bool:
    """Whether a `bin` is that of a whole Python: the interpreter, and its library beside it."""
    library = os.path.join(os.path.dirname(os.path.realpath(folder)), "lib")
    try:
        versions = [name for name in os.listdir(library) if re.fullmatch(r"python3\.\d+", name)]
    except OSError:
        return False
    return any(
        os.path.isfile(os.path.join(folder, name))
        and os.path.isfile(os.path.join(library, name, "os.py"))
        for name in versions
    )

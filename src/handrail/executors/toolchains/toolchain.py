"""A toolchain: folders that boxes show read-only, and where in them its programs are."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from handrail.executors.toolchains.kinds import KINDS, Kind

FOLDER = "folder"
# A folder that somebody has named: its programs are in its `bin`, or in itself.
_ANY_FOLDER = Kind(FOLDER, (), ("bin", "."))
_BY_NAME = {kind.name: kind for kind in KINDS}
# Boxes show these already.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """`path` is what a person says yes or no to.

    Of it, boxes show the `mounts`. Programs are looked for in the `folders`, the first one first.
    """

    kind: str
    path: str
    mounts: tuple[str, ...]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Toolbelt:
    """The toolchains that boxes have, and where programs are looked for.

    A person who has installed and allowed one wants it, whatever the system has under its name.
    """

    toolchains: tuple[Toolchain, ...] = ()

    @property
    def mounts(self) -> list[str]:
        return list(dict.fromkeys(mount for one in self.toolchains for mount in one.mounts))

    def search_path(self, system: Sequence[str]) -> list[str]:
        folders = [folder for one in self.toolchains for folder in one.folders]
        return list(dict.fromkeys((*folders, *system)))


NO_TOOLCHAINS = Toolbelt()


def toolchain_at(path: str, kind_name: str) -> Toolchain:
    """What is there now: versions come and go. An unknown kind is just a folder."""
    kind = _BY_NAME.get(kind_name, _ANY_FOLDER)
    parts = [os.path.join(path, part) for part in kind.parts] or [path]
    mounts = [part for part in parts if os.path.isdir(part)]
    return Toolchain(kind.name, path, tuple(_both_names(mounts)), tuple(_folders(path, kind)))


def holds(folders: Sequence[str], path: str) -> bool:
    """Whether a path, wherever its links lead, ends in one of the folders."""
    true_path = os.path.realpath(path)
    return any(is_in(true_path, os.path.realpath(folder)) for folder in folders)


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def is_systems(path: str) -> bool:
    return holds(_SYSTEM, path)


def _both_names(mounts: Sequence[str]) -> Iterator[str]:
    """A folder by its true name and, where a link leads to it, by the name that others know."""
    for mount in mounts:
        true_name = os.path.realpath(mount)
        if not is_systems(true_name):
            yield from dict.fromkeys((true_name, mount))


def _folders(path: str, kind: Kind) -> Iterator[str]:
    """Folders with programs: what the person has made the default, then the newest first."""
    preferred = [*kind.preferred(path)]
    seen: set[str] = set()
    for pattern in kind.folders:
        found = sorted(_matching(path, pattern.split("/")), key=_newness, reverse=True)
        found.sort(key=lambda folder: not any(is_in(folder, first) for first in preferred))
        for folder in found:
            place = os.path.normpath(os.path.join(path, folder))
            if (true_place := os.path.realpath(place)) not in seen and _has_programs(place):
                seen.add(true_place)
                yield place
        if seen and kind is _ANY_FOLDER:
            return


def _matching(path: str, parts: list[str], found: str = "") -> Iterator[str]:
    """Folders below a path by a pattern in which `*` is any name, from there."""
    if not parts:
        yield found
        return
    names = _names_in(os.path.join(path, found)) if parts[0] == "*" else [parts[0]]
    for name in names:
        below = os.path.join(found, name)
        if os.path.isdir(os.path.join(path, below)):
            yield from _matching(path, parts[1:], below)


def _has_programs(folder: str) -> bool:
    paths = (os.path.join(folder, name) for name in _names_in(folder))
    return any(os.path.isfile(path) and os.access(path, os.X_OK) for path in paths)


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _newness(folder: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", folder)]

"""What git may change of its own repository, and what it is kept from while it runs.

Hooks and settings name programs that run outside of any box, the next time somebody uses git. git
writes through links, and whoever may change a workspace can put one there. So all that names
programs, or leads to what does, is held in place for git as for everybody else; but for what the
words of a command need.
"""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from handrail.executors.repository.places import GIT, folders_of, is_among, place_of

# git takes programs, attributes and addresses from these.
_FOLDERS = ("hooks", "info")
_OLD_FOLDERS = ("branches", "remotes")
SETTINGS = ("config", "config.worktree")
# What leads to the settings of another repository.
COMMON = "commondir"
MODULES = "modules"
TREES = "worktrees"
_MOST_MODULES = 1_000


class Leave(NamedTuple):
    """What git is left to change, of the `repository` that it is about.

    Besides: its `settings`, the `pointers` by which folders belong to it, and what it keeps of its
    `modules` and of its `trees`.
    """

    repository: bool = True
    settings: bool = False
    pointers: bool = False
    modules: bool = False
    trees: bool = False


ORDINARY = Leave()


class Held(NamedTuple):
    """What git may not change: what is there, and folders that are not, and shall not come."""

    frozen: tuple[str, ...]
    missing: tuple[str, ...]


def held_from_git(root: str, folder: str, gits: Iterable[str], leave: Leave) -> Held:
    """What to hold in place of git's own for a command in a folder; paths lead from the root."""
    frozen: list[str] = []
    missing: list[str] = []
    here = [*folders_of(f"{place_of(root, folder)}/{GIT}")]
    for path in gits:
        place = os.path.join(root, path)
        if os.path.islink(place):
            continue
        if os.path.isfile(place) and not leave.pointers:
            frozen.append(place)
        if os.path.isdir(place):
            is_here = any(is_among(one, [f"{place}/{MODULES}"]) for one in here)
            opened = leave._replace(modules=leave.modules or is_here)
            for name, is_needed in _held_in(place, opened):
                if os.path.islink(name):
                    continue
                if os.path.lexists(name):
                    frozen.append(name)
                elif is_needed:
                    missing.append(name)
    return Held(
        tuple(os.path.relpath(one, root) for one in dict.fromkeys(frozen)),
        tuple(os.path.relpath(one, root) for one in dict.fromkeys(missing)),
    )


def _held_in(place: str, leave: Leave) -> Iterator[tuple[str, bool]]:
    """Names inside a repository, and whether they must be covered even where nothing is."""
    for inside in (place, *(modules_of(place) if leave.modules else ())):
        yield from ((f"{inside}/{name}", True) for name in _FOLDERS)
        yield from ((f"{inside}/{name}", False) for name in (*_OLD_FOLDERS, COMMON))
        if not leave.settings:
            yield from ((f"{inside}/{name}", False) for name in SETTINGS)
    if not leave.modules:
        yield f"{place}/{MODULES}", True
    if not leave.trees:
        for tree in trees_of(place):
            yield from ((f"{tree}/{name}", False) for name in (*SETTINGS, COMMON))


def modules_of(place: str) -> list[str]:
    """The insides of the repositories within one, that are kept in it; also of those in turn."""
    found: list[str] = []
    todo = [f"{place}/{MODULES}"]
    while todo and len(found) < _MOST_MODULES:
        for name in _folders_in(todo.pop()):
            is_inside = any(os.path.lexists(f"{name}/{mark}") for mark in ("HEAD", *SETTINGS))
            found += [name] if is_inside else []
            todo.append(f"{name}/{MODULES}" if is_inside else name)
    return sorted(found)


def trees_of(place: str) -> list[str]:
    """What a repository keeps of its further worktrees."""
    return sorted(_folders_in(f"{place}/{TREES}"))


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []

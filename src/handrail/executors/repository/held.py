"""What of a repository is held in place where nothing can check what a command changes in it.

Hooks, settings and attributes name programs that run outside of any box, the next time a person
uses git. What leads to other settings is held too.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from handrail.executors.repository.places import SETTINGS

_FOLDERS = ("hooks", "info")
# By this a repository takes its settings from another folder; git writes it for worktrees only.
_COMMON = "commondir"
_FILES = (*SETTINGS, _COMMON, "branches", "remotes")
# git makes none of these without settings that are held.
_PLANTED = ("config.worktree", "branches", "remotes", _COMMON)
_MODULES, _WORKTREES = "modules", "worktrees"
_MOST_FOLDERS = 1_000


class Held(NamedTuple):
    """What of the `gits` may not be changed, and folders that are not there and may not be made."""

    gits: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def held_in(paths: Iterable[str]) -> Held:
    """What to hold of the repositories at these paths; a file there leads to a repository."""
    gits = [path for path in paths if os.path.isdir(path)]
    frozen = [path for path in paths if not os.path.isdir(path)]
    missing: list[str] = []
    for folder in (folder for git in gits for folder in _folders_of(git)):
        frozen += filter(os.path.lexists, (f"{folder}/{name}" for name in (*_FOLDERS, *_FILES)))
        absent = (*_FOLDERS, _MODULES) if folder in gits else _FOLDERS
        missing += (path for name in absent if not os.path.lexists(path := f"{folder}/{name}"))
    return Held(tuple(gits), tuple(frozen), tuple(missing))


def remove_planted(gits: Iterable[str], held: Iterable[str]) -> list[str]:
    """Remove what leads a repository to other settings, if it is not among what was `held`."""
    known = {*held}
    planted = [
        path
        for git in gits
        for folder in _folders_of(git)
        for name in _PLANTED
        if name != _COMMON or f"/{_WORKTREES}/" not in folder
        if os.path.lexists(path := f"{folder}/{name}") and path not in known
    ]
    for path in planted:
        with suppress(OSError):
            os.unlink(path)
    return planted


def _folders_of(git: str) -> Iterator[str]:
    """A repository, and those of its submodules and worktrees that are kept in it."""
    yield git
    todo = [f"{git}/{_MODULES}", f"{git}/{_WORKTREES}"]
    count = 0
    while todo and count < _MOST_FOLDERS:
        for folder in _folders_in(todo.pop()):
            count += 1
            if os.path.lexists(f"{folder}/HEAD"):
                yield folder
                todo += [f"{folder}/{_MODULES}", f"{folder}/{_WORKTREES}"]
            else:
                # A submodule may be named `a/b`.
                todo.append(folder)


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []

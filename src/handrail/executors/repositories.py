"""The repositories of a workspace: where they are, and where they keep their settings."""

import os
from collections.abc import Iterator

from handrail.core.errors import CommandExecutionError
from handrail.executors.sandbox.bubblewrap import View, is_gits

_GIT = ".git"
_SETTINGS = ("config", "config.worktree")
_MOST_POINTER_BYTES = 1 << 20


def settings_files(view: View) -> list[str]:
    """Every file of settings that a git in this workspace could come to read, of any repository.

    `view` is the workspace as it is shown to all but git, with everything of git's covered.
    """
    found = [path for path in view.hidden_files if is_gits(path)]
    for place in view.frozen:
        # What lies elsewhere is in no box.
        for folder in (one for one in _folders_of(place) if _is_in(view.root, one)):
            found += filter(os.path.isfile, (f"{folder}/{name}" for name in _SETTINGS))
    return list(dict.fromkeys(found))


def check_place(root: str, folder: str) -> None:
    """Refuse a repository that lies outside the workspace, whoever has pointed there.

    Raises:
        CommandExecutionError: The folder belongs to one.
    """
    place = os.path.normpath(os.path.join(root, folder))
    while not os.path.lexists(f"{place}/{_GIT}") and place.startswith(f"{root}/"):
        place = os.path.dirname(place)
    for own in _folders_of(f"{place}/{_GIT}"):
        if not _is_in(root, own):
            raise CommandExecutionError(
                f"{os.path.relpath(place, root)} belongs to a repository outside the workspace,"
                f" {own}, and git may not leave the workspace; make the folder of that repository"
                " the workspace, or work in a clone of it"
            )


def _folders_of(place: str) -> Iterator[str]:
    """The folders a repository consists of: its own, and the one it shares with its worktrees."""
    own = os.path.realpath(place) if os.path.isdir(place) else _pointed_at(place, "gitdir: ")
    if own is not None:
        yield own
        if (shared := _pointed_at(f"{own}/commondir")) is not None:
            yield shared


def _is_in(root: str, folder: str) -> bool:
    return folder == root or folder.startswith(f"{root}/")


def _pointed_at(file: str, prefix: str = "") -> str | None:
    """The folder that is named in a file, from where that file is."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            written = os.fsdecode(os.read(fd, _MOST_POINTER_BYTES))
        finally:
            os.close(fd)
    except OSError:
        return None
    # As git reads it: to a zero byte, behind which nothing counts.
    words = written.rstrip("\r\n").partition("\0")[0]
    if not words.startswith(prefix):
        return None
    return os.path.realpath(os.path.join(os.path.dirname(file), words.removeprefix(prefix)))

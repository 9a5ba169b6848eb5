"""Where the repositories of a workspace keep their settings."""

import os
from collections.abc import Iterator

from handrail.executors.sandbox.bubblewrap import View, is_gits

_SETTINGS = ("config", "config.worktree")
_MOST_POINTER_BYTES = 4_096


def settings_files(view: View) -> list[str]:
    """Every file of settings that a git in this workspace could come to read, of any repository.

    `view` is the workspace as it is shown to all but git, with everything of git's covered.
    """
    found = [path for path in view.hidden_files if is_gits(path)]
    for place in view.frozen:
        for folder in _folders_of(place, view.root):
            found += filter(os.path.isfile, (f"{folder}/{name}" for name in _SETTINGS))
    return list(dict.fromkeys(found))


def _folders_of(place: str, root: str) -> Iterator[str]:
    """The folders a repository consists of: its own, and the one it shares with its worktrees."""
    own = place if os.path.isdir(place) else _pointed_at(place, "gitdir: ")
    for folder in (own, _pointed_at(f"{own}/commondir") if own else None):
        # What lies elsewhere is in no box.
        if folder is not None and folder.startswith(f"{root}/"):
            yield folder


def _pointed_at(file: str, prefix: str = "") -> str | None:
    """The folder that is named in a file, from where that file is."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            words = os.fsdecode(os.read(fd, _MOST_POINTER_BYTES)).rstrip("\r\n")
        finally:
            os.close(fd)
    except OSError:
        return None
    if not words.startswith(prefix):
        return None
    return os.path.realpath(os.path.join(os.path.dirname(file), words.removeprefix(prefix)))

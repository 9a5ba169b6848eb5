"""The repositories of a workspace: where they are, and where they keep their settings."""

import os
from collections.abc import Iterable, Iterator

from handrail.core.errors import CommandExecutionError

GIT = ".git"
SETTINGS = ("config", "config.worktree")
_MOST_POINTER_BYTES = 1 << 20
# By these git itself knows the inside of a repository, whatever its name.
MARKS = frozenset({"HEAD", "objects", "refs"})


def stores_of(root: str, gits: Iterable[str]) -> Iterator[str]:
    """Where else these `.git` are kept, as their files say: folders of the workspace like them."""
    for path in gits:
        for folder in folders_of(os.path.join(root, path)):
            way = os.path.relpath(folder, root)
            if folder != root and _is_in(root, folder) and GIT not in way.split("/"):
                yield way


def as_inside_git(root: str, path: str) -> str:
    """A path below the root; from the inside of a repository on, as if that were named `.git`."""
    parts = path.split("/")
    for count in range(len(parts) if GIT not in parts else 0):
        folder = os.path.join(root, *parts[:count])
        if os.path.lexists(f"{folder}/HEAD") and _is_store(folder):
            return "/".join((*parts[:count], GIT, *parts[count:]))
    return path


def check_place(root: str, folder: str) -> None:
    """Refuse a repository that lies outside the workspace, whoever has pointed there.

    Raises:
        CommandExecutionError: The folder belongs to one.
    """
    place = place_of(root, folder)
    for own in folders_of(f"{place}/{GIT}"):
        if not _is_in(root, own):
            raise CommandExecutionError(
                f"{os.path.relpath(place, root)} belongs to a repository outside the workspace,"
                f" {own}, and git may not leave the workspace; make the folder of that repository"
                " the workspace, or work in a clone of it"
            )


def place_of(root: str, folder: str) -> str:
    """The nearest folder above with a repository, as git looks for it; else the root itself."""
    place = os.path.realpath(os.path.join(root, folder))
    while not os.path.lexists(f"{place}/{GIT}") and place.startswith(f"{root}/"):
        place = os.path.dirname(place)
    return place if _is_in(root, place) else root


def _is_store(folder: str) -> bool:
    """Whether it has all that git looks for, or what leads there."""
    shares = os.path.lexists(f"{folder}/commondir")
    return shares or all(os.path.lexists(f"{folder}/{name}") for name in MARKS)


def folders_of(place: str) -> Iterator[str]:
    """The folders a repository consists of: its own, and the one it shares with its worktrees."""
    own = os.path.realpath(place) if os.path.isdir(place) else pointed_at(place, "gitdir: ")
    if own is not None:
        yield own
        if (shared := pointed_at(f"{own}/commondir")) is not None:
            yield shared


def _is_in(root: str, folder: str) -> bool:
    return folder == root or folder.startswith(f"{root}/")


def pointed_at(file: str, prefix: str = "") -> str | None:
    """The folder that is named in a file, from where that file is."""
    way = way_in(file, prefix)
    return None if way is None else os.path.realpath(way)


def way_in(file: str, prefix: str = "") -> str | None:
    """The way to a folder as a file names it, whatever links it leads through."""
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
    return os.path.join(os.path.dirname(file), words.removeprefix(prefix))

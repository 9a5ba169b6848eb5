"""The repositories of a workspace: where they are, and where they keep their settings."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from handrail.core.errors import CommandExecutionError

GIT = ".git"
_SETTINGS = ("config", "config.worktree")
_MOST_POINTER_BYTES = 1 << 20
# By these git itself knows the inside of a repository, whatever its name.
MARKS = frozenset({"HEAD", "objects", "refs"})


def own_of_git(root: str, folder: str, found: Iterable[str]) -> tuple[str, ...]:
    """What git may see and change when it runs in a folder, of those `.git` that were `found`.

    Paths lead from the root. It is the repository that the folder belongs to, with what points
    there. Whoever may write can plant another one further down, whose settings name programs, and
    have it looked into as a part of the first: that one is not git's own.
    """
    place = place_of(root, folder)
    named = os.path.relpath(f"{place}/{GIT}", root)
    own = _kept_in(root, named)
    pointing = [path for path in found if _kept_in(root, path) <= own]
    return tuple(dict.fromkeys((*own, *pointing, named)))


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


def is_among(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


class BoxView(Protocol):
    """What a box shows of a workspace, as paths; see `sandbox.bubblewrap.View`."""

    @property
    def root(self) -> str: ...
    @property
    def gits(self) -> Sequence[str]: ...
    @property
    def frozen(self) -> Sequence[str]: ...
    @property
    def settings(self) -> Sequence[str]: ...
    @property
    def hidden_files(self) -> Sequence[str]: ...


def settings_files(view: BoxView) -> list[str]:
    """Every file of settings that git could come to read in a box with this view."""
    found = [*view.settings]
    # What of git's own is frozen lies in it.
    others = (path for path in view.frozen if not is_among(path, view.gits))
    for place in (*view.gits, *others):
        # What lies elsewhere is in no box.
        for folder in (one for one in folders_of(place) if _is_in(view.root, one)):
            found += filter(os.path.isfile, (f"{folder}/{name}" for name in _SETTINGS))
    return [path for path in dict.fromkeys(found) if path not in view.hidden_files]


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


def _kept_in(root: str, path: str) -> set[str]:
    """Which `.git` a repository consists of: itself, or the folders to which a file points."""
    ways = [
        os.path.relpath(one, root).split("/")
        for one in folders_of(os.path.join(root, path))
        if _is_in(root, one)
    ]
    return {"/".join(way[: way.index(GIT) + 1] if GIT in way else way) for way in ways} or {path}


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

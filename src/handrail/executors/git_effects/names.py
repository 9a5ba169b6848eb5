"""The files that git is known to write in its folders. All other names are refused.

A list of what is dangerous would never end; git adds to it with each version.
"""

import re
from enum import Enum, auto
from typing import NamedTuple


class FileKind(Enum):
    """The purpose of a file below `.git`."""

    OBJECT = auto()
    # Made from objects and refs, and made again by git when it is missing.
    DERIVED = auto()
    REF = auto()
    HEAD = auto()
    INDEX = auto()
    LOG = auto()
    SETTINGS = auto()
    # Which files are ignored, or left out of the folder.
    EXCLUDES = auto()
    SHALLOW = auto()
    # Of a merge, rebase or bisect under way.
    STATE = auto()
    # Solutions of conflicts, which later merges reuse.
    SOLUTIONS = auto()
    LOCK = auto()
    POINTER = auto()
    # Messages and times that nothing is decided by.
    NOISE = auto()


_OBJECTS = r"[0-9a-f]{2}/[0-9a-f]{38}(?:[0-9a-f]{24})?"
_PACKS = r"pack/pack-[0-9a-f]+\.(?:pack|idx|rev|keep|promisor)"
_STATE = (
    r"(?:MERGE_(?:HEAD|MSG|MODE|AUTOSTASH)|SQUASH_MSG|CHERRY_PICK_HEAD|REVERT_HEAD"
    r"|REBASE_HEAD|BISECT_\w+|NOTES_MERGE_\w+(?:/.*)?|(?:rebase-merge|rebase-apply|sequencer)/.*)"
)
# Of the repository itself, of a submodule, and of a further worktree.
_ANYWHERE: tuple[tuple[str, FileKind], ...] = (
    (r"(?:.*/)?[^/]+\.lock", FileKind.LOCK),
    (r"HEAD", FileKind.HEAD),
    (r"index|sharedindex\.[0-9a-f]+", FileKind.INDEX),
    (r"config\.worktree", FileKind.SETTINGS),
    (r"info/sparse-checkout", FileKind.EXCLUDES),
    (r"logs/(?:HEAD|refs/.+)", FileKind.LOG),
    (r"refs/.+", FileKind.REF),
    (_STATE, FileKind.STATE),
    (r"ORIG_HEAD|FETCH_HEAD|AUTO_MERGE|(?:COMMIT|TAG|NOTES)_EDITMSG|MERGE_RR", FileKind.NOISE),
    (r"gc\.(?:log|pid)|description|hooks/[^/]+\.sample", FileKind.NOISE),
)
_REPOSITORY: tuple[tuple[str, FileKind], ...] = (
    (rf"objects/(?:{_OBJECTS}|{_PACKS})", FileKind.OBJECT),
    (r"objects/(?:info/(?:packs|commit-graphs?(?:/.*)?)|pack/multi-pack-index)", FileKind.DERIVED),
    (r"objects/pack/pack-[0-9a-f]+\.(?:bitmap|mtimes)|info/refs", FileKind.DERIVED),
    (r"packed-refs", FileKind.REF),
    (r"config", FileKind.SETTINGS),
    (r"info/exclude", FileKind.EXCLUDES),
    (r"shallow", FileKind.SHALLOW),
    (r"rr-cache/.+", FileKind.SOLUTIONS),
)
_WORKTREE: tuple[tuple[str, FileKind], ...] = ((r"commondir|gitdir|locked", FileKind.POINTER),)
_FOLDERS = re.compile(
    r"objects(?:/(?:[0-9a-f]{2}|pack|info|info/commit-graphs))?|(?:logs/)?refs(?:/.+)?|logs|info"
    r"|hooks|branches|worktrees|modules(?:/.+)?|rr-cache(?:/.+)?"
    r"|rebase-merge(?:/.+)?|rebase-apply(?:/.+)?|sequencer|NOTES_MERGE_WORKTREE(?:/.+)?"
)
_TREE = re.compile(r"worktrees/(?P<tree>[^/]+)(?:/(?P<name>.+))?")


class Place(NamedTuple):
    """A file of a worktree's own folder (`worktrees/x`), or of the repository where that is empty.

    `name` is empty for the folder itself.
    """

    tree: str
    name: str


def inside(git: str, path: str) -> str:
    """A path relative to the repository `git`; empty for the repository itself."""
    return path[len(git) + 1 :]


def place_of(git: str, path: str) -> Place:
    """The place of a path in the repository `git`."""
    name = inside(git, path)
    if found := _TREE.fullmatch(name):
        return Place(f"worktrees/{found['tree']}", found["name"] or "")
    return Place("", name)


def kind_of(place: Place) -> FileKind | None:
    """The kind of a file; None if git is not known to write one of this name."""
    rows = (*_ANYWHERE, *(_WORKTREE if place.tree else _REPOSITORY))
    return next((kind for words, kind in rows if re.fullmatch(words, place.name)), None)


def is_folder_of_git(place: Place) -> bool:
    return not place.name or _FOLDERS.fullmatch(place.name) is not None

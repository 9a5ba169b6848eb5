"""The changes that a rehearsed command would make to the workspace, as values.

A path has a node before and a node after; where both are equal there is no effect. The digest over
all effects binds an approval to exactly these bytes.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any

from handrail.core.audit import canonical
from handrail.core.files import EntryKind

_EXECUTABLE = 0o111
# Set-user-ID, set-group-ID and the sticky bit.
_SPECIAL_BITS = 0o7000


@dataclass(frozen=True, slots=True)
class Node:
    """A file, folder, link or special file at one moment.

    `sha256` is of a file's content or of a link's target, `xattrs` a digest of the user's extended
    attributes and the access lists, empty without any. A file that `is_text` is small plain text.
    Two nodes that differ only in their time are equal.
    """

    kind: EntryKind
    mode: int = 0
    size: int = 0
    sha256: str = ""
    xattrs: str = ""
    target: str = ""
    modified_ns: int = field(default=0, compare=False)
    is_text: bool = field(default=False, compare=False)

    @property
    def is_executable(self) -> bool:
        return self.kind is EntryKind.FILE and bool(self.mode & _EXECUTABLE)

    @property
    def has_special_bits(self) -> bool:
        return self.kind is EntryKind.FILE and bool(self.mode & _SPECIAL_BITS)

    def has_content_of(self, other: "Node") -> bool:
        return (self.kind, self.size, self.sha256) == (other.kind, other.size, other.sha256)

    def as_json(self) -> list[Any]:
        return [
            str(self.kind), self.mode, self.size, self.sha256, self.xattrs, self.target,
            self.modified_ns, self.is_text,
        ]  # fmt: skip

    @classmethod
    def from_json(cls, told: list[Any]) -> "Node":
        kind, *others = told
        return cls(EntryKind(kind), *others)


class EffectKind(StrEnum):
    """How a path changes. A renamed file is stored as one deleted and one added."""

    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    MODE = "mode"
    RENAMED = "renamed"
    LINKED = "linked"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class Effect:
    """One path and its two nodes; None where there is nothing. At least one of them is there."""

    path: str
    before: Node | None = None
    after: Node | None = None

    @property
    def kind(self) -> EffectKind:
        """MODE covers permission bits and extended attributes: all but the content."""
        before, after = self.before, self.after
        if after is None:
            return EffectKind.DELETED
        if after.kind is EntryKind.OTHER:
            return EffectKind.SPECIAL
        if after.kind is EntryKind.LINK:
            return EffectKind.LINKED
        if before is None:
            return EffectKind.ADDED
        return EffectKind.MODE if after.has_content_of(before) else EffectKind.CHANGED

    @property
    def is_of_folder(self) -> bool:
        """True if a folder stays and only its attributes change."""
        return all(node and node.kind is EntryKind.DIRECTORY for node in (self.before, self.after))

    @property
    def makes_executable(self) -> bool:
        after, before = self.after, self.before
        return after is not None and after.is_executable and not (before and before.is_executable)

    @property
    def loses_content(self) -> bool:
        """True if the content of an existing file or link is deleted or overwritten."""
        before, after = self.before, self.after
        if before is None or before.kind is EntryKind.DIRECTORY:
            return False
        return after is None or not after.has_content_of(before)

    def as_json(self) -> list[Any]:
        nodes = (node and node.as_json() for node in (self.before, self.after))
        return [self.path, *nodes]

    def as_bound(self) -> list[Any]:
        """The part that an approval binds: all but the times.

        A file that is saved again with the same bytes is still the one that was shown, and so is
        the one that a second rehearsal of the same command makes.
        """
        before, after = (
            node and replace(node, modified_ns=0) for node in (self.before, self.after)
        )
        return Effect(self.path, before, after).as_json()

    @classmethod
    def from_json(cls, told: list[Any]) -> "Effect":
        path, *nodes = told
        before, after = (node and Node.from_json(node) for node in nodes)
        return cls(path, before, after)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A scratch folder or file that is never applied, and the number of its files."""

    path: str
    files: int = 1


class GitWeight(IntEnum):
    """How much a note about git matters, the most first.

    REFUSED is never applied. LOSS is history or content that would be lost. SETTING changes how git
    works here. CHANGE is all else.
    """

    REFUSED = 0
    LOSS = 1
    SETTING = 2
    CHANGE = 3


@dataclass(frozen=True, slots=True)
class GitNote:
    """One change of git's data, as a line for the person who decides."""

    weight: GitWeight
    words: str


@dataclass(frozen=True, slots=True)
class GitEffects:
    """The effects below `.git` folders: `notes` in words, `changes` by path.

    `as_git` are files of the workspace that become what git has of them, and `known` those of them
    whose content some commit had there before. `conflicts` are files that git has left to be
    merged, and of which it has the old content. The `repositories` are there before and after:
    objects are added to them and never removed. If git `has_new_contents`, it stores some that no
    file had before.
    """

    notes: tuple[GitNote, ...] = ()
    changes: tuple[Effect, ...] = ()
    as_git: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    conflicts: frozenset[str] = frozenset()
    repositories: tuple[str, ...] = ()
    has_new_contents: bool = False

    @property
    def is_ordinary(self) -> bool:
        """True if nothing is refused or lost, no setting changes, and no content is new."""
        return not self.has_new_contents and all(
            note.weight is GitWeight.CHANGE for note in self.notes
        )

    def as_bound(self) -> list[Any]:
        """The part that an approval binds."""
        return [
            [[int(note.weight), note.words] for note in self.notes],
            [change.as_bound() for change in self.changes],
            *map(sorted, (self.as_git, self.known, self.repositories)),
        ]


_NO_GIT = GitEffects()


@dataclass(frozen=True, slots=True)
class Effects:
    """All that a command would change, by path; `git` has what lies below `.git` folders.

    `dropped` is scratch; `hidden` are paths that the command could not see. With `refusals` none
    of it can ever be applied. `stale` paths were changed by others during the rehearsal.
    """

    changes: tuple[Effect, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    hidden: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    git: GitEffects = _NO_GIT

    @property
    def is_empty(self) -> bool:
        """True if nothing would change."""
        return not (self.changes or self.git.changes)

    @property
    def digest(self) -> str:
        """A hash over every path, kind, mode, content and version before."""
        told = [
            [change.as_bound() for change in self.changes],
            [[one.path, one.files] for one in self.dropped],
            *map(list, (self.hidden, self.refusals, self.stale)),
            self.git.as_bound(),
        ]
        return hashlib.sha256(canonical(told).encode()).hexdigest()

    @property
    def renames(self) -> Mapping[str, str]:
        """The old path of each file that was renamed, by its new path."""
        return find_renames(self.changes)

    def choose(self, paths: Sequence[str]) -> "Effects":
        """The changes of some files, and of all below some folders, without those of git.

        A renamed file comes with its old path, and a new one with the folders that it needs.
        """
        chosen = {change.path for change in self.changes if _is_within(change.path, paths)}
        chosen |= {old for new, old in self.renames.items() if new in chosen}
        needed = {parent for path in chosen for parent in _parents(path)}
        changes = tuple(
            change
            for change in self.changes
            if change.path in chosen or (change.path in needed and change.after is not None)
        )
        # Without git's words each change has to be shown, so none counts as known to git.
        return replace(self, changes=changes, git=_NO_GIT)


def _is_within(path: str, folders: Sequence[str]) -> bool:
    return any(path == one or path.startswith(f"{one}/") for one in folders)


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def find_renames(changes: Iterable[Effect]) -> dict[str, str]:
    """Pair each added file with a deleted one of the same content, that of the same name first.

    Many files are empty, so an empty one is paired only with one of its own name.
    """
    gone: dict[str, Node] = {}
    come: dict[str, Node] = {}
    for change in changes:
        before, after = change.before, change.after
        if before and not after and before.kind is EntryKind.FILE:
            gone[change.path] = before
        elif after and not before and after.kind is EntryKind.FILE:
            come[change.path] = after
    found = _pair(come, gone, lambda path, node: (node.sha256, node.size, _name(path)))
    for new, old in found.items():
        del come[new], gone[old]
    come = {path: node for path, node in come.items() if node.size}
    return found | _pair(come, gone, lambda _, node: (node.sha256, node.size))


def _pair(
    come: Mapping[str, Node], gone: Mapping[str, Node], key: Callable[[str, Node], Hashable]
) -> dict[str, str]:
    """Each new path with an old one of the same key, as far as there are some."""
    left: defaultdict[Hashable, list[str]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        left[key(path, gone[path])].append(path)
    return {
        path: left[key(path, node)].pop() for path, node in come.items() if left[key(path, node)]
    }


def _name(path: str) -> str:
    return path.rpartition("/")[2]

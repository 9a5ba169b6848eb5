"""The files of a worktree that a command changed, compared with what git has of them."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from handrail.core.effects import Effect, GitNote
from handrail.core.files import EntryKind
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.index import EMPTY, PROGRAM, Index, Placed, Staged
from handrail.executors.git_effects.notes import change, count, loss, some
from handrail.executors.git_effects.trees import Side, Tree, UnreadableError

# Older history than this is taken for lost.
_MOST_COMMITS = 20_000
_LOOK_UP = (
    *("--literal-pathspecs", "rev-list", "--objects", "--full-history", "--ignore-missing"),
    *(f"--max-count={_MOST_COMMITS}", "--stdin"),
)
_EXISTING = ("cat-file", "--batch-check=%(objectname)")
_NOTHING = ("version",)
_MOST_COMPARED = 200
_MOST_FILE_BYTES = 64 << 20
_MOST_LOOKED_AT = 5_000

# The contents of a file before and after; None where there is none, or too much of it.
ReadBoth = Callable[[Effect], tuple[bytes | None, bytes | None]]
# The blob that the workspace has at a path after the command; empty where there is no file.
BlobAt = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class FilesAfter:
    """The files of the workspace after the command."""

    tree: Tree
    object_format: str

    def blob_at(self, path: str) -> str:
        try:
            content = self.tree.read(path, _MOST_FILE_BYTES)
        except UnreadableError:
            return ""
        return "" if content is None else blob_of(content, self.object_format)


@dataclass(slots=True)
class WorktreeFiles:
    """The `changes` of files in one worktree, whose paths begin with `prefix`."""

    prefix: str
    changes: Sequence[Effect]
    read: ReadBoth
    object_format: str
    old: dict[str, str] = field(default_factory=dict[str, str])
    new: dict[str, str] = field(default_factory=dict[str, str])
    as_git: set[str] = field(default_factory=set[str])
    known: set[str] = field(default_factory=set[str])
    conflicts: set[str] = field(default_factory=set[str])

    def hash_contents(self) -> None:
        """Find the names that git would give to the contents; reads every changed file."""
        for one in self.changes:
            before, after = self.read(one)
            if before is not None:
                self.old[one.path] = blob_of(before, self.object_format)
            if after is not None:
                self.new[one.path] = blob_of(after, self.object_format)

    @property
    def new_names(self) -> list[str]:
        """The paths that have new contents, as git has them."""
        return [path.removeprefix(self.prefix) for path in self.new]

    def look_up(self, tips: Iterable[str], contents: Mapping[str, str]) -> Query:
        """Ask which contents these commits, and those before them, have at the changed paths.

        That an object exists says little: nothing may name it, and git will remove it.
        """
        names = [path.removeprefix(self.prefix) for path in contents]
        rows = [*sorted(tips), "--", *(name for name in names if "\n" not in name)]
        return Query(_LOOK_UP if names else _NOTHING, input_of(rows))

    def look_up_merged(self) -> Query:
        """Ask which of the old contents exist; git stores files with marks of conflicts."""
        return Query(_EXISTING, input_of(self.old.values()))

    def compare(
        self,
        before: Index,
        after: Index,
        *,
        known: Collection[Placed],
        stored_after: bytes | None,
        merged: bytes | None,
        unstaged: Collection[Placed],
    ) -> Iterator[GitNote]:
        """Sort the files, and tell about them.

        Commits had the contents `known` there before; the answers say what they have afterwards.
        The index has lost the contents `unstaged`.
        """
        written = {*(merged or b"").decode().split("\n")}
        kept = {blob for _, blob in stored_in(stored_after)}
        kept.update(self.new.values())
        lost: list[str] = []
        told: list[str] = []
        for one in self.changes:
            name = one.path.removeprefix(self.prefix)
            if name in before.conflicts:
                kept |= written & {self.old.get(one.path, "")}
            # Under another name a content leaves the index without a word.
            staged = {after.entries[name].blob} if name in after.entries else set[str]()
            is_kept = self.old.get(one.path) in kept | staged
            is_as_git = self._is_as_git(one, name, after, is_kept=is_kept)
            is_replaced = is_as_git or one.after is None
            if is_replaced and one.loses_content and not is_kept:
                lost.append(one.path)
            if name in after.conflicts and is_kept:
                self.conflicts.add(one.path)
            if is_as_git:
                self.as_git.add(one.path)
                is_without_content = one.after is None or _is_folder(one)
                place = Placed(name, after.mode_of(name), self.new.get(one.path, ""))
                is_known = (place in known or before.has(place)) and not one.makes_executable
                if is_without_content or is_known:
                    self.known.add(one.path)
                if not _is_folder(one):
                    told.append(f"{one.path} ({one.kind})")
        told_lost = {self.old.get(path) for path in lost}
        lost += [
            f"{self.prefix}{one.name} as it is staged"
            for one in unstaged
            if one.blob not in told_lost
        ]
        if lost:
            number = count(len(lost), "file")
            yield loss(f"the content of {number} is kept nowhere and would be lost: {some(lost)}")
        if told:
            verb = "becomes" if len(told) == 1 else "become"
            number = count(len(told), "file")
            yield change(f"{number} in the folder {verb} as git has it: {some(told)}")

    def had_before(self, blobs: set[str], after: Index, blob_at: BlobAt) -> set[str]:
        """Those of the blobs that were the content of a file before the command."""
        found = blobs.intersection(self.old.values())
        changed = {one.path for one in self.changes}
        # What was added is found at once. A stash that was taken back may be of any tracked file.
        names = sorted(after.entries, key=lambda name: after.entries[name].blob not in blobs)
        for name in names[:_MOST_LOOKED_AT]:
            if found == blobs:
                break
            if self.prefix + name not in changed:
                found |= blobs & {blob_at(self.prefix + name)}
        return found

    def tell_unstaged(self, before: Index, after: Index, blob_at: BlobAt) -> Iterator[GitNote]:
        """Files that stay as they are while the index goes back: their changes are unstaged."""
        changed = {one.path for one in self.changes}
        moved = [
            name
            for name in sorted({*before.entries, *after.entries})
            if before.entries.get(name) != after.entries.get(name)
            and self.prefix + name not in changed
            and name not in after.conflicts
        ][:_MOST_COMPARED]
        left = [
            name
            for name in moved
            if (blob := blob_at(self.prefix + name))
            and (name not in after.entries or after.entries[name].blob != blob)
            and name in before.entries
        ]
        if left:
            yield change(f"changes that are kept in the folder, not staged: {some(left)}")

    def _is_as_git(self, one: Effect, name: str, after: Index, *, is_kept: bool) -> bool:
        """True if a file gets the content of the index, or goes and git keeps its content."""
        if _is_folder(one):
            return one.before is None or one.after is None
        entry = after.entries.get(name)
        if one.after is None:
            is_left_out = entry is None or entry.is_overlooked
            return is_left_out and is_kept
        is_program = entry is not None and entry.mode == PROGRAM
        return (
            entry is not None
            and entry.blob == self.new.get(one.path)
            and is_program is one.after.is_executable
        )


def blob_of(content: bytes, object_format: str) -> str:
    return hashlib.new(object_format, b"blob %d\0" % len(content) + content).hexdigest()


def _is_folder(one: Effect) -> bool:
    node = one.after or one.before
    return node is not None and node.kind is EntryKind.DIRECTORY


def stored_in(answer: bytes | None) -> Iterator[tuple[str, str]]:
    """Paths and the objects there."""
    if answer is None:
        raise UnreadableError("git cannot look up the contents of files")
    for row in answer.decode(errors="surrogateescape").split("\n"):
        name, _, path = row.partition(" ")
        if path:
            yield path, name


def input_of(names: Iterable[str]) -> bytes:
    """One name in each line."""
    return "".join(f"{name}\n" for name in names).encode(errors="surrogateescape")


@dataclass(slots=True)
class Worktree:
    """HEAD, index and files of the repository itself, or of the further worktree `name`.

    `copies` are the names of the index before and after in the view; empty where there is none.
    What is `staged` has words and a blob for each file. Commits had `known` contents before.
    """

    name: str
    before: Side | None
    after: Side | None
    files: WorktreeFiles
    index_before: Index = EMPTY
    index_after: Index = EMPTY
    copies: tuple[str, str] = ("", "")
    staged_before: Mapping[str, Staged] = field(default_factory=dict[str, Staged])
    staged_after: Mapping[str, Staged] = field(default_factory=dict[str, Staged])
    known: Set[Placed] = frozenset()

    @property
    def tips(self) -> tuple[str, str]:
        """The commits of HEAD before and after; empty where there is none."""
        before, after = (side.tip if side is not None else "" for side in (self.before, self.after))
        return before, after

    @property
    def has_moved(self) -> bool:
        before, after = self.tips
        return before != after

    def staged_at(self, name: str) -> str:
        """The blob that the index has there after the command; empty where it has none."""
        return self.index_after.entries[name].blob if name in self.index_after.entries else ""

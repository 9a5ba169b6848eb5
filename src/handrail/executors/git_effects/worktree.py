"""The files of a worktree that a command changed, compared with what git has of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from handrail.core.effects import Effect, GitNote
from handrail.core.files import EntryKind
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.index import Index
from handrail.executors.git_effects.notes import change, count, loss, some
from handrail.executors.git_effects.trees import UnreadableError

# Older history than this is taken for lost.
_MOST_COMMITS = 20_000
_LOOK_UP = (
    *("--literal-pathspecs", "rev-list", "--objects", "--full-history", "--ignore-missing"),
    *(f"--max-count={_MOST_COMMITS}", "--stdin"),
)
_EXISTING = ("cat-file", "--batch-check=%(objectname)")
_NOTHING = ("version",)
_PROGRAM = "100755"
_MOST_COMPARED = 200
_MOST_LOOKED_AT = 5_000

# The contents of a file before and after; None where there is none, or too much of it.
ReadBoth = Callable[[Effect], tuple[bytes | None, bytes | None]]
# The blob that the workspace has at a path after the command; empty where there is no file.
BlobAt = Callable[[str], str]


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

    def look_up(self, tips: Iterable[str], contents: Mapping[str, str]) -> Query:
        """Ask which contents these commits, and those before them, have at the changed paths.

        That an object exists says little: nothing may name it, and git will remove it.
        """
        names = [path.removeprefix(self.prefix) for path in contents]
        rows = [*sorted(tips), "--", *(name for name in names if "\n" not in name)]
        return Query(_LOOK_UP if names else _NOTHING, _lines(rows))

    def look_up_merged(self) -> Query:
        """Ask which of the old contents exist; git stores files with marks of conflicts."""
        return Query(_EXISTING, _lines(self.old.values()))

    def compare(
        self,
        before: Index,
        after: Index,
        *,
        stored_before: bytes | None,
        stored_after: bytes | None,
        merged: bytes | None,
    ) -> Iterator[GitNote]:
        """Sort the files, and tell about them; the answers say what commits have of them."""
        written = {*(merged or b"").decode().split("\n")}
        known = {
            *stored_in(stored_before),
            *((name, one.blob) for name, one in before.entries.items()),
        }
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
                is_known = (name, self.new.get(one.path, "")) in known and not one.makes_executable
                if is_without_content or is_known:
                    self.known.add(one.path)
                if not _is_folder(one):
                    told.append(f"{one.path} ({one.kind})")
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
        is_program = entry is not None and entry.mode == _PROGRAM
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


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode(errors="surrogateescape")

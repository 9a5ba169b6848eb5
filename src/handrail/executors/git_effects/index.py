"""The index before and after: what is staged, in conflict, or overlooked by git."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from handrail.core.effects import GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.notes import change, setting, some
from handrail.executors.git_effects.trees import UnreadableError, UnsoundError, short

# Characters that some file systems leave out of names.
_UNSEEN = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_LIKE_GIT = re.compile(r"(?i)(?:\.git|git~[0-9]+)[ .]*(?::.*)?")
LIST_INDEX = ("ls-files", "--stage", "-v", "-z", "--sparse")
SUBMODULE = "160000"
PROGRAM = "100755"
LINK = "120000"
_SKIPPED = "S"


class Entry(NamedTuple):
    """A file as the index has it; an `overlooked` one is not compared with the folder."""

    mode: str
    blob: str
    is_overlooked: bool = False


class Staged(NamedTuple):
    """How a file differs from the current commit."""

    what: str
    blob: str


class Placed(NamedTuple):
    """A content at a path, and the mode that git gives to the file there."""

    name: str
    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class Index:
    """The entries by name, and the names that are in conflict."""

    entries: Mapping[str, Entry]
    conflicts: frozenset[str]

    def has(self, place: Placed) -> bool:
        one = self.entries.get(place.name)
        return one is not None and (one.mode, one.blob) == (place.mode, place.blob)

    def mode_of(self, name: str) -> str:
        return self.entries[name].mode if name in self.entries else ""

    def places(self) -> Iterator[Placed]:
        """All contents; a submodule has none."""
        for name, one in self.entries.items():
            if one.mode != SUBMODULE:
                yield Placed(name, one.mode, one.blob)

    @classmethod
    def parse(cls, listed: bytes | None) -> "Index":
        """Read what LIST_INDEX prints.

        Raises:
            UnsoundError: A name leads out of the folder, or into a repository.
        """
        if listed is None:
            raise UnreadableError("git cannot read the index")
        entries: dict[str, Entry] = {}
        conflicts: set[str] = set()
        for row in listed.decode(errors="surrogateescape").split("\0"):
            if row:
                meta, name = row.split("\t", 1)
                tag, mode, blob, stage = meta.split(" ")
                if not _is_sound(name):
                    raise UnsoundError(f"the index has a name that git may not write: {name!r}")
                if stage == "0":
                    is_overlooked = tag.islower() or tag == _SKIPPED
                    entries[name] = Entry(mode, blob, is_overlooked)
                else:
                    conflicts.add(name)
        return cls(entries, frozenset(conflicts))


EMPTY = Index({}, frozenset())


def _is_sound(name: str) -> bool:
    """Whether git would add such a name itself; a file of an index can hold any."""
    # The entry of a whole folder ends with a slash.
    parts = _UNSEEN.sub("", name).removesuffix("/").replace("\\", "/").split("/")
    return not any(part in ("", ".", "..") or _LIKE_GIT.fullmatch(part) for part in parts)


def shared_parts(content: bytes, object_format: str) -> list[str]:
    """The names of files that a split index may need beside it."""
    size = hashlib.new(object_format).digest_size
    found = re.findall(rb"link\0\0..(.{%d})" % size, content, re.DOTALL)
    return [f"sharedindex.{name.hex()}" for name in found]


def compare_with(tree: str, index: str) -> Query:
    """Ask what an index has staged against a commit."""
    words = ("diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", tree, "--")
    return Query(words, index_file=index)


def parse_staged(compared: bytes | None) -> dict[str, Staged]:
    """Parse the answer to `compare_with`."""
    if compared is None:
        raise UnreadableError("git cannot compare the index with the current commit")
    rows = compared.decode(errors="surrogateescape").split("\0")
    staged: dict[str, Staged] = {}
    for meta, name in zip(rows[::2], rows[1::2], strict=False):
        *_, blob, letter = meta.split(" ")
        if letter != "U":
            what = {"A": "new", "D": "removed"}.get(letter, "changed")
            staged[name] = Staged(what, blob)
    return staged


def tell_index(
    before: Index,
    after: Index,
    staged_before: Mapping[str, Staged],
    staged: Mapping[str, Staged],
    *,
    has_moved: bool,
) -> Iterator[GitNote]:
    """The notes; `has_moved` says that HEAD names another commit than before."""
    fresh = [
        f"{name} ({one.what})" for name, one in staged.items() if staged_before.get(name) != one
    ]
    gone = [name for name in staged_before if name not in staged and name not in after.conflicts]
    if fresh and has_moved and before == after:
        yield change(f"what was committed is staged again: {some(fresh)}")
    elif fresh:
        yield change(f"staged for the next commit: {some(fresh)}")
    if gone and not has_moved:
        yield change(f"no longer staged: {some(gone)}")
    if conflicts := sorted(after.conflicts - before.conflicts):
        yield change(f"conflicts to solve in: {some(conflicts)}")
    overlooked = _overlooked(before) ^ _overlooked(after)
    if overlooked:
        yield setting(
            f"git does not look at these files, or does so again: {some(sorted(overlooked))}"
        )
    for name, entry in after.entries.items():
        if entry.mode == SUBMODULE and before.entries.get(name) != entry:
            yield change(f"submodule {name} at {short(entry.blob)}")


def _overlooked(index: Index) -> set[str]:
    return {name for name, entry in index.entries.items() if entry.is_overlooked}

"""git's index, as it is compared and applied.

Beside the entries it holds the times of files, which `git status` rewrites, and several caches. A
command that writes lies there could have git overlook a changed file, or commit another tree. So
they are neither compared nor applied: git finds them again.
"""

import hashlib
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

# A larger one is compared byte by byte.
MOST_BYTES = 50_000_000
_PATH = re.compile(r"(?:.*/)?\.git(?:/(?:modules|worktrees)/.+)?/index")
_HEADER = struct.Struct(">4sII")
# Times, device, inode, owner and size of a file stand around its mode.
_STAT_BEFORE_MODE, _MODE_END, _HASH_AT, _FLAGS_AT, _NAME_AT = 24, 28, 40, 60, 62
_UNKNOWN = bytes(_STAT_BEFORE_MODE), bytes(_HASH_AT - _MODE_END)
_EXTENDED, _LENGTH = 0x4000, 0xFFF
# In an entry without its stat.
_ENTRY_FLAGS_AT, _ENTRY_NAME_AT = 24, 26
_SKIP_WORKTREE = 0x4000
_CHECKSUM = 20
# Undone conflicts, the other half of a split index, and that folders can stand for their files.
_KEPT = (b"REUC", b"link", b"sdir")

# What is known of a file, before and behind its mode.
_Stat = tuple[bytes, bytes]


def is_index(path: str) -> bool:
    return _PATH.fullmatch(path) is not None


@dataclass(frozen=True, slots=True)
class GitIndex:
    """An index of version 2 or 3: each entry without its times, and these by entry."""

    header: bytes
    entries: Mapping[bytes, _Stat]
    extensions: bytes

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Read an index.

        Raises:
            ValueError: It is damaged, or of another kind.
        """
        try:
            signature, version, count = _HEADER.unpack_from(content)
            if signature != b"DIRC" or version not in (2, 3):
                raise ValueError("an index of another kind")
            entries: dict[bytes, _Stat] = {}
            at = _HEADER.size
            for _ in range(count):
                entry, stat, at = _entry(content, at)
                entries[entry] = stat
            rest = content[at:-_CHECKSUM]
            if hashlib.sha1(content[:-_CHECKSUM]).digest() != content[-_CHECKSUM:]:  # noqa: S324
                raise ValueError("an index with another checksum")
            return cls(content[: _HEADER.size], entries, b"".join(_kept_extensions(rest)))
        except struct.error as error:
            raise ValueError("an index that ends too early") from error

    @property
    def compared(self) -> bytes:
        return b"".join((self.header, *self.entries, self.extensions))

    def skipping(self, names: Callable[[bytes], bool], *, skips: bool) -> Self:
        """With git's skip-worktree flag set, or not set, for the entries of some names.

        git takes a file with that flag for unchanged, whatever lies in the working tree.
        """
        entries = {
            _flagged(entry, skips=skips) if names(name_of(entry)) else entry: stat
            for entry, stat in self.entries.items()
        }
        version = 3 if any(map(_is_extended, entries)) else 2
        signature, _, count = _HEADER.unpack(self.header)
        header = _HEADER.pack(signature, version, count)
        return type(self)(header, entries, self.extensions)

    def written(self, known: Mapping[bytes, _Stat]) -> bytes:
        """The index as a file, with the times of those entries that are `known`."""
        pieces = [self.header]
        for entry in self.entries:
            before, behind = known.get(entry, _UNKNOWN)
            mode, rest = entry[: _MODE_END - _STAT_BEFORE_MODE], entry[4:]
            whole = before + mode + behind + rest
            # Entries end with one to eight zero bytes, of which the first is in `rest`.
            pieces.append(whole + bytes(-len(whole) % 8))
        content = b"".join((*pieces, self.extensions))
        return content + hashlib.sha1(content).digest()  # noqa: S324


def name_of(entry: bytes) -> bytes:
    return entry[_ENTRY_NAME_AT + 2 * _is_extended(entry) : -1]


def skips_worktree(entry: bytes) -> bool:
    return _is_extended(entry) and bool(_extra_flags(entry) & _SKIP_WORKTREE)


def compared_index(content: bytes) -> bytes:
    """The bytes by which two indexes are compared; all of them where one cannot be read."""
    try:
        return GitIndex.parse(content).compared
    except ValueError:
        return content


def is_plain(content: bytes) -> bool:
    """Whether an index can be read here, so that its times and caches are not applied."""
    try:
        GitIndex.parse(content)
    except ValueError:
        return False
    return True


def index_to_apply(before: bytes | None, after: bytes) -> bytes:
    """A new index with the times that the one before has for the same entries.

    One that cannot be read is left as it is.
    """
    try:
        new = GitIndex.parse(after)
    except ValueError:
        return after
    known: Mapping[bytes, _Stat] = {}
    with suppress(ValueError):
        known = GitIndex.parse(before or b"").entries
    return new.written(known)


def _flagged(entry: bytes, *, skips: bool) -> bytes:
    (flags,) = struct.unpack_from(">H", entry, _ENTRY_FLAGS_AT)
    extra = _extra_flags(entry) if flags & _EXTENDED else 0
    extra = extra | _SKIP_WORKTREE if skips else extra & ~_SKIP_WORKTREE
    flags = flags | _EXTENDED if extra else flags & ~_EXTENDED
    packed = struct.pack(">HH", flags, extra) if extra else struct.pack(">H", flags)
    return entry[:_ENTRY_FLAGS_AT] + packed + name_of(entry) + b"\0"


def _is_extended(entry: bytes) -> bool:
    (flags,) = struct.unpack_from(">H", entry, _ENTRY_FLAGS_AT)
    return bool(flags & _EXTENDED)


def _extra_flags(entry: bytes) -> int:
    (extra,) = struct.unpack_from(">H", entry, _ENTRY_NAME_AT)
    return int(extra)


def _entry(content: bytes, at: int) -> tuple[bytes, _Stat, int]:
    """The entry at a place without its times, these, and the place of the next one."""
    (flags,) = struct.unpack_from(">H", content, at + _FLAGS_AT)
    name_at = at + _NAME_AT + (2 if flags & _EXTENDED else 0)
    end = content.index(b"\0", name_at)
    if flags & _LENGTH != min(end - name_at, _LENGTH):
        raise ValueError("an index with a name of another length than it says")
    stat = content[at : at + _STAT_BEFORE_MODE], content[at + _MODE_END : at + _HASH_AT]
    mode = content[at + _STAT_BEFORE_MODE : at + _MODE_END]
    entry = mode + content[at + _HASH_AT : end + 1]
    return entry, stat, at + (end - at + 8) // 8 * 8


def _kept_extensions(rest: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(rest):
        signature, size = struct.unpack_from(">4sI", rest, at)
        end = at + 8 + size
        if end > len(rest):
            raise ValueError("an index whose extension ends too late")
        if signature in _KEPT:
            yield rest[at:end]
        at = end

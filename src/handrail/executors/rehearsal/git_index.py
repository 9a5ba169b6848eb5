"""git's index, which `git status` rewrites only to note the times and sizes of files.

Its digest leaves them out, so that an index that was refreshed is still the same.
"""

import hashlib
import re
import struct
from collections.abc import Iterator

# A larger one is compared byte by byte.
MOST_BYTES = 50_000_000
_PATH = re.compile(r"(?:.*/)?\.git(?:/(?:modules|worktrees)/.+)?/index")
_HEADER = struct.Struct(">4sII")
# Times, device, inode, owner and size of a file stand around its mode.
_STAT_BEFORE_MODE, _MODE_END, _HASH_AT, _FLAGS_AT, _NAME_AT = 24, 28, 40, 60, 62
_EXTENDED = 0x4000
_CHECKSUM = 20


def is_index(path: str) -> bool:
    return _PATH.fullmatch(path) is not None


def index_digest(content: bytes) -> str:
    """A hash of the entries and extensions; of all bytes where the index cannot be read."""
    try:
        pieces = [*_entries(content)]
    except (ValueError, struct.error):
        pieces = [content]
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def _entries(index: bytes) -> Iterator[bytes]:
    """The header, each entry without what it says of the file's times, and all extensions."""
    signature, version, count = _HEADER.unpack_from(index)
    if signature != b"DIRC" or version not in (2, 3):
        raise ValueError("a version of the index that is not supported")
    yield index[: _HEADER.size]
    at = _HEADER.size
    for _ in range(count):
        (flags,) = struct.unpack_from(">H", index, at + _FLAGS_AT)
        name_at = at + _NAME_AT + (2 if flags & _EXTENDED else 0)
        end = index.index(b"\0", name_at)
        # With the zero at its end, no two lists of entries give the same bytes.
        yield index[at + _STAT_BEFORE_MODE : at + _MODE_END] + index[at + _HASH_AT : end + 1]
        # Entries are padded with one to eight zero bytes.
        at += (end - at + 8) // 8 * 8
    yield index[at:-_CHECKSUM]

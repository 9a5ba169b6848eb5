"""git's index: `git status` rewrites it only to note the times and sizes it has seen."""

import struct
from collections.abc import Iterator

_HEADER = struct.Struct(">4sII")
# Times, device, inode, owner and size of a file stand around its mode.
_STAT_BEFORE_MODE, _MODE_END, _HASH_AT, _FLAGS_AT, _NAME_AT = 24, 28, 40, 60, 62
_EXTENDED = 0x4000
_CHECKSUM = 20


def differs_in_stat_alone(one: bytes, other: bytes) -> bool:
    """Whether two indexes hold the same entries; False where one of them cannot be read."""
    try:
        return list(_entries(one)) == list(_entries(other))
    except (ValueError, struct.error):
        return False


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
        yield index[at + _STAT_BEFORE_MODE : at + _MODE_END] + index[at + _HASH_AT : end]
        # Entries are padded with one to eight zero bytes.
        at += (end - at + 8) // 8 * 8
    yield index[at:-_CHECKSUM]

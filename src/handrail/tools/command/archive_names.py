"""The names in a zip archive, as far as every program that unpacks it reads the same ones.

An archive can be made so that two programs find other names in it. What gives room for that is not
read at all: then nobody can tell what would be written.
"""

import re
import stat
import struct
from typing import NamedTuple

_END_MARK, _LARGE_MARK = b"PK\x05\x06", b"PK\x06\x07"
_ENTRY_MARK, _LOCAL_MARK = b"PK\x01\x02", b"PK\x03\x04"
_END = struct.Struct("<4s4H2LH")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_EXTRA = struct.Struct("<2H")
# Times and owners. Others can say that an entry is a link, or has another name.
_HARMLESS_EXTRAS = frozenset({0x000A, 0x5455, 0x5855, 0x7855, 0x7875})
# Longer ones are cut by some programs.
_MOST_BYTES_OF_A_NAME = 1_000
_MOST_BYTES_OF_A_PART = 255
_UTF8 = 0x800
# Some programs take these for something else, or leave them out.
_ODD = re.compile(r"[\\:;]|(?:^|/)\.\.(?:/|$)|^/|//")
_SEVERAL_WAYS = "can be read in several ways"
_ODD_NAMES = "holds names that can be read in several ways"


class UnclearArchive(ValueError):
    """Why the names in an archive cannot be told; the rest of a sentence that begins with it."""


class _Entry(NamedTuple):
    name: bytes
    is_utf8: bool
    extra: bytes
    mode: int
    offset: int


def names_in_zip(data: bytes, *, most: int) -> list[str]:
    """Every name in an archive, folders and all; nothing in it is unpacked.

    Raises:
        UnclearArchive: It is none, holds more than `most`, or could be read in several ways.
    """
    end = data.rfind(_END_MARK)
    if end < 0 or len(data) - end < _END.size:
        raise UnclearArchive("is no zip archive")
    _, disk, first_disk, here, total, size, start, comment = _END.unpack_from(data, end)
    is_whole = not disk and not first_disk and here == total
    is_plain = data.count(_END_MARK) == 1 and _LARGE_MARK not in data
    is_closed = start + size == end and end + _END.size + comment == len(data)
    if not is_whole or not is_plain or not is_closed:
        raise UnclearArchive(_SEVERAL_WAYS)
    if total > most:
        raise UnclearArchive("holds more than can be judged name by name")
    return [_name_of(one, data) for one in _entries(data[start:end], total)]


def _entries(listed: bytes, total: int) -> list[_Entry]:
    found: list[_Entry] = []
    at = 0
    while len(found) < total:
        if at + _ENTRY.size > len(listed) or not listed.startswith(_ENTRY_MARK, at):
            raise UnclearArchive(_SEVERAL_WAYS)
        fields = _ENTRY.unpack_from(listed, at)
        flags, (length, extra, comment) = fields[3], fields[10:13]
        name, at = at + _ENTRY.size, at + _ENTRY.size + length + extra + comment
        further = listed[name + length : name + length + extra]
        mode, offset = fields[-2] >> 16, fields[-1]
        found.append(
            _Entry(listed[name : name + length], bool(flags & _UTF8), further, mode, offset)
        )
    if at != len(listed):
        raise UnclearArchive(_SEVERAL_WAYS)
    return found


def _name_of(entry: _Entry, data: bytes) -> str:
    if stat.S_ISLNK(entry.mode):
        raise UnclearArchive("holds links, which lead elsewhere")
    try:
        name = entry.name.decode("utf-8" if entry.is_utf8 else "ascii")
    except UnicodeDecodeError as error:
        raise UnclearArchive(_ODD_NAMES) from error
    if not name or not name.isprintable() or _ODD.search(name) or _is_long(entry.name):
        raise UnclearArchive(_ODD_NAMES)
    if _says_more(entry.extra) or not _is_told_twice(entry, data):
        raise UnclearArchive(_ODD_NAMES)
    return name


def _is_long(name: bytes) -> bool:
    longest = max(map(len, name.split(b"/")))
    return len(name) > _MOST_BYTES_OF_A_NAME or longest > _MOST_BYTES_OF_A_PART


def _is_told_twice(entry: _Entry, data: bytes) -> bool:
    """Whether what stands in front of the file's content has the name that the list has."""
    start = entry.offset + _LOCAL.size
    if start > len(data) or not data.startswith(_LOCAL_MARK, entry.offset):
        return False
    fields = _LOCAL.unpack_from(data, entry.offset)
    flags, (length, extra) = fields[2], fields[-2:]
    is_same = data[start : start + length] == entry.name and bool(flags & _UTF8) == entry.is_utf8
    return is_same and not _says_more(data[start + length : start + length + extra])


def _says_more(extra: bytes) -> bool:
    """Whether there is anything about an entry that is not known to be harmless."""
    at = 0
    while at + _EXTRA.size <= len(extra):
        kind, size = _EXTRA.unpack_from(extra, at)
        if kind not in _HARMLESS_EXTRAS:
            return True
        at += _EXTRA.size + size
    return at != len(extra)

"""The names in an archive are told only where all that unpack it would read the same ones."""

import stat
import struct
import zipfile
from io import BytesIO

import pytest

from handrail.tools.command.archive_names import UnclearArchive, names_in_zip


def packed(*names: str | zipfile.ZipInfo) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, "x" * 100)
    return data.getvalue()


def with_extra(extra: bytes) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("a.md")
    entry.extra = extra
    return entry


def a_link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("a")
    entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return entry


def test_every_name_is_told_and_nothing_is_unpacked() -> None:
    data = packed("a.md", "docs/", "docs/b c.md", "docs/ä.md")
    assert names_in_zip(data, most=10) == ["a.md", "docs/", "docs/b c.md", "docs/ä.md"]
    assert names_in_zip(packed(), most=10) == []


def test_an_archive_may_say_something_of_itself() -> None:
    data = BytesIO(packed("a.md"))
    with zipfile.ZipFile(data, "a") as archive:
        archive.comment = b"made on a Tuesday"
    assert names_in_zip(data.getvalue(), most=10) == ["a.md"]


@pytest.mark.parametrize(
    "name",
    [
        *("../Makefile", "a/../../x", "/etc/x", "a//b", "a\\b", "Makefile;1", "c:x"),
        *("./" * 2_100 + "conftest.pyzz", "a" * 256),
        *("Make\x01file", "Make\x00file", "Make\u202efile"),
    ],
)
def test_names_that_programs_change_on_their_way_are_unclear(name: str) -> None:
    entry = zipfile.ZipInfo("x")
    entry.filename = entry.orig_filename = name
    with pytest.raises(UnclearArchive):
        names_in_zip(packed(entry), most=10)


def test_a_name_in_an_unknown_alphabet_is_unclear() -> None:
    data = packed("docs/aaaa.md").replace(b"aaaa", b"\x84\x81\xff\xe4")
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(data, most=10)


def test_a_second_name_is_unclear_wherever_it_stands() -> None:
    second = struct.pack("<HHBL", 0x7075, 13, 1, 0) + b"Makefile"
    both = packed(with_extra(second))
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(both, most=10)
    # The last one is that of the list; the other stands in front of the content.
    harmless = struct.pack("<H", 0x7076)
    before, _, after = both.rpartition(struct.pack("<H", 0x7075))
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(before + harmless + after, most=10)


def test_what_else_could_make_a_link_of_an_entry_is_unclear() -> None:
    times = struct.pack("<HHBL", 0x5455, 5, 1, 0)
    assert names_in_zip(packed(with_extra(times)), most=10) == ["a.md"]

    link = struct.pack("<HH", 0x756E, 14) + bytes(14)
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(packed(with_extra(link)), most=10)


def test_a_file_that_is_called_differently_in_front_of_its_content_is_unclear() -> None:
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(packed("docs/a.md").replace(b"docs/a.md", b"Makefile2", 1), most=10)


def test_an_archive_with_two_lists_is_unclear() -> None:
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(packed("Makefile") + packed("a.md"), most=10)
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(b"#!/bin/sh\n" + packed("a.md"), most=10)
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(packed("a.md") + b"more", most=10)


def test_a_list_that_counts_itself_wrongly_is_unclear() -> None:
    data = packed("a.md", "b.md")
    end = data.rindex(b"PK\x05\x06")
    wrong = data[: end + 8] + struct.pack("<HH", 1, 1) + data[end + 12 :]
    with pytest.raises(UnclearArchive, match="several ways"):
        names_in_zip(wrong, most=10)


def test_links_and_crowds_are_unclear() -> None:
    with pytest.raises(UnclearArchive, match="holds links"):
        names_in_zip(packed("b", a_link()), most=10)
    with pytest.raises(UnclearArchive, match="more than can be judged"):
        names_in_zip(packed("a", "b", "c"), most=2)


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\x05\x06", b"x" * 100, b"PK\x05\x06" + b"\0" * 17]
)
def test_what_is_no_archive_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(UnclearArchive, match="is no zip archive"):
        names_in_zip(data, most=10)


def test_damage_anywhere_never_ends_in_anything_else() -> None:
    data = packed("a.md", "docs/b.md")
    for at in range(len(data)):
        for byte in (0, 0x41, 0xFF):
            broken = data[:at] + bytes([byte]) + data[at + 1 :]
            try:
                names_in_zip(broken, most=10)
            except UnclearArchive:
                continue

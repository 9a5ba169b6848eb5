import codecs

import pytest

from handrail.tools.encoding import decode_text, encode_behind, encode_like


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "ascii"])
def test_text_added_piece_by_piece_reads_as_one(encoding: str) -> None:
    data = b""
    for piece in ("one\n", "two\n", "", "three"):
        data += encode_behind(data, piece, encoding)
    assert data.decode(encoding) == "one\ntwo\nthree"
    assert data == "one\ntwo\nthree".encode(encoding)


@pytest.mark.parametrize(
    ("mark", "encoding"), [(codecs.BOM_UTF16_BE, "utf-16"), (codecs.BOM_UTF32_BE, "utf-32")]
)
def test_text_goes_on_in_the_order_of_bytes_in_which_it_began(mark: bytes, encoding: str) -> None:
    data = mark + "one ".encode(f"{encoding}-be")
    assert (data + encode_behind(data, "two", encoding)).decode(encoding) == "one two"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"one", "utf-8"),
        ("one".encode("utf-8-sig"), "utf-8-sig"),
        ("one".encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + "one".encode("utf-16-be"), "utf-16"),
        (codecs.BOM_UTF32_BE + "one".encode("utf-32-be"), "utf-32"),
        ("one".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_text_in_the_place_of_another_keeps_mark_and_order(data: bytes, encoding: str) -> None:
    assert encode_like(data, "one", encoding) == data
    assert encode_like(data, "two", encoding).decode(encoding) == "two"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        (b"caf\xc3\xa9", "utf-8", "café"),
        (b"caf\xe9", "utf-8", None),
        (b"caf\xe9", "latin-1", "café"),
        (b"a\0b", "utf-8", None),
        (b"a\0b\0", "utf-16-le", "ab"),
        (b"odd", "utf-16", None),
    ],
    ids=["empty", "text", "other", "latin", "zero", "wide", "half"],
)
def test_text_is_told_from_other_content(data: bytes, encoding: str, text: str | None) -> None:
    assert decode_text(data, encoding) == text

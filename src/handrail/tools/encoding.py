"""Bytes and text: which encodings files have, and what counts as text."""

import codecs
from typing import Annotated

from pydantic import AfterValidator

# Encodings of names and of source literals, not of files.
_NOT_FILES = {"idna", "punycode", "undefined", "utf-7", "unicode-escape", "raw-unicode-escape"}


def text_encoding(name: str) -> str:
    """The name that Python has for an encoding of text.

    Raises:
        ValueError: It is none.
    """
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        codec = None
    if codec is None or not getattr(codec, "_is_text_encoding", False) or codec.name in _NOT_FILES:
        raise ValueError(f"{name!r} is not a text encoding")
    return codec.name


# Encodings that leave the byte order to a mark at the beginning, and are written little-endian.
_BIG_ENDIAN = {
    "utf-16": (codecs.BOM_UTF16_BE, "utf-16-be"),
    "utf-32": (codecs.BOM_UTF32_BE, "utf-32-be"),
}

TextEncoding = Annotated[str, AfterValidator(text_encoding)]


def decode_text(data: bytes, encoding: str) -> str | None:
    """The text of a file, or None for one that is binary or in another encoding."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def encode_like(data: bytes, text: str, encoding: str) -> bytes:
    """`text` as it would stand in the place of `data`: in the same byte order."""
    mark, order = _BIG_ENDIAN.get(encoding, (b"", ""))
    if order and data.startswith(mark):
        return mark + text.encode(order)
    return text.encode(encoding)


def encode_behind(data: bytes, text: str, encoding: str) -> bytes:
    """`text` as it stands behind `data`: a byte order mark belongs only to the beginning."""
    if not data:
        return text.encode(encoding)
    big_endian = data.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    match encoding:
        case "utf-8-sig":
            return text.encode("utf-8")
        case "utf-16" | "utf-32":
            return text.encode(f"{encoding}-be" if big_endian else f"{encoding}-le")
        case _:
            return text.encode(encoding)

"""What a body from the web is: a page, a text, or bytes that are none; and its characters."""

import codecs
import re
from enum import StrEnum

from handrail.tools.encoding import text_encoding

# How much of a page is looked at for the encoding it says of itself.
_MOST_BYTES_BEFORE_META = 2_048

_CHARSET = re.compile(r"charset=[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = frozenset(
    f"application/{name}"
    for name in (
        *("ecmascript", "graphql", "javascript", "json", "ld+json", "ndjson", "sql", "toml"),
        *("x-javascript", "x-ndjson", "x-sh", "x-toml", "x-www-form-urlencoded", "x-yaml"),
        *("xml", "yaml"),
    )
)


class Kind(StrEnum):
    PAGE = "page"
    TEXT = "text"
    BYTES = "bytes"


def media_type(content_type: str) -> str:
    """The type alone, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def kind_of(content_type: str, body: bytes) -> Kind:
    """What the sender says it is; where that is nothing, what it looks like."""
    media = media_type(content_type)
    if media in _PAGES:
        return Kind.PAGE
    if media.startswith("text/") or media in _TEXTS or media.endswith(("+json", "+xml")):
        return Kind.TEXT
    if media:
        return Kind.BYTES
    start = body[:_MOST_BYTES_BEFORE_META].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return Kind.PAGE
    return Kind.BYTES if b"\0" in body else Kind.TEXT


def decode(content_type: str, body: bytes) -> str | None:
    """The text of a body, with a sign where something is no character; None if it is no text."""
    text = body.decode(_encoding(content_type, body), errors="replace")
    return None if "\0" in text else text


def _encoding(content_type: str, body: bytes) -> str:
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name
    start = body[:_MOST_BYTES_BEFORE_META].decode("latin-1")
    for said in (content_type, start if "<meta" in start.lower() else ""):
        named = _CHARSET.search(said)
        if named is not None:
            try:
                return text_encoding(named[1])
            except ValueError:
                continue
    return "utf-8"

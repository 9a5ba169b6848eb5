"""A page cut into tags and text, in one pass over it.

No tree is built. Whoever writes a page can make a tree builder work for minutes, with a thousand
attributes or a hundred thousand tags that are never closed; here each character is read once.
"""

import re
from collections.abc import Iterator
from functools import cache
from html import unescape as _unescape
from typing import NamedTuple

# White space as pages know it.
_BLANK = r"\t\n\f\r "
_MARKUP = re.compile(
    rf"<(?:(?P<comment>!--)|(?P<other>[!?]|/(?![a-zA-Z]))|(?P<close>/)?(?P<name>[a-zA-Z][^{_BLANK}/>]*))"
)
_COMMENT_END = re.compile(r"--!?>")
_ATTRIBUTE = re.compile(
    rf"[{_BLANK}/]*(?:(?P<end>>)|(?P<name>[^{_BLANK}/>][^{_BLANK}/>=]*)"
    rf"(?:[{_BLANK}]*=[{_BLANK}]*"
    rf"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^{_BLANK}>\"'][^{_BLANK}>]*))?)?)"
)
_QUOTES = frozenset({"'", '"'})
# Within these, nothing but their own end is a tag.
_RAW = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes"})
_RAW_WITH_ESCAPES = frozenset({"title", "textarea"})
# Of all that a tag can say, what a reader needs to know.
_KEPT = frozenset({"hidden", "aria-hidden", "style", "class", "id", "href", "open"})


# No sign has a number of more digits, and none that Python would not read.
_LONG_NUMBER = re.compile(r"(&#x?)0*[0-9a-fA-F]{10,}")


def unescape(text: str) -> str:
    """References to signs as what they mean; one with an endless number means none."""
    return _unescape(_LONG_NUMBER.sub(r"\g<1>fffd", text) if "&#" in text else text)


class Opened(NamedTuple):
    name: str
    attributes: dict[str, str]


class Closed(NamedTuple):
    name: str


# A text stands for itself.
Token = Opened | Closed | str


def tokens(page: str) -> Iterator[Token]:
    """The tags and texts of a page, in their order; comments are left out."""
    at = 0
    while (markup := _MARKUP.search(page, at)) is not None:
        if markup.start() > at:
            yield unescape(page[at : markup.start()])
        if markup["name"] is None:
            at = _behind_what_is_no_tag(page, markup)
            continue
        attributes, at = _read_attributes(page, markup.end())
        name = markup["name"].lower()
        if markup["close"]:
            yield Closed(name)
            continue
        yield Opened(name, attributes)
        if name in _RAW or name in _RAW_WITH_ESCAPES:
            ended = _end_of(name).search(page, at)
            raw = page[at : len(page) if ended is None else ended.start()]
            at += len(raw)
            yield unescape(raw) if name in _RAW_WITH_ESCAPES else raw
        elif name == "plaintext":
            break
    if at < len(page):
        yield unescape(page[at:])


def _behind_what_is_no_tag(page: str, markup: re.Match[str]) -> int:
    """Where a comment, a declaration or nonsense is over; if it is never, with the page."""
    start = markup.end()
    if markup["comment"]:
        if (
            short := next((end for end in (">", "->") if page.startswith(end, start)), None)
        ) is None:
            ended = _COMMENT_END.search(page, start)
            return len(page) if ended is None else ended.end()
        return start + len(short)
    closed = page.find(">", start)
    return len(page) if closed < 0 else closed + 1


def _read_attributes(page: str, at: int) -> tuple[dict[str, str], int]:
    """What a tag says, the first time it says it, and where the tag is over."""
    found: dict[str, str] = {}
    while (part := _ATTRIBUTE.match(page, at)) is not None:
        at = part.end()
        if part["end"]:
            return found, at
        said = part["double"] or part["single"] or part["bare"] or ""
        if not said and page[at : at + 1] in _QUOTES and part[0].rstrip().endswith("="):
            # A value without an end, and so a tag without one.
            break
        name = part["name"].lower()
        if name in _KEPT and name not in found:
            found[name] = unescape(said)
    return found, len(page)


@cache
def _end_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[{_BLANK}/>])", re.IGNORECASE)

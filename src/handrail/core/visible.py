"""Text from elsewhere, made unable to hide, move or colour anything."""

import re
import unicodedata
from collections.abc import Iterator

# Counted among the letters, marks and signs, and yet nothing is seen of them: fillers, joiners,
# variation selectors, the blank pattern of Braille.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
# The characters that emoji are made of. The last block is reserved for them as a whole, so those
# that are newer than this Python's tables are drawn too.
_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934"
    "\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_ELEMENT = f"{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]?"
_EMOJI = re.compile(f"{_ELEMENT}(?:\u200d{_ELEMENT})*|[0-9#*]\ufe0f\u20e3")
# Private characters are drawn, if as a box, and spaces of other widths are blank all the same.
_HARMLESS = ("Co", "Zs")


def visible(text: str, *, keep: str = "") -> str:
    """Control, bidirectional and other unseen characters as escapes, but for those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        part if is_emoji else _without_unseen(part, keep) for part, is_emoji in _parts(text)
    )


def is_misleading(text: str, *, keep: str = "") -> bool:
    """True if a text holds characters that hide or reorder what a reader sees, except `keep`.

    These are control and format characters, fillers, selectors and lone surrogates. A joiner or a
    selector within an emoji is part of the picture.
    """
    if text.isascii() and text.isprintable():
        return False
    return any(
        _misleads(char)
        for part, is_emoji in _parts(text)
        if not is_emoji
        for char in part
        if char not in keep
    )


def cut(text: str, most: int) -> str:
    """The beginning of a text, and how much more of it there is; all of it where it is short."""
    more = len(text) - most
    return text if more <= 0 else f"{text[:most]}… [{more:,} more characters]"


def cut_middle(text: str, most: int) -> str:
    """The beginning and the end of a text, and how much is missing between them."""
    missing = len(text) - most
    if missing <= 0:
        return text
    start, end = text[: most - most // 2], text[len(text) - most // 2 :]
    return f"{start}… [{missing:,} characters not shown] …{end}"


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """A text cut into emoji and what stands between them."""
    end = 0
    for found in _EMOJI.finditer(text):
        yield text[end : found.start()], False
        yield found[0], True
        end = found.end()
    yield text[end:], False


def _without_unseen(text: str, keep: str) -> str:
    return "".join(char if _is_seen(char) or char in keep else _escape(char) for char in text)


def _misleads(char: str) -> bool:
    return not _is_seen(char) and unicodedata.category(char) not in _HARMLESS


def _is_seen(char: str) -> bool:
    return char.isprintable() and not _BLANK.match(char)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"

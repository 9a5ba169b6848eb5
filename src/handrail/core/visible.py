"""Text from elsewhere, made unable to hide, move or colour anything."""

import re

# Counted among the letters, marks and signs, and yet nothing is seen of them: fillers, joiners,
# variation selectors, the blank pattern of Braille.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


def visible(text: str, *, keep: str = "") -> str:
    """Control, bidirectional and other unseen characters as escapes, but for those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_seen(char) or char in keep else _escape(char) for char in text)


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


def _is_seen(char: str) -> bool:
    return char.isprintable() and not _BLANK.match(char)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"

"""Patterns for paths, blind to spellings that a person or a file system takes for the same."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Some file systems drop dots and blanks at the end of a name: `id_rsa. ` opens `id_rsa`.
_TRAILING = re.compile(r"(?<=[^./ ])[. ]+(?=/|$)")


@lru_cache(maxsize=256)  # Every rule asks for the same path in turn.
def fold(path: str) -> str:
    """One spelling for names that a person, or a file system, takes for the same."""
    text = path
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return _TRAILING.sub("", text.casefold())


def glob(pattern: str) -> str:
    """A glob as a regular expression: `*` and `?` never cross a slash, `**/` does."""
    *folders, name = fold(pattern).split("/")
    way = ("(?:[^/]+/)*" if part == "**" else f"{_part(part)}/" for part in folders)
    return "".join(way) + _part(name)


def _part(pattern: str) -> str:
    """One part of a path. What stands between two `*` is looked for once and never again.

    The first place where it fits is as good as any other, and so no pattern that somebody has
    written can take much time.
    """
    first, *others = (re.escape(text).replace(r"\?", "[^/]") for text in pattern.split("*"))
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>[^/]*?{text})" for text in middle if text) + f"[^/]*{last}"


def any_part(patterns: Sequence[str], exceptions: Sequence[str] = ()) -> re.Pattern[str]:
    """Find the globs among the parts of a path, except where an exception fits the same part."""
    spared = f"(?!(?:{'|'.join(map(glob, exceptions))})(?:/|$))" if exceptions else ""
    return re.compile(f"(?:^|/){spared}(?:{'|'.join(map(glob, patterns))})(?=/|$)")

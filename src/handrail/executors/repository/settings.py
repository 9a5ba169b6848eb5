"""A file of git's settings, read as git itself reads it.

What git would refuse is refused here too, and so is the little that it would forgive.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from handrail.executors.repository.plain import read_plain

# Every branch begins with another character, so that there is one way only to read a file.
_NOTHING = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"[;#][^\n]*")
_SECTION = re.compile(
    r'\[(?P<section>[A-Za-z0-9.-]+)(?:[ \t\r]+"(?P<name>(?:[^"\\\n]|\\[^\n])*)")?\]'
)
_KEY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(?P<mark>=)[ \t]*|(?=\r?\n|\Z))")
_VALUE = re.compile(
    r'(?:[^"\\;#\n]|\\(?:[tbn"\\]|\r?\n)|"(?:[^"\\\n]|\\(?:[tbn"\\]|\r?\n))*")*(?=[;#\n]|\Z)'
)
_WRITTEN = re.compile(r'\\(?:\r?\n|(?P<sign>[tbn"\\]))|"')
_BACKSLASH = re.compile(r"\\(.)")
_SIGNS = {"t": "\t", "b": "\b", "n": "\n"}
_QUOTED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"}
_NEEDS_NO_QUOTES = re.compile(r'[^\s"\\;#](?:[^"\\;#\n\t\b]*[^\s"\\;#])?')
_MOST_BYTES = 1 << 20

# The whole name of a setting, as git has it, and its value; none where it only stands there.
Entry = tuple[str, str | None]


class Part(NamedTuple):
    """What stands from `start` to `end`: a value, the name of a section, or a comment.

    The name of a section has no `key`, a comment not even `content`. All but a comment is part of a
    `section`, such as `remote`.
    """

    start: int
    end: int
    content: str | None = None
    key: str = ""
    section: str = ""

    def spelt(self, content: str) -> str:
        """Other content, as it is to be written in this place."""
        if not self.key:
            return "".join(_QUOTED[char] if char in '\\"' else char for char in content)
        if not content or _NEEDS_NO_QUOTES.fullmatch(content):
            return content
        return f'"{"".join(_QUOTED.get(char, char) for char in content)}"'


def read_settings(path: str) -> str | None:
    """The text of a file; None where there is none.

    Raises:
        ValueError: It cannot be read.
    """
    content = read_plain(path, _MOST_BYTES)
    return None if content is None else content.decode(errors="surrogateescape")


def parts_of(text: str) -> Iterator[Part]:
    """Every part in which somebody could have written what is secret.

    Raises:
        ValueError: These are no settings.
    """
    section = ""
    for match, value in _tokens(text):
        if match.re is _COMMENT:
            yield Part(match.start(), match.end())
        elif match.re is _SECTION:
            # Of `[a.b]`, an old way to write `[a "b"]`, the front counts.
            section = match["section"].lower().partition(".")[0]
            if (name := match["name"]) is not None:
                yield Part(*match.span("name"), _BACKSLASH.sub(r"\1", name), section=section)
        elif value is not None:
            yield Part(*value.span(), _content(value), match["key"], section)


def entries_of(text: str) -> Iterator[Entry]:
    """Every setting, in order.

    Raises:
        ValueError: These are no settings.
    """
    section = ""
    for match, value in _tokens(text):
        if match.re is _SECTION:
            name = match["name"]
            more = "" if name is None else "." + _BACKSLASH.sub(r"\1", name)
            section = match["section"].lower() + more
        elif match.re is _KEY:
            content = None if value is None else _content(value)
            yield f"{section}.{match['key'].lower()}", content


def _tokens(text: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    """What a file consists of, but for nothing at all; with a key comes its value, if it has one.

    Raises:
        ValueError: These are no settings.
    """
    at = len("\ufeff") if text.startswith("\ufeff") else 0
    if "\0" in text:
        raise ValueError("it contains a zero byte")
    while at < len(text):
        value = None
        if match := _NOTHING.match(text, at):
            at = match.end()
            continue
        match = _COMMENT.match(text, at) or _SECTION.match(text, at) or _KEY.match(text, at)
        if match is not None and match.re is _KEY and match["mark"]:
            value = _VALUE.match(text, match.end())
        if match is None or (match.re is _KEY and match["mark"] and value is None):
            raise _refused(text, at)
        yield match, value
        at = (value or match).end()


def _content(value: re.Match[str]) -> str:
    return _WRITTEN.sub(_sign, value[0]).strip(" \t\r")


def _sign(match: re.Match[str]) -> str:
    sign = match["sign"] or ""
    return _SIGNS.get(sign, sign)


def _refused(text: str, at: int) -> ValueError:
    return ValueError(f"line {text.count(chr(10), 0, at) + 1} is not valid git configuration")

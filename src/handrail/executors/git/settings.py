"""A file of git's settings, read as git itself reads it.

What git would refuse is refused here too, and so is the little that it would forgive.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Every branch begins with another character, so that there is one way only to read a file.
_NOTHING = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"[;#][^\n]*")
_SECTION = re.compile(r'\[[A-Za-z0-9.-]+(?:[ \t\r]+"(?P<name>(?:[^"\\\n]|\\[^\n])*)")?\]')
_KEY = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(?P<mark>=)[ \t]*|(?=\r?\n|\Z))")
_VALUE = re.compile(
    r'(?:[^"\\;#\n]|\\(?:[tbn"\\]|\r?\n)|"(?:[^"\\\n]|\\(?:[tbn"\\]|\r?\n))*")*(?=[;#\n]|\Z)'
)
_WRITTEN = re.compile(r'\\(?:\r?\n|(?P<sign>[tbn"\\]))|"')
_SIGNS = {"t": "\t", "b": "\b", "n": "\n"}
_QUOTED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\b": "\\b"}
_NEEDS_NO_QUOTES = re.compile(r'[^\s"\\;#](?:[^"\\;#\n\t\b]*[^\s"\\;#])?')


class Part(NamedTuple):
    """What stands from `start` to `end`: a value, the name of a section, or a comment.

    The name of a section has no `key`, a comment not even `content`.
    """

    start: int
    end: int
    content: str | None = None
    key: str = ""

    def spelt(self, content: str) -> str:
        """Other content, as it is to be written in this place."""
        if not self.key:
            return "".join(_QUOTED[char] if char in '\\"' else char for char in content)
        if not content or _NEEDS_NO_QUOTES.fullmatch(content):
            return content
        return f'"{"".join(_QUOTED.get(char, char) for char in content)}"'


def parts_of(text: str) -> Iterator[Part]:
    """Every part in which somebody could have written what is secret.

    Raises:
        ValueError: These are no settings.
    """
    at = len("\ufeff") if text.startswith("\ufeff") else 0
    if "\0" in text:
        raise ValueError("it holds a zero byte")
    while at < len(text):
        if match := _NOTHING.match(text, at):
            pass
        elif match := _COMMENT.match(text, at):
            yield Part(match.start(), match.end())
        elif match := _SECTION.match(text, at):
            if (name := match["name"]) is not None:
                yield Part(*match.span("name"), re.sub(r"\\(.)", r"\1", name))
        elif match := _KEY.match(text, at):
            key = match["key"]
            if match["mark"]:
                match = _VALUE.match(text, match.end())
                if match is None:
                    raise _refused(text, at)
                yield Part(*match.span(), _WRITTEN.sub(_sign, match[0]).strip(" \t\r"), key)
        else:
            raise _refused(text, at)
        at = match.end()


def _sign(match: re.Match[str]) -> str:
    sign = match["sign"] or ""
    return _SIGNS.get(sign, sign)


def _refused(text: str, at: int) -> ValueError:
    return ValueError(f"line {text.count(chr(10), 0, at) + 1} is none that git would understand")

"""Texts that stand on lines of their own: here-documents, taken out before the line is read.

What they hold is no bash. Here they are found by bash's own rules; where a line has anything that
could shift where one begins, nothing behind that is taken out, and the line is not plain.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from handrail.policy.shell.doubts import INERT, Doubt

# Begins the word for a text; no line that is read holds this character.
_MARK = "\x1e"

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_OPENING = rf"<<(?P<{{0}}tabs>-?)[ \t]*(?P<{{0}}quote>['\"]?)(?P<{{0}}end>{_WORD})(?P={{0}}quote)"
_TOKEN = re.compile(
    rf"""
      (?P<message> "\$\([ \t]* cat [ \t]+ {_OPENING.format("m_")} [ \t]* \n )
    | (?P<here> (?<=[ \t]) {_OPENING.format("h_")} (?=[ \t\n;|&]) )
    | (?P<inert> {INERT.pattern} )
    | (?P<newline> \n )
    | (?P<other> [^\n\\'"`$<\#]+ | \# )
    """,
    re.VERBOSE | re.DOTALL,
)
_EXPANDED = re.compile(r"[$`\\]")
_LEADING_TABS = re.compile(r"^\t+", re.MULTILINE)
_END_OF_MESSAGE = re.compile(r'[ \t\n]*\)"')


class Taken(NamedTuple):
    """A line with a word for each text that a command reads, and the texts by these words.

    It is whole where all of it could be told apart.
    """

    line: str
    texts: Mapping[str, str]
    is_whole: bool = True

    @property
    def bash(self) -> str:
        """What of the line is bash."""
        return self.line.replace(f"<{_MARK}", "")


class _Opening(NamedTuple):
    """The beginning of a here-document."""

    has_tabs: bool
    is_quoted: bool
    end: str

    @classmethod
    def of(cls, found: re.Match[str], prefix: str) -> "_Opening":
        return cls(
            bool(found[f"{prefix}_tabs"]), bool(found[f"{prefix}_quote"]), found[f"{prefix}_end"]
        )

    def read(self, text: str, start: int) -> tuple[str, int]:
        """The document whose lines begin here, and where the line behind its end begins."""
        tabs = r"\t*" if self.has_tabs else ""
        end = re.compile(rf"^{tabs}{self.end}(?:\n|\Z)", re.MULTILINE).search(text, start)
        if end is None:
            raise Doubt(f"its here-document has no line that is just {self.end}")
        body = text[start : end.start()]
        if not self.is_quoted and _EXPANDED.search(body):
            raise Doubt(
                "it has a here-document with a $, a backquote or a backslash, which bash may "
                f"expand (write <<'{self.end}' if the text is meant as it stands)"
            )
        return _LEADING_TABS.sub("", body) if self.has_tabs else body, end.end()


def take_out_texts(text: str) -> Taken:
    """The line without its here-documents.

    `"$(cat <<'EOF' …)"` is the text itself, in single quotes.
    """
    if "<<" not in text:
        return Taken(text, {})
    return _Taking(text).taken()


class _Taking:
    def __init__(self, text: str):
        self._text = text
        self._at = 0
        self._line: list[str] = []
        self._texts: dict[str, str] = {}
        self._open: list[_Opening] = []

    def taken(self) -> Taken:
        while found := _TOKEN.match(self._text, self._at):
            # In a line with a text to come, bash may look for it at the end of any line.
            if self._open and "\n" in found[0] and found["newline"] is None:
                break
            self._at = found.end()
            self._take(found)
        rest = self._text[self._at :]
        is_whole = not rest and not self._open
        return Taken("".join([*self._line, rest]), self._texts, is_whole)

    def _take(self, found: re.Match[str]) -> None:
        if found["message"]:
            self._take_message(_Opening.of(found, "m"))
        elif found["here"]:
            self._line.append(f"<{_MARK}{len(self._texts) + len(self._open)}")
            self._open.append(_Opening.of(found, "h"))
        else:
            self._line.append(found[0])
            if found["newline"]:
                self._read_texts()

    def _read_texts(self) -> None:
        for opening in self._open:
            body, self._at = opening.read(self._text, self._at)
            self._texts[f"{_MARK}{len(self._texts)}"] = body
        self._open = []

    def _take_message(self, opening: _Opening) -> None:
        body, end = opening.read(self._text, self._at)
        close = _END_OF_MESSAGE.match(self._text, end)
        # In a substitution, bash also ends a text at a line such as `EOF x)`.
        if close is None or re.search(rf"^\t*{opening.end}", body, re.MULTILINE):
            raise Doubt("it uses the output of a command as arguments")
        self._at = close.end()
        # Bash drops the ends of lines at the end of an output.
        quoted = body.rstrip("\n").replace("'", r"'\''")
        self._line.append(f"'{quoted}'")

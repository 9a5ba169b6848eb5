"""A page as text: what a reader sees of it, with headings, lists and where its links lead."""

from itertools import islice, pairwise
from typing import NamedTuple
from urllib.parse import urljoin

from handrail.tools.html.hiding import StyleSheet, hides
from handrail.tools.html.tokens import Closed, Opened, tokens

# Tags and texts: a page of a book has some thousands.
MOST_TOKENS = 100_000

_MOST_LINK_CHARS = 500

_DROPPED = frozenset(
    {
        *("script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "math"),
        *("canvas", "audio", "video", "noembed", "noframes", "datalist", "map", "select"),
    }
)
_VOID = frozenset(
    {
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr"),
    }
)
_BLOCKS = frozenset(
    {
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "dd",
            "details",
            "dialog",
        ),
        *(
            "div",
            "dl",
            "dt",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "header",
            "html",
        ),
        *("li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot"),
        *("thead", "title", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_BEFORE = {"li": "- ", "title": "# "} | {f"h{level}": "#" * level + " " for level in range(1, 7)}
_APART = frozenset({"p", "title", "table", "pre", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6"})
# What ends by itself where one of the others begins.
_ENDED_BY = {
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "td": frozenset({"td", "th", "tr"}),
    "th": frozenset({"td", "th", "tr"}),
    "tr": frozenset({"tr"}),
    "a": frozenset({"a"}),
    "p": _BLOCKS,
}
# Nothing is seen of these; joiners stay, which some scripts need.
_UNSEEN = dict.fromkeys(
    [
        *(0xAD, 0x34F, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xFFF9, 0xFFFC),
        *range(0xE0000, 0xE0080),
    ]
)


class Readable(NamedTuple):
    """What is seen of a page. `hidden` says that there was more that is not.

    It is `cut` where a page has more tags than anybody has time for.
    """

    text: str
    hidden: bool
    cut: bool = False


class _Element(NamedTuple):
    name: str
    silent: bool
    # Whether it would be text, if it were not kept from its readers.
    hidden: bool
    href: str
    # How many texts were written when it began.
    start: int


_NOTHING = _Element("", silent=False, hidden=False, href="", start=0)


def readable(page: str, *, base: str = "") -> Readable:
    """The text of a page; links are told as they lead from `base`."""
    found = list(islice(tokens(page.translate(_UNSEEN)), MOST_TOKENS + 1))
    sheets = [
        text
        for tag, text in pairwise(found)
        if isinstance(tag, Opened) and tag.name == "style" and isinstance(text, str)
    ]
    writer = _Writer(StyleSheet(sheets), base)
    for token in found[:MOST_TOKENS]:
        match token:
            case Opened():
                writer.open(token)
            case Closed(name):
                writer.close(name)
            case _:
                writer.write(token)
    text = _tidy("".join(writer.pieces))
    return Readable(text, writer.hidden, cut=len(found) > MOST_TOKENS)


class _Writer:
    """Writes down what is seen, tag by tag."""

    def __init__(self, sheet: StyleSheet, base: str):
        self.pieces: list[str] = []
        self.hidden = False
        self._texts = 0
        self._sheet = sheet
        self._has_sheet = sheet.says_something
        self._base = base
        self._open: list[_Element] = []
        # How many of a name are open, so that an end without a beginning costs nothing.
        self._count: dict[str, int] = {}

    def open(self, tag: Opened) -> None:
        name, attributes = tag
        while self._open and name in _ENDED_BY.get(self._open[-1].name, ()):
            self._pop()
        above = self._open[-1] if self._open else _NOTHING
        silent = above.silent or name in _DROPPED or _is_shut(tag)
        hidden = above.hidden
        if not silent and (self._has_sheet or attributes) and self._hides(tag):
            silent = hidden = True
        if name in _VOID:
            if not silent and name in {"br", "hr"}:
                self.pieces.append("\n" if name == "br" else "\n---\n")
            return
        if not silent:
            self._begin(name)
        href = attributes.get("href", "") if name == "a" else ""
        self._open.append(_Element(name, silent, hidden, href, self._texts))
        self._count[name] = self._count.get(name, 0) + 1

    def close(self, name: str) -> None:
        if not self._count.get(name):
            return
        while self._pop() != name:
            pass

    def write(self, text: str) -> None:
        above = self._open[-1] if self._open else _NOTHING
        if above.silent:
            self.hidden = self.hidden or (above.hidden and bool(text.strip()))
        elif self._count.get("pre"):
            self.pieces.append(text)
            self._texts += 1
        else:
            self._write_flowing(text)

    def _write_flowing(self, text: str) -> None:
        words = " ".join(text.split())
        at_start = not self.pieces or self.pieces[-1].endswith((" ", "\n"))
        before = " " if text[:1].isspace() and not at_start else ""
        after = " " if words and text[-1:].isspace() else ""
        self._texts += bool(words)
        if before or words:
            self.pieces.append(f"{before}{words}{after}")

    def _hides(self, tag: Opened) -> bool:
        name, attributes = tag
        return (
            "hidden" in attributes
            or attributes.get("aria-hidden", "").strip().lower() == "true"
            or ("style" in attributes and hides(attributes["style"]))
            or self._sheet.hides(name, attributes)
        )

    def _begin(self, name: str) -> None:
        if name in _BLOCKS:
            self.pieces.append("\n\n" if name in _APART else "\n")
        if before := _BEFORE.get(name):
            self.pieces.append(before)

    def _pop(self) -> str:
        """End what was opened last."""
        name, silent, _, href, start = self._open.pop()
        self._count[name] -= 1
        if silent:
            return name
        if href and self._texts > start:
            self._write_link(href)
        if name in {"td", "th"}:
            self.pieces.append(" | ")
        elif name in _BLOCKS:
            self.pieces.append("\n\n" if name in _APART else "\n")
        return name

    def _write_link(self, href: str) -> None:
        try:
            target = urljoin(self._base, href.strip())
        except ValueError:
            return
        if href.startswith("#") or len(target) > _MOST_LINK_CHARS:
            return
        if target.startswith(("http://", "https://", "mailto:", "/")):
            self.pieces.append(f" ({''.join(target.split())})")


def _is_shut(tag: Opened) -> bool:
    return tag.name == "dialog" and "open" not in tag.attributes


def _tidy(text: str) -> str:
    """No blanks at the ends of lines, and one empty line where there are many."""
    lines: list[str] = []
    for line in (line.rstrip(" \t|") for line in text.split("\n")):
        if line or (lines and lines[-1]):
            lines.append(line)
    return "\n".join(lines).strip("\n")

"""What a page keeps from the eyes of its readers, by styles of one element and by style sheets.

Text that nobody sees is not part of what a page says, and is a favourite place for words that only
a model shall read. This finds the ways that are common. It is no proof that nothing is hidden.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

_MOST_STYLE_CHARS = 4_000
_MOST_SHEET_CHARS = 500_000
_MOST_SELECTORS = 5_000
_MOST_NAMES = 12
_FAR_AWAY = -400.0

_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})[ \t\n\r\f]?|(.))", re.IGNORECASE | re.DOTALL)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_NUMBER = re.compile(r"(-?[0-9]{0,9}\.?[0-9]{1,9})([a-z%]{0,10})")
_COMPOUND = re.compile(r"(?:[a-z][a-z0-9]{0,20})?(?:[.#][a-z0-9_-]{1,100}){0,2}", re.IGNORECASE)
_PART = re.compile(r"[.#]?[^.#]{1,100}")

_GONE = {
    ("display", "none"),
    ("visibility", "hidden"),
    ("visibility", "collapse"),
    ("content-visibility", "hidden"),
    ("color", "transparent"),
    ("-webkit-text-fill-color", "transparent"),
    ("transform", "scale(0)"),
    ("clip-path", "inset(50%)"),
    ("clip-path", "inset(100%)"),
    ("clip-path", "circle(0)"),
}
_SIDES = ("left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top", "translate")


def hides(style: str) -> bool:
    """Whether declarations such as `display: none` keep an element from being seen."""
    said = dict(_declarations(style[:_MOST_STYLE_CHARS]))
    if any(item in _GONE for item in said.items()):
        return True
    return (
        _is_at_most(said.get("opacity"), 0.05)
        or _is_at_most(said.get("font-size"), 1.0, units=("", "px", "pt"))
        or _is_at_most(said.get("font-size"), 0.05, units=("em", "rem", "%", "vw"))
        or any(_is_at_most(said.get(side), _FAR_AWAY) for side in _SIDES)
        or _is_moved_away(said.get("transform", ""))
        or said.get("clip", "").startswith(("rect(0", "rect(1px"))
        or _is_folded(said)
        or _has_the_colour_of_its_ground(said)
    )


class StyleSheet:
    """The simple selectors (`p`, `.note`, `#end`, `p.note`) of a page that hide what they fit."""

    def __init__(self, sheets: Iterable[str]):
        self._selectors: set[frozenset[str]] = set()
        for sheet in sheets:
            for selectors, declarations in _rules(sheet[:_MOST_SHEET_CHARS]):
                if hides(declarations):
                    self._add(selectors)
        self.says_something = bool(self._selectors)
        self._has_pairs = any(len(parts) > 1 for parts in self._selectors)

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether it keeps an element from being seen; never a page as a whole."""
        if not self._selectors or name in {"html", "body"}:
            return False
        classes = attributes.get("class", "").split()[:_MOST_NAMES]
        parts = [name, *(f".{one}" for one in classes), f"#{attributes.get('id', '')}"]
        sizes = (1, 2) if self._has_pairs else (1,)
        return any(
            frozenset(some) in self._selectors
            for size in sizes
            for some in combinations(parts, size)
        )

    def _add(self, selectors: str) -> None:
        for selector in selectors.split(","):
            plain = selector.strip()
            if plain and len(self._selectors) < _MOST_SELECTORS and _COMPOUND.fullmatch(plain):
                parts = _PART.findall(plain)
                if not plain.startswith((".", "#")):
                    parts[0] = parts[0].lower()
                self._selectors.add(frozenset(parts))


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and their declarations, but for those that hold only on paper or small screens."""
    # For each block that is open: how it begins, and whether what is in it counts.
    blocks: list[tuple[str, bool]] = []
    before = ""
    for piece in re.split(r"([{}])", _COMMENT.sub(" ", sheet)):
        match piece:
            case "{":
                counts = not blocks or blocks[-1][1]
                prelude = before.rpartition(";")[2].strip()
                conditional = prelude.startswith("@") and ("(" in prelude or "print" in prelude)
                blocks.append((prelude, counts and not conditional))
                before = ""
            case "}":
                if blocks:
                    prelude, counts = blocks.pop()
                    if counts and not prelude.startswith("@"):
                        yield prelude, before
                before = ""
            case _:
                before = piece


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    plain = _COMMENT.sub("", _ESCAPE.sub(_unescape, style)).lower().replace("!important", "")
    for declaration in plain.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            yield name.strip(), " ".join(value.split())


def _unescape(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[2]
    number = int(escape[1], 16)
    return chr(number) if 0 < number < 0x110000 else " "


def _is_at_most(value: str | None, most: float, *, units: tuple[str, ...] | None = None) -> bool:
    number = None if value is None else _NUMBER.fullmatch(value)
    if number is None or (units is not None and number[2] not in units):
        return False
    size = float(number[1])
    return size <= most or (most >= 0 and size == 0)


def _is_moved_away(transform: str) -> bool:
    inner = transform.partition("translate")[2].partition("(")[2].partition(")")[0]
    return any(_is_at_most(part.strip(), _FAR_AWAY) for part in inner.split(",")[:3])


def _is_folded(said: Mapping[str, str]) -> bool:
    """Whether there is no room, and what does not fit is not shown."""
    if "hidden" not in said.get("overflow", "") and "clip" not in said.get("overflow", ""):
        return False
    sizes = ("width", "height", "max-width", "max-height")
    return any(_is_at_most(said.get(size), 1.0, units=("", "px")) for size in sizes)


def _has_the_colour_of_its_ground(said: Mapping[str, str]) -> bool:
    ground = said.get("background-color", said.get("background"))
    return ground is not None and said.get("color") == ground

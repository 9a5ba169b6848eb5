"""Tables in which no word is ever cut: in a terminal of any width, and for programs that read them.

Where nobody has a screen to fit, a row is a line, however long.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len
from rich.text import Text

from handrail.cli import output

_GAP = 2
_INDENT = 4
_LEAST_WIDTH = 20
# Blanks in front of the first word belong to it.
_WORD = re.compile(r"(?P<word>\A\s*\S+|\S+)(?P<blanks>\s*)")


class Rows:
    """A table under its headings, or without any; cells are markup. `right` columns end together.

    Where the words do not fit beside each other, each row becomes a few lines.
    """

    def __init__(self, *headings: str, right: Sequence[int] = ()):
        self._headings = [Text(heading, style="dim") for heading in headings]
        self._right = frozenset(right)
        self._rows: list[list[Text]] = []

    def add_row(self, *cells: str) -> None:
        self._rows.append([Text.from_markup(cell) for cell in cells])

    def print(self) -> None:
        for line in self._lines():
            output.console.print(line, soft_wrap=True)

    def _lines(self) -> Iterator[Text]:
        rows = [self._headings, *self._rows] if self._headings else self._rows
        columns = [*zip(*rows, strict=True)]
        most = [max(map(_longest_line, column)) for column in columns]
        if not output.console.is_terminal:
            yield from self._beside_each_other(rows, most)
            return
        least = [max(map(_longest_word, column)) for column in columns]
        room = output.console.width - _GAP * (len(columns) - 1)
        if sum(least) <= room:
            yield from self._beside_each_other(rows, _shared(room, least, most))
        elif self._headings:
            yield from self._beneath_each_other()
        else:
            for row in self._rows:
                yield from _flowing(row)

    def _beside_each_other(
        self, rows: Sequence[Sequence[Text]], widths: Sequence[int]
    ) -> Iterator[Text]:
        for row in rows:
            cells = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
            for parts in zip_longest(*cells, fillvalue=Text()):
                line = Text()
                for at, (part, width) in enumerate(zip(parts, widths, strict=True)):
                    front, blank = " " * (_GAP if at else 0), " " * (width - part.cell_len)
                    cell = (blank, part) if at in self._right else (part, blank)
                    line = Text.assemble(line, front, *cell)
                line.rstrip()
                yield line

    def _beneath_each_other(self) -> Iterator[Text]:
        """Every cell on lines of its own, behind its heading."""
        indent = max(heading.cell_len for heading in self._headings) + _GAP
        for number, row in enumerate(self._rows):
            if number:
                yield Text()
            for heading, cell in zip(self._headings, row, strict=True):
                front = Text.assemble(heading, " " * (indent - heading.cell_len))
                yield from _hanging(cell, indent, front)


def say_indented(markup: str, indent: int) -> None:
    """Say something behind a margin, on as many lines as the terminal needs."""
    for line in _hanging(Text.from_markup(markup), indent, Text(" " * indent)):
        output.console.print(line, soft_wrap=True)


def _flowing(row: Sequence[Text]) -> Iterator[Text]:
    """Cells in a line as long as they fit, and the rest behind a margin."""
    line = Text()
    for cell in row:
        joined = line + " " * _GAP + cell if line else cell
        if "\n" not in cell.plain and joined.cell_len <= output.console.width:
            line = joined
            continue
        if line:
            yield line
        yield from _hanging(cell, _INDENT, Text(" " * _INDENT))
        line = Text()
    if line:
        yield line


def _hanging(cell: Text, indent: int, front: Text) -> Iterator[Text]:
    is_terminal = output.console.is_terminal
    room = max(output.console.width - indent, _LEAST_WIDTH) if is_terminal else _longest_line(cell)
    for number, part in enumerate(_wrapped(cell, room)):
        yield (Text(" " * indent) if number else front) + part


def _wrapped(cell: Text, width: int) -> list[Text]:
    """Lines of whole words; a word that is longer than the line is left as it is."""
    lines = cell.split("\n", allow_blank=True)
    parts = [part for line in lines for part in line.divide(_breaks(line.plain, width))]
    for part in parts:
        part.rstrip()
    return parts


def _breaks(line: str, width: int) -> Iterator[int]:
    """Where in a line the next one has to begin."""
    used = 0
    for word in _WORD.finditer(line):
        blanks, length = cell_len(word["blanks"]), cell_len(word["word"])
        if used and used + length > width:
            yield word.start()
            used = 0
        used += length + blanks


def _longest_line(cell: Text) -> int:
    return max((line.cell_len for line in cell.split("\n", allow_blank=True)), default=0)


def _longest_word(cell: Text) -> int:
    return max(map(cell_len, cell.plain.split()), default=0)


def _shared(room: int, least: Sequence[int], most: Sequence[int]) -> list[int]:
    """Widths that fit: the widest columns give way first, each down to its longest word."""
    widths = [min(width, room) for width in most]
    while sum(widths) > room:
        giving = [at for at, width in enumerate(widths) if width > least[at]]
        widths[max(giving, key=widths.__getitem__)] -= 1
    return widths

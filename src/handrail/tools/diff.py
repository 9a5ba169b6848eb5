"""The diff that a person is shown before a file is written: right, short and made in a moment."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from handrail.core.visible import visible
from handrail.tools.line_match import common_runs

CONTEXT_LINES = 3
SHOWN_BYTES = 200_000
SHOWN_LINE = 2_000
SHOWN_REMOVED = 200
# A change beyond this is not compared: the new text is shown from where the change begins.
COMPARED_CHARS = 1_000_000
COMPARED_LINES = 20_000

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_Marked = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff; `whole` if every line that changes is in it, to its end."""

    text: str
    whole: bool


def unified_diff(path: str, old: str | None, new: str) -> Diff:
    """What changes when `new` comes in place of `old`, or of nothing."""
    if old == new:
        return Diff("", whole=True)
    printer = _Printer()
    printer.add("--- /dev/null" if old is None else f"--- a/{path}")
    printer.add(f"+++ b/{path}")
    first, old_part, new_part = _changed_part(old or "", new)
    if _is_small(old_part) and _is_small(new_part):
        for hunk in _hunks(_script(old_part, new_part), first):
            printer.add_hunk(hunk)
    else:
        printer.add_beginning(first, old_part, new_part)
    return printer.diff()


def _is_small(text: str) -> bool:
    return len(text) <= COMPARED_CHARS and text.count("\n") <= COMPARED_LINES


def _changed_part(old: str, new: str) -> tuple[int, str, str]:
    """How many lines stay before the change, and both texts without what is far from it."""
    shorter = min(len(old), len(new))
    head = _how_far(shorter, lambda start, end: old[start:end] == new[start:end])
    tail = _how_far(
        shorter - head,
        lambda start, end: (
            old[len(old) - end : len(old) - start] == new[len(new) - end : len(new) - start]
        ),
    )
    start, end = head, len(new) - tail
    for _ in range(CONTEXT_LINES + 1):
        start = new.rfind("\n", 0, max(start - 1, 0)) + 1
        end = new.find("\n", end) + 1 or len(new)
    return new.count("\n", 0, start), old[start : len(old) - len(new) + end], new[start:end]


def _how_far(limit: int, alike: Callable[[int, int], bool]) -> int:
    """How far two texts are alike, in strides that become shorter."""
    reached, stride = 0, 1 << 16
    while stride:
        while reached + stride <= limit and alike(reached, reached + stride):
            reached += stride
        stride //= 2
    return reached


def _script(old: str, new: str) -> list[_Marked]:
    """Every line, marked as one that stays, goes or comes."""
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    script: list[_Marked] = []
    i = j = 0
    for next_i, next_j, count in common_runs(old_lines, new_lines):
        script += (("-", line) for line in old_lines[i:next_i])
        script += (("+", line) for line in new_lines[j:next_j])
        i, j = next_i + count, next_j + count
        script += ((" ", line) for line in old_lines[next_i:i])
    return script


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines that change, with a few around them, and how many stand before them in each text."""

    old_before: int
    new_before: int
    lines: list[_Marked]

    @property
    def header(self) -> str:
        old, new = self._count("+"), self._count("-")
        # A side without lines is told by the line before it.
        old_start, new_start = self.old_before + (old > 0), self.new_before + (new > 0)
        return f"@@ -{old_start},{old} +{new_start},{new} @@"

    def _count(self, other_side: str) -> int:
        return sum(mark != other_side for mark, _ in self.lines)


def _hunks(script: list[_Marked], first: int) -> Iterator[_Hunk]:
    near: set[int] = set()
    for at, (mark, _) in enumerate(script):
        if mark != " ":
            near.update(range(at - CONTEXT_LINES, at + CONTEXT_LINES + 1))
    old_before = new_before = first
    for is_near, group in groupby(enumerate(script), lambda numbered: numbered[0] in near):
        lines = [line for _, line in group]
        if is_near:
            yield _Hunk(old_before, new_before, lines)
        old_before += sum(mark != "+" for mark, _ in lines)
        new_before += sum(mark != "-" for mark, _ in lines)


class _Printer:
    """Takes lines until there are enough, and remembers whether something was left out."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._room = SHOWN_BYTES
        self._whole = True

    def diff(self) -> Diff:
        return Diff("".join(f"{line}\n" for line in self._lines), self._whole)

    def add(self, line: str) -> None:
        if self._room < 0:
            return
        self._room -= len(line.encode(errors="replace")) + 1
        if self._room < 0:
            self._whole = False
        self._lines.append(line if self._room >= 0 else "[the rest is too long to be shown]")

    def note(self, words: str) -> None:
        """Say what is left out."""
        self._whole = False
        self.add(f"[{words}]")

    def add_beginning(self, before: int, old: str, new: str) -> None:
        gone, come = old.count("\n"), new.count("\n")
        self.note(f"too large to compare: {gone:,} lines behind line {before:,} become {come:,}")
        for line in _LINE.finditer(new):
            self._add_line("+", line.group())
            if self._room < 0:
                break

    def add_hunk(self, hunk: _Hunk) -> None:
        self.add(hunk.header)
        for mark, group in groupby(hunk.lines, lambda line: line[0]):
            lines = [line for _, line in group]
            # What comes matters more than what goes, and must not be crowded out by it.
            shown = lines[:SHOWN_REMOVED] if mark == "-" else lines
            for line in shown:
                self._add_line(mark, line)
            if len(shown) < len(lines):
                self.note(f"{len(lines) - len(shown):,} more lines are removed")

    def _add_line(self, mark: str, line: str) -> None:
        text = line.removesuffix("\n")
        self.add(mark + visible(text[:SHOWN_LINE], keep="\t"))
        if len(text) > SHOWN_LINE:
            self.note(f"{len(text) - SHOWN_LINE:,} more characters in this line")
        if not line.endswith("\n"):
            self.add("\\ No newline at end of file")

r"""The diff that a person is shown before a file is written: right, short and made in a moment.

Every line of the text begins with a sign, so no content of a file can pass for anything else:
a space, `+` or `-` for a line of the file, `@@` for a hunk, `\` for a remark, `[` for a note of
something that is not shown. A diff without such notes shows the whole change.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from handrail.core.visible import visible
from handrail.tools.line_match import common_runs

CONTEXT_LINES = 3
SHOWN_BYTES = 200_000
SHOWN_LINE = 2_000
# How many lines are shown of the beginning, and of the end, of a run that is too long.
EDGE_LINES = 100
# A larger change is not compared: the old lines are shown as removed, the new ones as added.
COMPARED_CHARS = 1_000_000
COMPARED_LINES = 20_000

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# More than a gap takes: its notes, and the header of the hunk behind it.
_GAP_BYTES = 150


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff, and how many lines it adds and removes.

    `not_shown` says what is missing from the text, and is empty if nothing is.
    """

    text: str
    not_shown: str = ""
    added: int = 0
    removed: int = 0

    @property
    def whole(self) -> bool:
        return not self.not_shown


def unified_diff(path: str, old: str | None, new: str | None) -> Diff:
    """What changes when `new` comes in place of `old`; None stands for no file."""
    if old == new:
        return Diff("")
    first, old_part, new_part = _changed_part(old or "", new or "")
    compared = _is_small(old_part) and _is_small(new_part)
    script = (_compare if compared else _replace)(old_part, new_part)
    pieces = _shorten(_without_far_lines(script))
    not_shown = _not_shown(pieces)
    name = visible(path)
    rows = [
        "--- /dev/null" if old is None else f"--- a/{name}",
        "+++ /dev/null" if new is None else f"+++ b/{name}",
    ]
    if not_shown:
        # Without lines that go or lines that come, there was nothing to compare.
        uncompared = not compared and {"-", "+"} <= {piece.mark for piece in pieces}
        why = "too large to compare, so every line counts as changed: " if uncompared else ""
        rows.append(f"[{why}{_size(pieces)}; {not_shown}]")
    if not pieces:
        rows.append(f"\\ The {'old' if new is None else 'new'} file is empty")
    rows += _rows(pieces, first)
    added, removed = (_count(one for one in pieces if one.mark == mark) for mark in "+-")
    return Diff("".join(f"{row}\n" for row in rows), not_shown, added, removed)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that stays (` `), goes (`-`) or comes (`+`), with its line end."""

    mark: str
    text: str

    @property
    def count(self) -> int:
        return 1

    @property
    def size(self) -> int:
        return _bytes(self.text)

    @property
    def unshown_chars(self) -> int:
        return max(0, len(self.text.removesuffix("\n")) - SHOWN_LINE)

    def rows(self) -> Iterator[str]:
        text = self.text.removesuffix("\n")
        if self.unshown_chars:
            start, end = text[: SHOWN_LINE // 2], text[-SHOWN_LINE // 2 :]
            yield f"{self.mark}{_visible(start)} … {_visible(end)}"
            yield f"[{self.unshown_chars:,} characters in the middle of this line not shown]"
        else:
            yield self.mark + _visible(text)
        if not self.text.endswith("\n"):
            yield "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class _Gap:
    """Lines of one mark that are counted instead of shown."""

    mark: str
    count: int
    size: int

    def rows(self) -> Iterator[str]:
        # A diff never shows all the lines that stay.
        if self.mark != " ":
            verb = "removed" if self.mark == "-" else "added"
            yield f"[{count_lines(self.count, verb)} not shown]"


_Piece = _Line | _Gap


def _is_small(text: str) -> bool:
    return len(text) <= COMPARED_CHARS and text.count("\n") <= COMPARED_LINES


def _changed_part(old: str, new: str) -> tuple[int, str, str]:
    """How many lines stay before the change, and both texts without what is far from it."""
    head, tail = _common_ends(old, new)
    start, end = head, len(new) - tail
    for _ in range(CONTEXT_LINES + 1):
        start = new.rfind("\n", 0, max(start - 1, 0)) + 1
        end = new.find("\n", end) + 1 or len(new)
    return new.count("\n", 0, start), old[start : len(old) - len(new) + end], new[start:end]


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at the beginning, and of the rest at the end."""
    shorter = min(len(old), len(new))
    head = _how_far(shorter, lambda start, end: old[start:end] == new[start:end])
    tail = _how_far(
        shorter - head,
        lambda start, end: (
            old[len(old) - end : len(old) - start] == new[len(new) - end : len(new) - start]
        ),
    )
    return head, tail


def _how_far(limit: int, alike: Callable[[int, int], bool]) -> int:
    """How far two texts are alike, in strides that become shorter."""
    reached, stride = 0, 1 << 16
    while stride:
        while reached + stride <= limit and alike(reached, reached + stride):
            reached += stride
        stride //= 2
    return reached


def _compare(old: str, new: str) -> list[_Piece]:
    """Every line, marked as one that stays, goes or comes."""
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    script: list[_Piece] = []
    i = j = 0
    for next_i, next_j, count in common_runs(old_lines, new_lines):
        script += (_Line("-", line) for line in old_lines[i:next_i])
        script += (_Line("+", line) for line in new_lines[j:next_j])
        i, j = next_i + count, next_j + count
        script += (_Line(" ", line) for line in old_lines[next_i:i])
    return script


def _replace(old: str, new: str) -> list[_Piece]:
    """All old lines go and all new lines come, apart from those that both begin or end with."""
    head, tail = _common_ends(old, new)
    head = new.rfind("\n", 0, head) + 1
    if not all(_begins_line(text, len(text) - tail) for text in (old, new)):
        tail = len(new) - (new.find("\n", len(new) - tail) + 1 or len(new))
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    return [
        *_edges(" ", new[:head]),
        *_edges("-", gone),
        # Two hunks: lines that were not compared do not belong together.
        *([_Gap(" ", 0, 0)] if gone and come else []),
        *_edges("+", come),
        *_edges(" ", new[len(new) - tail :]),
    ]


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _edges(mark: str, text: str) -> Iterator[_Piece]:
    """The first and the last lines of a text that may be too long to be made into lines."""
    start, end = 0, len(text)
    for _ in range(EDGE_LINES):
        start = text.find("\n", start) + 1 or len(text)
        end = text.rfind("\n", 0, max(end - 1, 0)) + 1
    if start >= end:
        yield from (_Line(mark, line) for line in _LINE.findall(text))
        return
    yield from (_Line(mark, line) for line in _LINE.findall(text[:start]))
    yield _Gap(mark, text.count("\n", start, end), _bytes(text[start:end]))
    yield from (_Line(mark, line) for line in _LINE.findall(text[end:]))


def _without_far_lines(script: Sequence[_Piece]) -> list[_Piece]:
    """Lines that stay become a gap where they are far from those that change."""
    near: set[int] = set()
    for at, piece in enumerate(script):
        if piece.mark != " ":
            near.update(range(at - CONTEXT_LINES, at + CONTEXT_LINES + 1))
    pieces: list[_Piece] = []
    for is_near, group in groupby(enumerate(script), lambda numbered: numbered[0] in near):
        grouped = [piece for _, piece in group]
        pieces += grouped if is_near else _gaps(grouped)
    return pieces


def _gaps(pieces: Sequence[_Piece]) -> Iterator[_Gap]:
    for mark in " -+":
        if marked := [piece for piece in pieces if piece.mark == mark]:
            yield _Gap(mark, _count(marked), sum(piece.size for piece in marked))


def _shorten(pieces: list[_Piece]) -> list[_Piece]:
    """Leave out the middle of what is too long, so that both ends are seen."""
    # Added lines matter more than removed ones, and must not be crowded out by them.
    pieces = _shorten_runs(pieces, "-")
    if _room(pieces) > SHOWN_BYTES:
        pieces = _shorten_runs(pieces, "+")
    if _room(pieces) > SHOWN_BYTES:
        start, end = _fitting(pieces), len(pieces) - _fitting(pieces[::-1])
        pieces = [*pieces[:start], *_gaps(pieces[start:end]), *pieces[end:]]
    return pieces


def _shorten_runs(pieces: Iterable[_Piece], mark: str) -> list[_Piece]:
    shortened: list[_Piece] = []
    for is_run, group in groupby(pieces, lambda one: isinstance(one, _Line) and one.mark == mark):
        run = list(group)
        if is_run and len(run) > 2 * EDGE_LINES:
            middle = _gaps(run[EDGE_LINES:-EDGE_LINES])
            run = [*run[:EDGE_LINES], *middle, *run[-EDGE_LINES:]]
        shortened += run
    return shortened


def _fitting(pieces: Iterable[_Piece]) -> int:
    """How many of the first pieces fit into half the room."""
    room = SHOWN_BYTES // 2
    for count, piece in enumerate(pieces):
        room -= _room([piece])
        if room < 0:
            return count
    raise AssertionError("only what does not fit is shortened")


def _room(pieces: Iterable[_Piece]) -> int:
    """How many bytes pieces take, or a few more."""
    return sum(
        _GAP_BYTES if isinstance(piece, _Gap) else sum(_bytes(row) + 1 for row in piece.rows())
        for piece in pieces
    )


def _rows(pieces: Iterable[_Piece], first: int) -> Iterator[str]:
    """Hunks of lines, and between them notes of what is not shown."""
    old_before = new_before = first
    for is_hunk, group in groupby(pieces, lambda piece: isinstance(piece, _Line)):
        grouped = list(group)
        old = _count(piece for piece in grouped if piece.mark != "+")
        new = _count(piece for piece in grouped if piece.mark != "-")
        if is_hunk:
            # A side without lines is told by the line before it.
            old_start, new_start = old_before + (old > 0), new_before + (new > 0)
            yield f"@@ -{old_start},{old} +{new_start},{new} @@"
        for piece in grouped:
            yield from piece.rows()
        old_before, new_before = old_before + old, new_before + new


def _not_shown(pieces: Sequence[_Piece]) -> str:
    changed = [piece for piece in pieces if piece.mark != " "]
    lines = _count(piece for piece in changed if isinstance(piece, _Gap))
    chars = sum(piece.unshown_chars for piece in pieces if isinstance(piece, _Line))
    told = [
        f"{lines:,} of {count_lines(_count(changed), 'changed')}" if lines else "",
        f"{chars:,} characters of long lines" if chars else "",
    ]
    return f"{' and '.join(filter(None, told))} are not shown" if lines or chars else ""


def _size(pieces: Sequence[_Piece]) -> str:
    """How much changes in all, shown or not."""
    told: list[str] = []
    for mark, verb in (("-", "removed"), ("+", "added")):
        marked = [piece for piece in pieces if piece.mark == mark]
        size = sum(piece.size for piece in marked)
        if marked:
            told.append(f"{count_lines(_count(marked), verb)} ({size:,} bytes as UTF-8)")
    return " and ".join(told)


def _count(pieces: Iterable[_Piece]) -> int:
    return sum(piece.count for piece in pieces)


def count_lines(count: int, verb: str = "") -> str:
    verb = f"{verb} " if verb else ""
    return f"1 {verb}line" if count == 1 else f"{count:,} {verb}lines"


def _visible(text: str) -> str:
    return visible(text, keep="\t")


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))

"""Wildcards as bash reads them, matched in time linear in the pattern times the name.

Agents write these patterns, and repositories bring the names. `re` tries every way to divide a name
among several stars; here each star takes the first place that fits and never gives it back.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

# Right behind the bracket that opens a class, one that closes is meant as it stands.
_PIECES = re.compile(r"\*+|\?|\[[!^]?+\]?+[^\]]*+\]|.", re.DOTALL)
_MEMBERS = re.compile(r"(.)-(.)|.", re.DOTALL)


@lru_cache(maxsize=256)
def compile_wildcard(text: str) -> re.Pattern[str]:
    """An expression for `fullmatch`, for one part of a path."""
    pieces = _PIECES.findall(text)
    runs = [(is_star, [*run]) for is_star, run in groupby(pieces, key=_is_star)]
    return re.compile("".join(_joined(runs)), re.DOTALL)


def _joined(runs: list[tuple[bool, list[str]]]) -> Iterator[str]:
    """Each star is one atomic group with the text behind it; the last text is tied to the end."""
    last = len(runs) - 1
    for number, (is_star, run) in enumerate(runs):
        if is_star:
            continue
        fixed = "".join(map(_translated, run))
        follows_star = number > 0
        if follows_star and number < last:
            yield f"(?>.*?{fixed})"
        else:
            yield f".*{fixed}" if follows_star else fixed
    if runs and runs[-1][0]:
        yield ".*"


def _is_star(piece: str) -> bool:
    return piece.startswith("*")


def _translated(piece: str) -> str:
    if piece == "?":
        return "."
    return _class(piece[1:-1]) if len(piece) > 1 else re.escape(piece)


def _class(members: str) -> str:
    """One character of several; as in bash either sign negates, and no range runs backwards."""
    is_negated = members[0] in "!^"
    ranges = "".join(_ranges(members[1:] if is_negated else members))
    if not ranges:
        return "." if is_negated else "(?!)"
    return f"[{'^' if is_negated else ''}{ranges}]"


def _ranges(members: str) -> Iterable[str]:
    for member in _MEMBERS.finditer(members):
        first, last = member.groups(default=member[0])
        if first <= last:
            yield f"{re.escape(first)}-{re.escape(last)}"

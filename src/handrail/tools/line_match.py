"""Which lines two texts have in common, found in bounded time.

Whoever writes one of the texts could make an ordinary comparison take minutes. Here lines that
stand once in each text tie them together; only the small gaps between those are compared in full.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Run = tuple[int, int, int]

# Steps for all gaps together, by the worst that can happen in each: well under a second.
_EFFORT = 30_000_000


def common_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[Run]:
    """Lines both have, in order, as (start in the old, start in the new, how many)."""
    effort = _EFFORT
    i = j = 0
    for next_i, next_j in [*_anchors(old, new), (len(old), len(new))]:
        head = _alike(old[i:next_i], new[j:next_j])
        yield i, j, head
        i, j = i + head, j + head
        tail = _alike(old[i:next_i][::-1], new[j:next_j][::-1])
        left, right = old[i : next_i - tail], new[j : next_j - tail]
        cost = len(left) * len(right) * min(len(left), len(right))
        if cost <= effort:
            effort -= cost
            for run in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
                yield i + run.a, j + run.b, run.size
        # The anchor itself stands behind the gap; behind the last gap stands nothing.
        yield next_i - tail, next_j - tail, tail + (next_i < len(old))
        i, j = next_i + 1, next_j + 1


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """How many lines the two have in common at the beginning."""
    for count, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return count
    return min(len(left), len(right))


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that stand once in each text, as far as they come in the same order."""
    in_old, in_new = Counter(old), Counter(new)
    place = {line: j for j, line in enumerate(new) if in_new[line] == 1}
    return _longest_rising(
        [(i, place[line]) for i, line in enumerate(old) if in_old[line] == 1 and line in place]
    )


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs, in order, whose second numbers rise as well."""
    lowest_end: list[int] = []
    ending: list[int] = []
    before: list[int] = []
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(lowest_end, number)
        before.append(ending[length - 1] if length else -1)
        lowest_end[length : length + 1] = [number]
        ending[length : length + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = ending[-1] if ending else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]

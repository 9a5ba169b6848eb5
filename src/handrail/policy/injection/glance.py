"""A first glance: where the words of a text weigh so much that its sentences are worth reading."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from handrail.policy.injection.normalise import Folded
from handrail.policy.injection.weighing import Weights

# Some words together must weigh so much, and so much with some more when each counts once.
ENOUGH = 200
ENOUGH_ONCE = 260
_MORE = 6
_TOGETHER = 12
_STEP = 6
_TOGETHER_WIDE = 10
_BLOCK = 1_500
_OVERLAP = 120
_BEFORE = 120
_AFTER = 180
_MOST_REMEMBERED = 50_000
_LONGEST_REMEMBERED = 40

_Span = tuple[int, int]


class Block(NamedTuple):
    """Where some words of a text begin, how many characters they are in all, and the words."""

    start: int
    length: int
    words: list[str]


def blocks_of(folded: Folded) -> list[Block]:
    """The words of a text in blocks that overlap a little, so that none is cut apart in all."""
    parts = (
        (start, folded.words[start : start + _BLOCK + _OVERLAP])
        for start in range(0, len(folded.words), _BLOCK)
    )
    return [Block(start, len(part), part.split()) for start, part in parts]


class Glance:
    """What each word weighs by itself, found out when it is met first."""

    def __init__(self, weights: Weights):
        self._weights = weights
        self._known = _Known(weights)

    def regions(self, folded: Folded, blocks: Sequence[Block]) -> list[_Span]:
        """Stretches of a folded text that are worth reading; they do not overlap."""
        heavy = [*self._heavy(blocks)]
        if not folded.text.isascii():
            heavy += self._heavy_wide(folded.text)
        heavy += [(at, at) for at in folded.disguised]
        heavy.sort()
        regions: list[_Span] = []
        for start, end in heavy:
            begin, stop = max(start - _BEFORE, 0), end + _AFTER
            if regions and begin <= regions[-1][1]:
                regions[-1] = (regions[-1][0], max(stop, regions[-1][1]))
            else:
                regions.append((begin, stop))
        return regions

    def _heavy(self, blocks: Sequence[Block]) -> Iterator[_Span]:
        """Where words stand together that weigh enough."""
        weigh = self._known.__getitem__
        for begin, long, words in blocks:
            sums = [0, *accumulate(map(weigh, words))]
            for first in _heavy_runs(sums, _TOGETHER, _STEP):
                some = words[max(first - _MORE, 0) : first + _TOGETHER + _MORE]
                if sum(map(weigh, set(some))) < ENOUGH_ONCE:
                    continue
                # About where they stand is enough: more around them is read anyway.
                width = long / len(words)
                yield begin + int(first * width), begin + int((first + _TOGETHER) * width)

    def _heavy_wide(self, text: str) -> Iterator[_Span]:
        """The same for scripts without blanks: only what is known is a word there."""
        matches = list(self._weights.lexicon.wide_pattern.finditer(text))
        sums = [0, *accumulate(self._known[match.group()] for match in matches)]
        for first in _heavy_runs(sums, _TOGETHER_WIDE, 2):
            last = matches[min(first + _TOGETHER_WIDE, len(matches)) - 1]
            yield matches[first].start(), last.end()


def _heavy_runs(sums: Sequence[int], together: int, step: int) -> list[int]:
    """At which word each run begins that weighs enough."""
    many = len(sums) - 1
    if many < together:
        return [0] if many and sums[-1] >= ENOUGH else []
    runs = zip(sums[::step], sums[together::step], strict=False)
    heavy = [step * number for number, (low, high) in enumerate(runs) if high - low >= ENOUGH]
    last = many - together
    return [*heavy, last] if last % step and sums[-1] - sums[last] >= ENOUGH else heavy


class _Known(dict[str, int]):
    def __init__(self, weights: Weights):
        super().__init__()
        self._weights = weights

    def __missing__(self, word: str) -> int:
        weight = self._weights.of_word(word)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[word] = weight
        return weight

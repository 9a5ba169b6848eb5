"""A first glance: where the words of a text weigh so much that its sentences are worth reading."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat

from handrail.policy.injection.concepts import BEGINNING
from handrail.policy.injection.normalise import Folded
from handrail.policy.injection.weighing import Weights

# Some words together must weigh so much, each counted once, and so much with some more.
ENOUGH = 225
ENOUGH_WITH_MORE = 240
_MORE = 6
_TOGETHER = 12
_STEP = 6
_TOGETHER_WIDE = 10
_BLOCK = 1_500
_BEFORE = 120
_AFTER = 180
_MOST_REMEMBERED = 50_000
# What is longer is no word that anybody would say.
_LONGEST_WORD = 40

_Span = tuple[int, int]


class Words:
    """All words of a folded text, and about where they stand: that is known by blocks."""

    def __init__(self, folded: Folded):
        self.all: list[str] = []
        self._starts = [0]
        self._firsts = [0]
        written, end = folded.words, 0
        while end < len(written):
            start, end = end, written.find(" ", end + _BLOCK)
            end = len(written) if end < 0 else end
            self.all += written[start:end].split()
            self._starts.append(end)
            self._firsts.append(len(self.all))

    def about(self, number: int) -> int:
        """About where a word stands, by how many words stand before it."""
        after = bisect_right(self._firsts, number)
        if after == len(self._firsts):
            return self._starts[-1]
        first, start = self._firsts[after - 1], self._starts[after - 1]
        width = (self._starts[after] - start) / (self._firsts[after] - first)
        return start + int((number - first) * width)


class Glance:
    """What words weigh by themselves. Most weigh nothing, and are not known here."""

    def __init__(self, weights: Weights):
        self._weights = weights
        self._stems = weights.lexicon.stems
        self._own = {
            word: weights.of_word(word)
            for word in [*weights.words, *weights.lexicon.whole, *weights.lexicon.wide]
        }
        self._known = dict(self._own)

    def regions(
        self, folded: Folded, words: Words, different: Iterable[str]
    ) -> list[_Span]:
        """Stretches of a folded text that are worth reading; they do not overlap.

        `different` are its words, each once.
        """
        known = self._look_up(different)
        heavy = [*_heavy(known, words)]
        if not folded.text.isascii():
            heavy += self._heavy_wide(known, folded.text)
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

    def _look_up(self, words: Iterable[str]) -> Mapping[str, int]:
        """What these words weigh, of those that weigh anything.

        A word that begins like a stem is looked up when it is met first.
        """
        stems, known = self._stems, self._known
        for word in [word for word in words if word[:BEGINNING] in stems and word not in known]:
            if len(word) <= _LONGEST_WORD:
                known[word] = self._weights.of_word(word)
        if len(known) >= _MOST_REMEMBERED:
            # Whoever is using them meanwhile keeps the old ones.
            self._known = dict(self._own)
        return known

    def _heavy_wide(self, known: Mapping[str, int], text: str) -> Iterator[_Span]:
        """The same for scripts without blanks: only what is known is a word there."""
        matches = list(self._weights.lexicon.wide_pattern.finditer(text))
        sums = [0, *accumulate(known[match.group()] for match in matches)]
        for first in _heavy_runs(sums, _TOGETHER_WIDE, 2):
            last = matches[min(first + _TOGETHER_WIDE, len(matches)) - 1]
            yield matches[first].start(), last.end()


def _heavy(known: Mapping[str, int], words: Words) -> Iterator[_Span]:
    """Where words stand together that weigh enough."""
    weigh, nothing = known.get, repeat(0)
    sums = [0, *accumulate(map(weigh, words.all, nothing))]
    for first in _heavy_runs(sums, _TOGETHER, _STEP):
        once = {*words.all[first : first + _TOGETHER]}
        more = {*words.all[max(first - _MORE, 0) : first + _TOGETHER + _MORE]}
        if sum(map(weigh, once, nothing)) < ENOUGH:
            continue
        if sum(map(weigh, more, nothing)) >= ENOUGH_WITH_MORE:
            # About where they stand is enough: more around them is read anyway.
            yield words.about(first), words.about(first + _TOGETHER)


def _heavy_runs(sums: Sequence[int], together: int, step: int) -> list[int]:
    """At which word each run begins that weighs enough."""
    many = len(sums) - 1
    if many < together:
        return [0] if many and sums[-1] >= ENOUGH else []
    runs = zip(sums[::step], sums[together::step], strict=False)
    heavy = [step * number for number, (low, high) in enumerate(runs) if high - low >= ENOUGH]
    last = many - together
    return [*heavy, last] if last % step and sums[-1] - sums[last] >= ENOUGH else heavy

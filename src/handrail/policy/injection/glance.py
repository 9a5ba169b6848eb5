"""A first glance: where the words of a text weigh so much that its sentences are worth reading."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from operator import sub
from typing import NamedTuple

from handrail.policy.injection.concepts import BEGINNING
from handrail.policy.injection.encoded import disguise_of
from handrail.policy.injection.normalise import Folded
from handrail.policy.injection.weighing import Weights

# Some words together must weigh so much, each counted once, and so much with some more.
ENOUGH = 265
ENOUGH_WITH_MORE = 250
ENOUGH_WIDE = 200
_MORE = 6
# What words of these concepts weigh at least here: together they may be a command.
_LEAST = {"drop": 120, "order": 95, "prior": 80}
_TOGETHER = 12
_STEP = 6
_TOGETHER_WIDE = 10
_PART = 3_000
_CARRIED = 18
_MOST_CARRIED = 600
_BEFORE = 120
_AFTER = 120
_MOST_REMEMBERED = 50_000
# What is longer is no word that anybody would say.
_LONGEST_WORD = 40

_Span = tuple[int, int]


class Seen(NamedTuple):
    """What a glance at a text sees: what is worth reading, and its less usual words, each once."""

    regions: list[_Span]
    unusual: set[str]


class Glance:
    """What words weigh by themselves. Most weigh nothing, and are not known here."""

    def __init__(self, weights: Weights):
        self._weights = weights
        self._stems = {first: (*stems,) for first, stems in weights.lexicon.stems.items()}
        names = [concept.name for concept in weights.lexicon.concepts]
        self._least = {names.index(name): least for name, least in _LEAST.items()}
        self._own = {
            word: self._weigh(word)
            for word in [*weights.words, *weights.lexicon.whole, *weights.lexicon.wide]
        }
        self._known = dict(self._own)
        self._plain = {word for word in self._own if len(word) > 1 and not disguise_of(word)}

    def at(self, folded: Folded) -> Seen:
        """Stretches of a folded text that are worth reading; they do not overlap."""
        known = self._known
        heavy: list[_Span] = [(at, at) for at in folded.disguised]
        parts = [(start, part, part.split()) for start, part in _parts(folded.words)]
        different = set[str]().union(*(words for _, _, words in parts))
        self._look_up(different, known)
        for start, part, words in parts:
            for first in _heavy_runs(known, words):
                begin = _place(part, first)
                heavy.append((start + begin, start + begin + _place(part[begin:], _TOGETHER)))
        if not folded.text.isascii():
            heavy += self._heavy_wide(known, folded.text)
        if len(known) >= _MOST_REMEMBERED:
            self.forget()
        return Seen(_joined(sorted(heavy)), different - self._plain)

    def forget(self) -> None:
        """Forget the words that were looked up. Whoever is using them meanwhile keeps them."""
        self._known = dict(self._own)

    def _look_up(self, words: set[str], known: dict[str, int]) -> None:
        """A word that begins with a stem is looked up when it is met first."""
        stems = self._stems
        for word in words.difference(known):
            if (some := stems.get(word[:BEGINNING])) is None or len(word) > _LONGEST_WORD:
                continue
            if word.startswith(some):
                known[word] = self._weigh(word)

    def _weigh(self, word: str) -> int:
        concepts = self._weights.lexicon.concepts_of(word)
        least = [self._least[one] for one in concepts if one in self._least]
        return max([self._weights.of_word(word), *least])

    def _heavy_wide(self, known: Mapping[str, int], text: str) -> Iterator[_Span]:
        """The same for scripts without blanks: only what is known is a word there."""
        matches = list(self._weights.lexicon.wide_pattern.finditer(text))
        sums = [0, *accumulate(known[match.group()] for match in matches)]
        for first in _heavy_sums(sums, _TOGETHER_WIDE, 2, ENOUGH_WIDE):
            last = matches[min(first + _TOGETHER_WIDE, len(matches)) - 1]
            yield matches[first].start(), last.end()


def _parts(words: str) -> Iterator[tuple[int, str]]:
    """A text in parts that end with a word, and where they begin.

    The last words of each, unless they are very long, are the first of the next.
    """
    start, end = 0, 0
    while end < len(words):
        end = words.find(" ", start + _PART)
        end = len(words) if end < 0 else end
        part = words[start:end]
        yield start, part
        carried = len(part) - len("".join(part.rsplit(None, _CARRIED)[:1]))
        start = end - min(carried, _MOST_CARRIED)


def _place(part: str, number: int) -> int:
    """Where a word stands, by how many stand before it."""
    rest = part.split(None, number)[number:]
    return len(part) - len(rest[0]) if rest else len(part)


def _heavy_runs(known: Mapping[str, int], words: Sequence[str]) -> Iterator[int]:
    """At which word runs begin that weigh enough."""
    weigh, nothing = known.get, repeat(0)
    sums = [*accumulate(map(weigh, words, nothing), initial=0)]
    for first in _heavy_sums(sums, _TOGETHER, _STEP, ENOUGH):
        once = {*words[first : first + _TOGETHER]}
        if sum(map(weigh, once, nothing)) < ENOUGH:
            continue
        more = {*words[max(first - _MORE, 0) : first + _TOGETHER + _MORE]}
        if sum(map(weigh, more, nothing)) >= ENOUGH_WITH_MORE:
            yield first


def _heavy_sums(sums: Sequence[int], together: int, step: int, enough: int) -> list[int]:
    """Where so many together weigh enough."""
    many = len(sums) - 1
    if many < together:
        return [0] if many and sums[-1] >= enough else []
    runs = map(sub, sums[together::step], sums[::step])
    heavy = [step * number for number, weight in enumerate(runs) if weight >= enough]
    last = many - together
    return [*heavy, last] if last % step and sums[-1] - sums[last] >= enough else heavy


def _joined(heavy: Sequence[_Span]) -> list[_Span]:
    """Stretches with some more around them; those that meet are one."""
    regions: list[_Span] = []
    for start, end in heavy:
        begin, stop = max(start - _BEFORE, 0), end + _AFTER
        if regions and begin <= regions[-1][1]:
            regions[-1] = (regions[-1][0], max(stop, regions[-1][1]))
        else:
            regions.append((begin, stop))
    return regions

"""How much sentences weigh: learned weights of words, of concepts and of what stands around them.

A passage is one to three sentences. What it weighs is a sum: of its words, of its concepts (each
once), of pairs of concepts that stand near each other, of the words before and after it, and of
the signs of where it stands. Above 0 it reads like an order to a machine.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import accumulate, product
from typing import Any, NamedTuple

from handrail.policy.injection.concepts import Lexicon, shipped_concepts
from handrail.policy.injection.sentences import Sentence, Token

MOST_SENTENCES = 3
MOST_WORDS = 60
AROUND = 14
NEAR = 6


class Passage(NamedTuple):
    """Some sentences that follow each other, by their numbers, and what they weigh so far."""

    first: int
    last: int
    weight: int


@dataclass(slots=True)
class Weights:
    """Learned weights in hundredths, by what they are of.

    `words` are those in a passage, `before` and `after` those around it. `concepts` have names such
    as `ai`, `ai^` (begins a sentence), `ai:` (before a colon) and `ai>drop` (followed closely by
    another); `signs` tell where a passage stands.
    """

    signs: Mapping[str, int]
    concepts: Mapping[str, int]
    words: Mapping[str, int]
    before: Mapping[str, int]
    after: Mapping[str, int]
    lexicon: Lexicon
    _single: list[int] = field(init=False)
    _begins: list[int] = field(init=False)
    _colon: list[int] = field(init=False)
    _pairs: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        names = [concept.name for concept in self.lexicon.concepts]
        get = self.concepts.get
        self._single = [get(name, 0) for name in names]
        self._begins = [get(f"{name}^", 0) for name in names]
        self._colon = [get(f"{name}:", 0) for name in names]
        self._pairs = [[get(f"{one}>{other}", 0) for other in names] for one in names]

    def passages(self, sentences: Sequence[Sentence]) -> Iterator[Passage]:
        """Every passage of some sentences, weighed but for the signs around it."""
        words = [word for sentence in sentences for word in sentence.words]
        ends = [0, *accumulate(len(sentence.words) for sentence in sentences)]
        before = _sums(self.before, words)
        after = _sums(self.after, words)
        inside = _sums(self.words, words)
        weighed = [(self._near(one.tokens), *_masks(one.tokens)) for one in sentences]
        bias = self.signs.get("bias", 0)
        for first in range(len(sentences)):
            begin = ends[first]
            lead = bias + before[begin] - before[max(begin - AROUND, 0)] - inside[begin]
            said = begun = led = 0
            for last in range(first, min(first + MOST_SENTENCES, len(sentences))):
                stop = ends[last + 1]
                if last > first and stop - begin > MOST_WORDS:
                    break
                near, more, beginning, leading = weighed[last]
                lead += near + _of(self._single, more & ~said)
                lead += _of(self._begins, beginning & ~begun) + _of(self._colon, leading & ~led)
                said, begun, led = said | more, begun | beginning, led | leading
                around = after[min(stop + AROUND, len(words))] - after[stop]
                yield Passage(first, last, lead + inside[stop] + around)

    @property
    def most_of_signs(self) -> int:
        """What signs can add at most."""
        return sum(weight for name, weight in self.signs.items() if weight > 0 and name != "bias")

    def of_word(self, word: str) -> int:
        """What a word weighs by itself."""
        entry = self.lexicon.entries[word]
        concepts = entry.concepts if entry else ()
        return self.words.get(word, 0) + sum(self._single[number] for number in concepts)

    def of_signs(self, signs: Iterable[str]) -> int:
        return sum(self.signs.get(sign, 0) for sign in signs)

    def reason(self, sentences: Iterable[Sentence]) -> tuple[str, str]:
        """What gives the most weight to some sentences, as a name and in words for a person."""
        weighed: dict[int, int] = {}
        for sentence in sentences:
            said, begun, led = _masks(sentence.tokens)
            for number in range(len(self._single)):
                bit = 1 << number
                weight = self._single[number] * bool(said & bit)
                weight += self._begins[number] * bool(begun & bit)
                weight += self._colon[number] * bool(led & bit)
                weighed[number] = max(weighed.get(number, 0), weight)
            for one, other, weight in self._near_pairs(sentence.tokens):
                weighed[one] += weight // 2
                weighed[other] += weight // 2
        heaviest = sorted(weighed, key=lambda number: -weighed[number])
        told = [self.lexicon.concepts[number] for number in heaviest[:2] if weighed[number] > 0]
        if not told:
            return "order", "reads like an order to a machine"
        name = "-".join(concept.name for concept in told)
        return name, " and ".join(concept.says for concept in told)

    def _near_pairs(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int, int]]:
        for index, token in enumerate(tokens):
            for later in tokens[index + 1 : index + 1 + NEAR]:
                if later.number - token.number <= NEAR:
                    for one, other in product(token.concepts, later.concepts):
                        yield one, other, self._pairs[one][other]

    def _near(self, tokens: Sequence[Token]) -> int:
        """What pairs of concepts weigh that stand near each other."""
        total = 0
        for index, token in enumerate(tokens):
            for one in token.concepts:
                pairs = self._pairs[one]
                for later in tokens[index + 1 : index + 1 + NEAR]:
                    if later.number - token.number > NEAR:
                        break
                    for other in later.concepts:
                        total += pairs[other]
        return total


def _sums(weights: Mapping[str, int], words: Sequence[str]) -> list[int]:
    get = weights.get
    return [0, *accumulate([get(word, 0) for word in words])]


def _masks(tokens: Sequence[Token]) -> tuple[int, int, int]:
    """The concepts of a sentence as bits: all, those that begin it, those before a colon."""
    said = begun = led = 0
    for token in tokens:
        bits = 0
        for concept in token.concepts:
            bits |= 1 << concept
        said |= bits
        if token.begins:
            begun |= bits
        if token.colon:
            led |= bits
    return said, begun, led


def _of(weights: Sequence[int], mask: int) -> int:
    total = 0
    while mask:
        total += weights[(mask & -mask).bit_length() - 1]
        mask &= mask - 1
    return total


@cache
def shipped_weights() -> Weights:
    """The weights that Handrail ships; `scripts/injection` learns them."""
    file = files("handrail.policy.injection") / "defaults" / "weights.json"
    read: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return Weights(**read, lexicon=shipped_concepts())

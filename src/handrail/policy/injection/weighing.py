"""How much sentences weigh: learned weights of words, concepts, claims and surroundings.

A passage is one to three sentences. What it weighs is a sum: of its words (each once in a
sentence), of its concepts (each once), of pairs of concepts that stand near each other, of what it
claims, of the words before and after it, and of the signs of where it stands. From 0 on it reads
like an order to a machine.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, product
from typing import Any, NamedTuple

from handrail.policy.injection.claims import COMMAND, SHOWN_COMMAND, UNSEEN_CLAIM, Claims
from handrail.policy.injection.concepts import Lexicon, shipped_concepts
from handrail.policy.injection.sentences import Sentence, Token

MOST_SENTENCES = 3
MOST_WORDS = 60
AROUND = 14
NEAR = 6
_MOST_AROUND = 150


class Passage(NamedTuple):
    """Some sentences that follow each other, what they weigh so far, and what they say.

    `said` are their concepts as bits; `claims` tells whether they claim anything, and `command`
    which of them begins with it, if any does.
    """

    first: int
    last: int
    weight: int
    said: int
    claims: bool
    command: int | None


class _Weighed(NamedTuple):
    """What a sentence brings along: its weight, its concepts as bits, and its claims.

    `single` is what these concepts weigh where none of them was said before, and `placed` what
    those of them weigh more that begin it or stand before a colon.
    """

    weight: int
    single: int
    placed: int
    said: int
    begun: int
    led: int
    claimed: frozenset[str]


class Weights:
    """Learned weights in hundredths, by what they are of.

    `words` are those in a passage, `before` and `after` those around it. `concepts` have names such
    as `ai`, `ai^` (begins a sentence), `ai:` (before a colon), `ai~` (written so that it is not
    seen) and `ai>drop` (followed closely by another); `claims` are those of `Claims`, `signs` tell
    where a passage stands.
    """

    def __init__(
        self,
        *,
        signs: Mapping[str, int],
        concepts: Mapping[str, int],
        claims: Mapping[str, int],
        words: Mapping[str, int],
        before: Mapping[str, int],
        after: Mapping[str, int],
        lexicon: Lexicon,
    ):
        self.signs = signs
        self.claims = claims
        self.words = words
        self.before = before
        self.after = after
        self.lexicon = lexicon
        names = [concept.name for concept in lexicon.concepts]
        get = concepts.get
        self._single = [get(name, 0) for name in names]
        self._begins = [get(f"{name}^", 0) for name in names]
        self._colon = [get(f"{name}:", 0) for name in names]
        self._unseen = [get(f"{name}~", 0) for name in names]
        self._pairs = [[get(f"{one}>{other}", 0) for other in names] for one in names]
        self._claims = Claims(lexicon)

    def passages(self, sentences: Sequence[Sentence], least: int) -> Iterator[Passage]:
        """The passages of some sentences that weigh at least so much, but for their signs."""
        words = [word for sentence in sentences for word in sentence.words]
        ends = [0, *accumulate(len(sentence.words) for sentence in sentences)]
        weighed = [self._weigh(one) for one in sentences]
        # Words around a passage seldom weigh more than that.
        for passage in self._alone(weighed, ends, least - _MOST_AROUND):
            begin, end = ends[passage.first], ends[passage.last + 1]
            weight = passage.weight + _sum(self.before, words[max(begin - AROUND, 0) : begin])
            weight += _sum(self.after, words[end : end + AROUND])
            if weight >= least:
                yield passage._replace(weight=weight)

    def _alone(
        self, weighed: Sequence[_Weighed], ends: Sequence[int], least: int
    ) -> Iterator[Passage]:
        """The passages that weigh at least so much without what stands around them."""
        bias = self.signs.get("bias", 0)
        for first, beginning in enumerate(weighed):
            if beginning.weight + beginning.single < 0 and not beginning.claimed:
                # Without this sentence the passage weighs more.
                continue
            lead = bias
            said = begun = led = 0
            claimed: frozenset[str] = frozenset()
            command: int | None = None
            for last in range(first, min(first + MOST_SENTENCES, len(weighed))):
                if last > first and ends[last + 1] - ends[first] > MOST_WORDS:
                    break
                one = weighed[last]
                lead += one.weight + one.single + one.placed
                if said & one.said:
                    # What was said before does not count again.
                    lead -= _of(self._single, one.said & said)
                    lead -= self._of_places(one.begun & begun, one.led & led)
                said, begun, led = said | one.said, begun | one.begun, led | one.led
                claimed |= one.claimed
                if COMMAND in one.claimed:
                    command = last
                told = [*self._claims.of_passage(claimed, said)] if claimed else []
                weight = lead + sum([self.claims.get(name, 0) for name in told])
                if weight >= least:
                    yield Passage(first, last, weight, said, "any" in told, command)

    def _weigh(self, sentence: Sentence) -> _Weighed:
        weight = _sum(self.words, sentence.words) + self._near(sentence.tokens)
        claimed = self._claims.of_sentence(sentence.tokens)
        said, begun, led = _masks(sentence.tokens)
        single, placed = _of(self._single, said), self._of_places(begun, led)
        return _Weighed(weight, single, placed, said, begun, led, claimed)

    def _of_places(self, begun: int, led: int) -> int:
        return _of(self._begins, begun) + _of(self._colon, led)

    def of_sentence(self, sentence: Sentence) -> int:
        """What a sentence weighs, wherever it stands."""
        one = self._weigh(sentence)
        claims = self._claims.of_passage(one.claimed, one.said)
        return (
            one.weight + one.single + one.placed + sum(self.claims.get(name, 0) for name in claims)
        )

    def of_unseen(self, passage: Passage) -> int:
        """What a passage weighs more for being written so that it is not seen."""
        claims = self.claims.get(UNSEEN_CLAIM, 0) if passage.claims else 0
        return _of(self._unseen, passage.said) + claims

    @property
    def most_of_unseen(self) -> int:
        """What being unseen can add to a passage at most."""
        claims = max(self.claims.get(UNSEEN_CLAIM, 0), 0)
        return sum(weight for weight in self._unseen if weight > 0) + claims

    def most_of(self, signs: Iterable[str]) -> int:
        """What some signs can add at most."""
        return sum(max(self.signs.get(sign, 0), 0) for sign in signs)

    def of_word(self, word: str) -> int:
        """What a word weighs by itself."""
        concepts = self.lexicon.concepts_of(word)
        return self.words.get(word, 0) + sum([self._single[number] for number in concepts])

    def of_signs(self, signs: Iterable[str]) -> int:
        return sum(self.signs.get(sign, 0) for sign in signs)

    @property
    def of_shown_command(self) -> int:
        """What a passage weighs less if the command in it is only shown."""
        return self.claims.get(SHOWN_COMMAND, 0)

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


def _sum(weights: Mapping[str, int], words: Sequence[str]) -> int:
    get = weights.get
    return sum([get(word, 0) for word in set(words)])


def _masks(tokens: Sequence[Token]) -> tuple[int, int, int]:
    """The concepts of a sentence as bits: all, those that begin it, those before a colon."""
    said = begun = led = 0
    for token in tokens:
        said |= token.said
        if token.begins:
            begun |= token.said
        if token.colon:
            led |= token.said
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

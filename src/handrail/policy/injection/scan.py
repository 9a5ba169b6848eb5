"""`scan`: how much a text reads like orders to an assistant. Pure, and linear in the text."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from handrail.core.visible import cut, visible
from handrail.policy.injection.encoded import decoded_pieces
from handrail.policy.injection.glance import Glance, Seen
from handrail.policy.injection.normalise import Folded, fold
from handrail.policy.injection.report import InjectionFinding, InjectionReport
from handrail.policy.injection.sentences import Sentence, sentences_of
from handrail.policy.injection.surroundings import UNSEEN, Surroundings
from handrail.policy.injection.weighing import Passage, Weights, shipped_weights

_SHOWN_CHARS = 160
_DEPTH = 2
_MOST_FINDINGS = 20
# A passage that weighs nothing scores 1, one of a hundred more 1.5; nothing scores below 0.
_HALF = 200
_TOLD_FROM = 0
_SHORT = 4_000


class _Hit(NamedTuple):
    weight: int
    offset: int
    shown: str
    sentences: Sequence[Sentence]


def scan(text: str, *, source: str) -> InjectionReport:
    """How much a text from `source` reads like orders to whoever reads it.

    Suspicious is what scores 1 or more. The passage that reads most like an order decides: many
    weak ones are no strong one.
    """
    hits = sorted(_hits(_shipped(), text, _DEPTH), key=lambda hit: -hit.weight)[:_MOST_FINDINGS]
    score = _score(hits[0].weight) if hits else 0.0
    told = sorted(hits, key=lambda hit: hit.offset)
    return InjectionReport(source, score, tuple(_finding(hit, text) for hit in told))


class _Scales(NamedTuple):
    weights: Weights
    glance: Glance


def forget_words() -> None:
    """Look every word up again, as if none had been met before."""
    scales = _shipped()
    scales.glance.forget()
    scales.weights.lexicon.entries.clear()


@cache
def _shipped() -> _Scales:
    weights = shipped_weights()
    return _Scales(weights, Glance(weights))


def _score(weight: int) -> float:
    return round(max(1 + weight / _HALF, 0), 2)


def _hits(scales: _Scales, text: str, depth: int, *, encoded: bool = False) -> Iterator[_Hit]:
    folded = fold(text)
    around = Surroundings(folded, encoded=encoded)
    # What is short, decoded or smuggled is read from its beginning, whatever it says.
    short = len(folded.text) <= _SHORT
    if short or encoded or folded.smuggled:
        seen = Seen([(0, _SHORT)], {*folded.words.split()})
    else:
        seen = scales.glance.at(folded)
    for start, end in seen.regions:
        sentences = sentences_of(folded.text, start, end, scales.weights.lexicon)
        yield from _heavy(scales.weights, sentences, around, folded, text)
    if depth > 0:
        for piece in decoded_pieces(text, folded, seen.unusual):
            for hit in _hits(scales, piece.text, depth - 1, encoded=True):
                yield hit._replace(offset=piece.offset)


def _heavy(
    weights: Weights,
    sentences: Sequence[Sentence],
    around: Surroundings,
    folded: Folded,
    text: str,
) -> Iterator[_Hit]:
    """The heaviest passages of some sentences, none of which shares a sentence with another."""
    if not sentences:
        return
    possible = around.possible(sentences[0].start, sentences[-1].end)
    unseen = weights.most_of_unseen if around.hides else 0
    heavy: list[Passage] = []
    for passage in weights.passages(sentences, _TOLD_FROM - weights.most_of(possible) - unseen):
        start, end = sentences[passage.first].start, sentences[passage.last].end
        signs = around.signs(start, end)
        weight = passage.weight + weights.of_signs(signs)
        if not UNSEEN.isdisjoint(signs):
            weight += weights.of_unseen(passage)
        if passage.command is not None and around.shown(sentences[passage.command].start):
            weight += weights.of_shown_command
        if weight >= _TOLD_FROM:
            heavy.append(passage._replace(weight=weight))
    taken: set[int] = set()
    for passage in sorted(heavy, key=lambda one: -one.weight):
        numbers = range(passage.first, passage.last + 1)
        if taken.isdisjoint(numbers):
            taken.update(numbers)
            inside = sentences[passage.first : passage.last + 1]
            telling = max(inside, key=weights.of_sentence)
            at = folded.origin(_beginning(folded.text, telling.start))
            yield _Hit(passage.weight, at, text[at : at + 2 * _SHOWN_CHARS], inside)


def _beginning(text: str, at: int) -> int:
    """The first letter of a sentence, after the blanks and signs before it."""
    while at < len(text) - 1 and not text[at].isalnum():
        at += 1
    return at


def _finding(hit: _Hit, text: str) -> InjectionFinding:
    shown = visible(cut(" ".join(hit.shown.split()), _SHOWN_CHARS))
    line = text.count("\n", 0, hit.offset) + 1
    rule, reason = shipped_weights().reason(hit.sentences)
    return InjectionFinding(rule, reason, _score(hit.weight), hit.offset, line, shown)

"""`scan`: how much a text reads like orders to an assistant. Pure, and linear in the text."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

from handrail.policy.injection.broken import mended_pieces
from handrail.policy.injection.encoded import decoded_pieces
from handrail.policy.injection.glance import Glance, Seen
from handrail.policy.injection.hits import (
    SHOWN_CHARS,
    Hit,
    doubt_of,
    finding_of,
    score_of,
    stands_by_itself,
    worth_reading,
)
from handrail.policy.injection.normalise import Folded, fold
from handrail.policy.injection.report import InjectionReport
from handrail.policy.injection.sentences import Sentence, sentences_of
from handrail.policy.injection.surroundings import UNSEEN, Surroundings
from handrail.policy.injection.weighing import Passage, Weights, shipped_weights

_DEPTH = 2
_MOST_MENDED = 5
_MOST_FINDINGS = 20
_TOLD_FROM = 0
_SHORT = 4_000
# What weighs less than this is no doubt. The longer a text, the less of it is doubted: to find
# doubts would cost more than to scan it.
DOUBTED_FROM = -500
_LONG = 20_000
_DOUBTED_IF_NOT_SHORT = -300
_DOUBTED_IF_LONG = 0


def scan(text: str, *, source: str, doubted_from: int = DOUBTED_FROM) -> InjectionReport:
    """How much a text from `source` reads like orders to whoever reads it.

    Suspicious is what scores 1 or more. The passage that reads most like an order decides: many
    weak ones are no strong one. Passages that weigh at least `doubted_from`, in hundredths, are
    told as doubts.
    """
    scales = _shipped()._replace(least=min(doubted_from, _TOLD_FROM))
    hits = sorted(_hits(scales, text, _DEPTH), key=lambda hit: -hit.weight)
    told = [hit for hit in hits[:_MOST_FINDINGS] if hit.weight >= _TOLD_FROM]
    read = worth_reading(hits)
    told.sort(key=lambda hit: hit.offset)
    tell = partial(finding_of, text=text, weights=scales.weights)
    return InjectionReport(
        source,
        score_of(hits[0].weight) if told else 0.0,
        tuple(map(tell, told)),
        tuple(doubt_of(hit, tell(hit)) for hit in read),
        tuple(tell(hit) for hit in told if stands_by_itself(hit, read)),
    )


class _Scales(NamedTuple):
    """What passages are weighed with; those that weigh less than `least` are left alone."""

    weights: Weights
    glance: Glance
    least: int = DOUBTED_FROM


def forget_words() -> None:
    """Look every word up again, as if none had been met before."""
    scales = _shipped()
    scales.glance.forget()
    scales.weights.lexicon.entries.clear()


@cache
def _shipped() -> _Scales:
    weights = shipped_weights()
    return _Scales(weights, Glance(weights))


def _hits(scales: _Scales, text: str, depth: int, *, encoded: bool = False) -> Iterator[Hit]:
    folded = fold(text)
    around = Surroundings(folded, encoded=encoded)
    short = len(folded.text) <= _SHORT
    if short:
        seen = Seen([(0, _SHORT)], {*folded.words.split()})
    else:
        seen = scales.glance.at(folded)
        if encoded or folded.smuggled:
            # What is decoded or smuggled is read from its beginning, whatever it says.
            later = [(max(start, _SHORT), end) for start, end in seen.regions if end > _SHORT]
            seen = Seen([(0, _SHORT), *later], seen.unusual)
        least = _DOUBTED_IF_LONG if len(folded.text) > _LONG else _DOUBTED_IF_NOT_SHORT
        scales = scales._replace(least=max(scales.least, least))
    for start, end in seen.regions:
        sentences = sentences_of(folded.text, start, end, scales.weights.lexicon)
        yield from _heavy(scales, sentences, around, folded, text)
    if depth > 0:
        for piece in decoded_pieces(text, folded, seen.unusual):
            for hit in _hits(scales, piece.text, depth - 1, encoded=True):
                yield hit._replace(offset=piece.offset)
    if depth > 0 and short:
        for piece in islice(mended_pieces(folded), _MOST_MENDED):
            for hit in _hits(scales, piece.text, 0, encoded=True):
                yield hit._replace(offset=piece.offset)


def _heavy(
    scales: _Scales,
    sentences: Sequence[Sentence],
    around: Surroundings,
    folded: Folded,
    text: str,
) -> Iterator[Hit]:
    """The heaviest passages of some sentences, none of which shares a sentence with another."""
    if not sentences:
        return
    weights, least = scales.weights, scales.least
    possible = around.possible(sentences[0].start, sentences[-1].end)
    unseen = weights.most_of_unseen if around.hides else 0
    heavy: list[Passage] = []
    for passage in weights.passages(sentences, least - weights.most_of(possible) - unseen):
        start, end = sentences[passage.first].start, sentences[passage.last].end
        signs = around.signs(start, end)
        weight = passage.weight + weights.of_signs(signs)
        if not UNSEEN.isdisjoint(signs):
            weight += weights.of_unseen(passage)
        command = passage.command
        if command is not None and around.shown(sentences[command].start):
            weight += weights.of_shown_command
            command = None
        if weight >= least:
            heavy.append(passage._replace(weight=weight, command=command))
    taken: set[int] = set()
    for passage in sorted(heavy, key=lambda one: -one.weight):
        numbers = range(passage.first, passage.last + 1)
        if taken.isdisjoint(numbers):
            taken.update(numbers)
            inside = sentences[passage.first : passage.last + 1]
            telling = max(inside, key=weights.of_sentence)
            at = folded.origin(_beginning(folded.text, telling.start))
            shown = text[at : at + 2 * SHOWN_CHARS]
            middle = (inside[0].start + inside[-1].end) // 2
            plain = passage.command is not None
            yield Hit(passage.weight, at, shown, inside, folded.text, middle, plain)


def _beginning(text: str, at: int) -> int:
    """The first letter of a sentence, after the blanks and signs before it."""
    while at < len(text) - 1 and not text[at].isalnum():
        at += 1
    return at

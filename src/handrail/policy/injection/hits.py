"""What weighs much in a text: told as findings, and as doubts to whoever takes a second look."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from handrail.core.visible import cut, visible
from handrail.policy.injection.report import Doubt, InjectionFinding
from handrail.policy.injection.sentences import Sentence
from handrail.policy.injection.weighing import Weights

SHOWN_CHARS = 160
# A passage that weighs nothing scores 1, one of two hundred more 2; nothing scores below 0.
_OF_ONE = 200
# Of doubts that stand so close one is enough.
_MOST_DOUBTS = 12
_APART = 200
_AROUND = 1_000
_FARTHEST = 5_000
_BLANKS = re.compile(r"\s+")


class Hit(NamedTuple):
    """A passage that weighs much: where it stands, in the text and in the folded one `within`.

    `plain` is a command that is neither quoted, fenced nor listed.
    """

    weight: int
    offset: int
    shown: str
    sentences: Sequence[Sentence]
    within: str
    middle: int
    plain: bool


def score_of(weight: int) -> float:
    """A weight as people are told of it."""
    return round(max(1 + weight / _OF_ONE, 0), 2)


def finding_of(hit: Hit, text: str, weights: Weights) -> InjectionFinding:
    shown = visible(cut(" ".join(hit.shown.split()), SHOWN_CHARS))
    line = text.count("\n", 0, hit.offset) + 1
    rule, reason = weights.reason(hit.sentences)
    return InjectionFinding(rule, reason, score_of(hit.weight), hit.offset, line, shown)


def doubt_of(hit: Hit, finding: InjectionFinding) -> Doubt:
    """Blanks are left out: however many there are, what stands around them belongs together."""
    begin, end = max(hit.middle - _FARTHEST, 0), hit.middle + _FARTHEST
    before = _BLANKS.sub(" ", hit.within[begin : hit.middle])[-_AROUND:]
    after = _BLANKS.sub(" ", hit.within[hit.middle : end])[:_AROUND]
    return Doubt(hit.weight, before + after, len(before), hit.plain, finding)


def worth_reading(hits: Sequence[Hit]) -> list[Hit]:
    """The heaviest hits, none of which stands close to a heavier one."""
    kept: list[Hit] = []
    for hit in hits:
        if len(kept) == _MOST_DOUBTS:
            break
        if not _is_close(hit, kept):
            kept.append(hit)
    return kept


def stands_by_itself(hit: Hit, read: Sequence[Hit]) -> bool:
    """Whether nobody reads it, neither itself nor, unless it is a plain command, close by."""
    if hit.plain:
        return not any(hit is one for one in read)
    return not _is_close(hit, read)


def _is_close(hit: Hit, others: Sequence[Hit]) -> bool:
    near = (one for one in others if abs(one.middle - hit.middle) < _APART)
    return any(one.within is hit.within for one in near)

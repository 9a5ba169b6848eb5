"""`scan`: how much a text reads like orders to an assistant. Pure, and linear in the text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from handrail.core.visible import cut, visible
from handrail.policy.injection.closely import Found, all_matches
from handrail.policy.injection.context import HIDDEN, Context
from handrail.policy.injection.encoded import decoded_pieces
from handrail.policy.injection.normalise import fold
from handrail.policy.injection.report import SUSPICIOUS_FROM, InjectionFinding, InjectionReport
from handrail.policy.injection.rules import InjectionRule, shipped_rules
from handrail.policy.injection.watch import Watch

_SHOWN_CHARS = 160
_DEPTH = 2
# Finds in the same part of a text, or in the next one, are taken together.
_BLOCK = 1500
_MOST_IN_A_BLOCK = 20
# Orders that are only reported, and examples, never make a text suspicious by their number.
_MOST_FOR_REPORTS = 0.3
_ENCODED = 1.5

_SMUGGLED = InjectionRule(
    "hidden-characters",
    "carries words in characters that nobody can see",
    0.8,
    (),
    re.compile(""),
)


class _Hit(NamedTuple):
    rule: InjectionRule
    weight: float
    offset: int
    shown: str
    reported: bool = False


def scan(text: str, *, source: str) -> InjectionReport:
    """How much a text from `source` reads like orders to whoever reads it.

    Suspicious is what scores 1 or more. Finds that are near each other add up, of each rule the
    heaviest one; orders that are only reported, or quoted as examples, never make a text
    suspicious by their number alone.
    """
    return scan_with(_shipped_watch(), text, source=source)


def scan_with(watch: Watch, text: str, *, source: str) -> InjectionReport:
    """The same by other rules."""
    by_block: dict[int, list[_Hit]] = {}
    for hit in _hits(watch, text, _DEPTH):
        by_block.setdefault(hit.offset // _BLOCK, []).append(hit)
    kept = {block: _heaviest(hits) for block, hits in by_block.items()}
    score = max((_score([*kept[one], *kept.get(one + 1, ())]) for one in kept), default=0.0)
    told = sorted(_heaviest(chain(*kept.values())), key=lambda hit: hit.offset)
    return InjectionReport(source, score, tuple(_finding(hit, text) for hit in told))


def _score(hits: Iterable[_Hit]) -> float:
    """What finds that are near each other come to."""
    heaviest = _heaviest(hits)
    said = sum(hit.weight for hit in heaviest if not hit.reported)
    reported = sum(hit.weight for hit in heaviest if hit.reported)
    return round(said + min(reported, _MOST_FOR_REPORTS), 2)


def _heaviest(hits: Iterable[_Hit]) -> list[_Hit]:
    """Of each rule the find that weighs most."""
    heaviest: dict[str, _Hit] = {}
    for hit in hits:
        known = heaviest.get(hit.rule.name)
        if known is None or hit.weight > known.weight:
            heaviest[hit.rule.name] = hit
    return [*heaviest.values()]


@cache
def _shipped_watch() -> Watch:
    return Watch(shipped_rules())


def _hits(watch: Watch, text: str, depth: int) -> Iterator[_Hit]:
    folded = fold(text)
    words = folded.words.split()
    places, signs = watch.look(folded, words)
    found = all_matches(places, folded, words)
    # Whether it is an example matters only where there is enough to be suspicious of.
    most = HIDDEN * sum({rule.name: rule.weight for rule, _ in found}.values())
    context = Context(folded.text, weighs_examples=most >= SUSPICIOUS_FROM / _ENCODED)
    for rule, match in _few_of_each(found):
        by = context.weigh(*match.span(), imperative=rule.imperative)
        if by:
            origin = folded.origin(match.start())
            shown = text[origin : origin + 2 * _SHOWN_CHARS]
            yield _Hit(rule, rule.weight * by, origin, shown, reported=by < 1)
    if folded.smuggled:
        at = folded.smuggled[0]
        yield _Hit(_SMUGGLED, _SMUGGLED.weight, folded.origin(at), folded.text[at:])
    if depth > 0:
        for piece in decoded_pieces(text, folded, words, signs):
            for hit in _hits(watch, piece.text, depth - 1):
                yield hit._replace(offset=piece.offset, weight=hit.weight * _ENCODED)


def _few_of_each(found: Iterable[Found]) -> Iterator[Found]:
    """Not more finds of one rule in one part of a text than can make a difference."""
    counts: Counter[tuple[str, int]] = Counter()
    for rule, match in found:
        part = (rule.name, match.start() // _BLOCK)
        counts[part] += 1
        if counts[part] <= _MOST_IN_A_BLOCK:
            yield rule, match


def _finding(hit: _Hit, text: str) -> InjectionFinding:
    shown = visible(cut(" ".join(hit.shown.split()), _SHOWN_CHARS))
    line = text.count("\n", 0, hit.offset) + 1
    return InjectionFinding(
        hit.rule.name, hit.rule.reason, round(hit.weight, 2), hit.offset, line, shown
    )

"""A closer look: what the rules of a place find there."""

import re
from collections.abc import Iterable, Iterator, Sequence

from handrail.policy.injection.normalise import Folded
from handrail.policy.injection.rules import InjectionRule
from handrail.policy.injection.watch import FIRST_WIDE, Place

# How far around a word its rule may look, so that a look never costs more than so much.
_LOOK_AHEAD = 300
_LINE_BACK = 40
_WIDE_BACK = 48
_WIDE_AHEAD = 80

_WIDEST_GAP = 12
_SENTENCE_ENDS = frozenset("(){};=!?")

Found = tuple[InjectionRule, re.Match[str]]


def all_matches(places: Iterable[Place], folded: Folded, words: Sequence[str]) -> list[Found]:
    """What rules find at their places, or as far back from each as they want to look.

    No rule looks twice at the same word, however many places there are.
    """
    found: list[Found] = []
    tried: dict[InjectionRule, int] = {}
    for place in places:
        if ord(folded.text[place.at]) >= FIRST_WIDE:
            found += _matches_around(place, folded, tried)
            continue
        end = place.at + _LOOK_AHEAD
        for rule in place.rules:
            text = folded.text if rule.on_marks else folded.prose
            plain = not rule.back and not rule.line
            for start in (place.at,) if plain else _starts(rule, place, folded, words, tried):
                if match := rule.pattern.match(text, start, end):
                    found.append((rule, match))
    return found


def _matches_around(
    place: Place, folded: Folded, tried: dict[InjectionRule, int]
) -> Iterator[Found]:
    """No blanks part the words of these scripts, so a pattern may begin at any character."""
    begin, end = max(place.at - _WIDE_BACK, 0), place.at + _WIDE_AHEAD
    for rule in place.rules:
        if place.at < tried.get(rule, 0):
            continue
        tried[rule] = place.at + _WIDE_AHEAD // 2
        if match := rule.pattern.search(folded.prose, begin, end):
            yield rule, match


def _starts(
    rule: InjectionRule,
    place: Place,
    folded: Folded,
    words: Sequence[str],
    tried: dict[InjectionRule, int],
) -> list[int]:
    """Where the pattern of a rule may begin, and was not looked for yet."""
    if rule.line:
        return [_line_start(folded, place.at)]
    first = rule.first
    at_it = place.word is None or not first or place.word in first
    starts = [place.at] if at_it else []
    lowest = max(place.number - rule.back, tried.get(rule, 0))
    before = words[lowest : place.number]
    if place.word is not None:
        tried[rule] = place.number + 1
    if before and not (first and first.isdisjoint(before)):
        nearest_first = before[::-1]
        ways_back = zip(_ways_back(folded, place.at, nearest_first), nearest_first, strict=False)
        starts += [start for start, word in ways_back if not first or word in first]
    return starts


def _line_start(folded: Folded, at: int) -> int:
    """Where the line of a place begins, if that is not far; otherwise the place itself."""
    lowest = max(at - _LINE_BACK, 0)
    end = folded.text.rfind("\n", lowest, at)
    return at if end < 0 < lowest else end + 1


def _ways_back(folded: Folded, at: int, nearest_first: Sequence[str]) -> Iterator[int]:
    """Where the words before a place begin, as far as its sentence goes."""
    for word in nearest_first:
        start = folded.words.rfind(word, max(at - len(word) - _WIDEST_GAP, 0), at)
        if start < 0 or folded.text[start + len(word)] in _SENTENCE_ENDS:
            return
        yield start
        at = start

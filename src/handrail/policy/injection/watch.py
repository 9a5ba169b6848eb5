"""Where it is worth to look closely: the words with which patterns of rules may begin."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, count
from typing import NamedTuple

from handrail.policy.injection.encoded import Disguise, Sign, disguise_of
from handrail.policy.injection.normalise import Folded
from handrail.policy.injection.rules import InjectionRule

# From here on scripts write their words without blanks between them.
FIRST_WIDE = 0x1100

_BEGINNING = 4
_MOST_REMEMBERED = 50_000
_LONGEST_REMEMBERED = 40

_Rules = tuple[InjectionRule, ...]


class Place(NamedTuple):
    """Where patterns of some rules may begin: at a mark, or at the word of this number."""

    at: int
    rules: _Rules
    number: int = 0
    word: str | None = None


class _Word(NamedTuple):
    """What is known of a word: the rules whose patterns may begin near it, or that it is a sign."""

    rules: _Rules
    disguise: Disguise | None


class Watch:
    """Rules, arranged by the words with which their patterns begin."""

    def __init__(self, rules: Iterable[InjectionRule]):
        self._whole: dict[str, _Rules] = {}
        self._by_stem: dict[str, _Rules] = {}
        self._by_mark: dict[str, _Rules] = {}
        self._wide: dict[str, _Rules] = {}
        for rule in rules:
            for near in rule.near:
                shelf, name = self._shelf(near), near.removesuffix("$")
                shelf[name] = (*shelf.get(name, ()), rule)
        self._beginnings = {stem[:_BEGINNING] for stem in self._by_stem}
        self._mark_patterns = [
            _any_of(mark for mark in self._by_mark if mark[0] == first)
            for first in {mark[0] for mark in self._by_mark}
        ]
        self._wide_pattern = _any_of(self._wide)
        self._lexicon = _Lexicon(self)

    def _shelf(self, near: str) -> dict[str, _Rules]:
        if near.endswith("$"):
            return self._whole
        if not near.isalnum():
            return self._by_mark
        return self._wide if ord(near[0]) >= FIRST_WIDE else self._by_stem

    def look(self, folded: Folded, words: Sequence[str]) -> tuple[list[Place], list[Sign]]:
        """Where patterns may begin, and what may be in disguise. `words` are in their order."""
        places: list[Place] = []
        signs: list[Sign] = []
        padded, at = f" {folded.words} ", -1
        known = list(map(self._lexicon.__getitem__, words))
        for number in compress(count(), known):
            word, entry = words[number], known[number]
            at = padded.find(f" {word} ", at + 1)
            if entry is not None and entry.rules:
                places.append(Place(at, entry.rules, number, word))
            if entry is not None and entry.disguise is not None:
                signs.append(Sign(entry.disguise, word, at))
        return [*places, *self._marks(folded)], signs

    def _marks(self, folded: Folded) -> Iterator[Place]:
        """Marks, and words of scripts that have no blanks."""
        for pattern in self._mark_patterns:
            for match in pattern.finditer(folded.text):
                yield Place(match.start(), self._by_mark[match.group()])
        if not folded.text.isascii():
            for match in self._wide_pattern.finditer(folded.text):
                yield Place(match.start(), self._wide[match.group()])

    def entry_of(self, word: str) -> _Word | None:
        """What is known of a word; None for most."""
        rules = dict.fromkeys(self._whole.get(word, ()))
        if word[:_BEGINNING] in self._beginnings:
            for stem, more in self._by_stem.items():
                if word.startswith(stem):
                    rules |= dict.fromkeys(more)
        disguise = disguise_of(word)
        return _Word(tuple(rules), disguise) if rules or disguise else None


class _Lexicon(dict[str, "_Word | None"]):
    """Words looked up before. Texts say the same words again and again."""

    def __init__(self, watch: Watch):
        super().__init__()
        self._watch = watch

    def __missing__(self, word: str) -> _Word | None:
        entry = self._watch.entry_of(word)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[word] = entry
        return entry


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of these, the longest first; what they all begin with is found fastest."""
    ordered = sorted(texts, key=len, reverse=True)
    first = {text[0] for text in ordered}
    if len(first) == 1:
        rest = "|".join(re.escape(text[1:]) for text in ordered)
        return re.compile(f"{re.escape(first.pop())}(?:{rest})")
    return re.compile("|".join(map(re.escape, ordered)) or "(?!)")

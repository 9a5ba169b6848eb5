"""What words are about: concepts as data, in many languages."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple, cast

from handrail.core.errors import RuleError
from handrail.policy.injection.normalise import fold_characters

# From here on scripts write words in ways that blanks do not part.
FIRST_WIDE = 0x0900
SECOND = 2
BEGINNING = 4
_MOST_REMEMBERED = 50_000
_LONGEST_REMEMBERED = 40
_KNOWN = {"says", "words"}


@dataclass(frozen=True, slots=True)
class Concept:
    """What a sentence may be about. `says` completes "this sentence …"."""

    name: str
    says: str


class Phrase(NamedTuple):
    """Words that follow a first one, and what they stand for together."""

    rest: tuple[str, ...]
    concept: int

    def goes_on(self, following: Sequence[str]) -> bool:
        """Whether these words are its own; a `*` stands for the rest of a word."""
        return len(following) >= len(self.rest) and all(
            word.startswith(wanted[:-1]) if wanted.endswith("*") else word == wanted
            for wanted, word in zip(self.rest, following, strict=False)
        )


Phrases = dict[str, list[Phrase]]


class Entry(NamedTuple):
    """What is known of a word: the concepts it stands for, and what it may begin.

    `phrases` are known by the first letters of their second word.
    """

    concepts: tuple[int, ...]
    phrases: Phrases | None = None


@cache
def as_bits(concepts: tuple[int, ...]) -> int:
    """Concepts as the bits of one number."""
    return sum(1 << number for number in concepts)


class Lexicon:
    """Concepts by their words."""

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]):
        self.concepts = [Concept(name, row["says"]) for name, row in rows.items()]
        self.whole: dict[str, list[int]] = {}
        self.wide: dict[str, list[int]] = {}
        # These by how they begin, which most words do not.
        self.stems: dict[str, dict[str, list[int]]] = {}
        self._phrase_stems: dict[str, dict[str, Phrases]] = {}
        self._phrases: dict[str, Phrases] = {}
        self.entries = _Entries(self)
        for number, row in enumerate(rows.values()):
            self.add(number, row["words"])

    def add(self, number: int, words: str) -> None:
        """Words that stand for a concept, as its file writes them."""
        for written in _split(words):
            self._add(written, number)
        self.entries.clear()

    @cached_property
    def wide_pattern(self) -> re.Pattern[str]:
        """What stands for something in scripts without blanks, or with many endings."""
        return _any_of(self.wide)

    def _add(self, written: str, number: int) -> None:
        if ord(written[0]) >= FIRST_WIDE:
            _put(self.wide, written.removesuffix("*"), number)
            return
        first, *rest = re.findall(r"[\w*]+", written)
        stem = first.removesuffix("*")
        is_stem = stem != first and len(stem) >= BEGINNING
        beginning = stem[:BEGINNING]
        if rest:
            shelf = self._phrase_stems.setdefault(beginning, {}) if is_stem else self._phrases
            phrases = shelf.setdefault(stem, {})
            phrases.setdefault(rest[0].rstrip("*")[:SECOND], []).append(Phrase(tuple(rest), number))
        else:
            _put(self.stems.setdefault(beginning, {}) if is_stem else self.whole, stem, number)

    def concepts_of(self, word: str) -> Sequence[int]:
        """What a word stands for by itself; nothing, for most."""
        if ord(word[0]) >= FIRST_WIDE:
            return self.wide.get(word, ())
        concepts = self.whole.get(word, ())
        beginning = word[:BEGINNING]
        if beginning in self.stems:
            for stem, numbers in self.stems[beginning].items():
                if word.startswith(stem):
                    concepts = sorted({*concepts, *numbers})
        return concepts

    def entry_of(self, word: str) -> Entry | None:
        """What is known of a word; None for most."""
        concepts = self.concepts_of(word)
        phrases = self._phrases.get(word)
        beginning = word[:BEGINNING]
        if beginning in self._phrase_stems:
            for stem, begun in self._phrase_stems[beginning].items():
                phrases = _both(phrases or {}, begun) if word.startswith(stem) else phrases
        return Entry(tuple(concepts), phrases) if concepts or phrases else None


class _Entries(dict[str, "Entry | None"]):
    """Words looked up before. Texts say the same words again and again."""

    def __init__(self, lexicon: Lexicon):
        super().__init__()
        self._lexicon = lexicon

    def __missing__(self, word: str) -> Entry | None:
        entry = self._lexicon.entry_of(word)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[word] = entry
        return entry


def _both(one: Phrases, other: Phrases) -> Phrases:
    return {second: one.get(second, []) + other.get(second, []) for second in {*one, *other}}


def _put(shelf: dict[str, list[int]], word: str, number: int) -> None:
    numbers = shelf.setdefault(word, [])
    if number not in numbers:
        numbers.append(number)


def _split(words: str) -> Iterator[str]:
    for line in words.splitlines():
        for written in line.split(", "):
            if told := " ".join(fold_characters(written).split()):
                yield told


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered)) or "(?!)")


def parse_concepts(text: str, source: str) -> Lexicon:
    """Read a file of concepts.

    Raises:
        RuleError: It cannot be read, or says what nobody knows.
    """
    rows = cast(dict[str, dict[str, Any]], _read(text, source))
    for name, row in rows.items():
        if unknown := sorted(row.keys() - _KNOWN):
            raise RuleError(f"{source}: {name} says {unknown[0]!r}, which no concept knows")
        if missing := sorted(_KNOWN - row.keys()):
            raise RuleError(f"{source}: {name} needs {missing[0]!r}")
    return Lexicon(rows)


def add_language(lexicon: Lexicon, text: str, source: str) -> None:
    """Read a file that gives the words of one language, a line for each concept.

    Raises:
        RuleError: It cannot be read, or names a concept that is none.
    """
    names = [concept.name for concept in lexicon.concepts]
    for name, words in _read(text, source).items():
        if name not in names:
            raise RuleError(f"{source} says {name!r}, which is not a concept")
        lexicon.add(names.index(name), cast(str, words))


def _read(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{source} cannot be read: {error}") from error


@cache
def shipped_concepts() -> Lexicon:
    """The concepts that Handrail ships."""
    shipped = files("handrail.policy.injection") / "defaults"
    text = (shipped / "concepts.toml").read_text(encoding="utf-8")
    lexicon = parse_concepts(text, "concepts.toml")
    languages = (shipped / "languages").iterdir()
    for file in sorted(languages, key=lambda file: file.name):
        add_language(lexicon, file.read_text(encoding="utf-8"), file.name)
    return lexicon

"""Sentences, and which of their words stand for something."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from handrail.policy.injection.concepts import FIRST_WIDE, SECOND, Entry, Lexicon, as_bits

# A sentence this long ends at the next sign of any kind, and at so many words without one.
_LONGEST_SENTENCE = 40
_MOST_WORDS = 80
_SHORT_LINE = 48
_PHRASE_REACH = 8

_PIECE = re.compile(r"[^\W_\u0900-\U0010ffff]+|[.!?;:\n<>\"`(){}\[\]|]")
_SIGNS = frozenset('.!?;:\n<>"`(){}[]|')
_ALWAYS_ENDS = frozenset('<>|"')
_MAY_END = frozenset('.!?\n<>|"')


class Token(NamedTuple):
    """A word that stands for concepts, the how-manieth word it is, and how it stands there.

    `said` are the concepts once more, as bits.
    """

    number: int
    concepts: tuple[int, ...]
    said: int
    begins: bool
    colon: bool


class Sentence(NamedTuple):
    """Where it stands in the folded text, all its words, and those that stand for something."""

    start: int
    end: int
    words: list[str]
    tokens: list[Token]


def sentences_of(text: str, start: int, end: int, lexicon: Lexicon) -> list[Sentence]:
    """The sentences of a stretch of folded text."""
    sentences: list[Sentence] = []
    words: list[str] = []
    tokens: list[Token] = []
    pieces = _pieces(text, start, end, lexicon)
    entries = lexicon.entries
    first, begins = start, True
    # Where the line begins; far enough before, if that is too far to matter.
    line = text.rfind("\n", max(start - _SHORT_LINE, 0), start) + 1
    if not line and start > _SHORT_LINE:
        line = start - _SHORT_LINE
    for index, piece in enumerate(pieces):
        at, word = piece.start(), piece.group()
        if word in _SIGNS:
            begins = True
            if len(words) >= _LONGEST_SENTENCE or _is_end(text, at, line):
                if words:
                    sentences.append(Sentence(first, at, words, tokens))
                words, tokens, first = [], [], at + 1
            if word == "\n":
                line = at + 1
            continue
        entry = entries[word]
        if entry is not None and (concepts := _concepts(entry, pieces, index)):
            colon = _leads_to_colon(text, at + len(word))
            tokens.append(Token(len(words), concepts, as_bits(concepts), begins, colon))
        words.append(word)
        begins = False
        if len(words) >= _MOST_WORDS:
            sentences.append(Sentence(first, at + len(word), words, tokens))
            words, tokens, first = [], [], at + len(word)
    if words:
        sentences.append(Sentence(first, min(end, len(text)), words, tokens))
    return sentences


def _is_end(text: str, at: int, line: int) -> bool:
    """Whether a sign ends a sentence. Lines that are broken for their length do not."""
    sign = text[at]
    if sign not in _MAY_END or sign in _ALWAYS_ENDS:
        return sign in _ALWAYS_ENDS
    after = text[at + 1 : at + 2]
    return at - line < _SHORT_LINE or after == "\n" if sign == "\n" else not after.isalnum()


def _leads_to_colon(text: str, at: int) -> bool:
    """Whether a colon follows within a few words, as after whom somebody speaks to."""
    colon = text.find(":", at, at + 30)
    return colon >= 0 and text.count(" ", at, colon) < 4


def _concepts(entry: Entry, pieces: Sequence[re.Match[str]], index: int) -> tuple[int, ...]:
    """What a word stands for, alone and as the first of several."""
    if entry.phrases is None or index + 1 == len(pieces):
        return entry.concepts
    phrases = entry.phrases.get(pieces[index + 1].group()[:SECOND])
    if phrases is None:
        return entry.concepts
    near = [piece.group() for piece in pieces[index + 1 : index + _PHRASE_REACH]]
    following = [word for word in near if word not in _SIGNS]
    begun = {phrase.concept for phrase in phrases if phrase.goes_on(following)}
    return entry.concepts + tuple(sorted(begun.difference(entry.concepts)))


def _pieces(text: str, start: int, end: int, lexicon: Lexicon) -> list[re.Match[str]]:
    """Words, and each sign between them that matters."""
    while start > 0 and text[start - 1].isalnum() and ord(text[start]) < FIRST_WIDE:
        start -= 1
    found = [*_PIECE.finditer(text, start, end)]
    if not text.isascii():
        found += lexicon.wide_pattern.finditer(text, start, end)
        found.sort(key=re.Match[str].start)
    return found

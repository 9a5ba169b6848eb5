"""Words in disguise: what encoded, spelled-out, mirrored or figure-lettered pieces say.

A cheap sign is looked for first, in the set of a text's words; only where it is found something is
decoded, and only what comes out as text is given back.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from enum import Enum, auto
from itertools import groupby
from typing import NamedTuple

from handrail.policy.injection.normalise import Folded

_LONG_WORD = 16
_FEWEST_LETTERS = 6
_FEWEST_CODES = 4
_WIDEST_CODE = 10
_SHORTEST_RUN = 12
_AROUND = 400
_FARTHEST_START = 64

_TOKEN = re.compile(r"[A-Za-z0-9+/_-]{16,20000}={0,2}")
_TOKEN_CHAR = re.compile(r"[A-Za-z0-9+/_-]")
_CODE_WORD = re.compile(r"(?:0x)?[0-9a-f]{2}|1[0-2][0-9]|[01]{8}")
# How the small letters are written in each way to write bytes.
_ANY_LETTER_CODE = {
    form.format(number)
    for number in range(97, 123)
    for form in ("{:02x}", "0x{:02x}", "{}", "{:08b}")
}
_LEET = str.maketrans("013457@$!", "oieastasi")
_TELLING = (
    *("ignor", "disregard", "forget", "overrid", "previous", "instruct", "system", "prompt"),
    *("guideline", "secret", "reveal", "assistant", "password", "upload", "delet", "execut"),
)
_ROTATED = tuple(codecs.encode(word, "rot13") for word in _TELLING)
_MIRRORED = tuple(word[::-1] for word in _TELLING)
# The, and, you, your, this: somebody wrote whole sentences so.
_ROTATED_WORDS = frozenset({"gur", "naq", "lbh", "lbhe", "guvf"})
_ODD_BEGINNINGS = frozenset(word[:3] for word in (*_ROTATED, *_ROTATED_WORDS))
_ODD_ENDINGS = frozenset(word[-3:] for word in _MIRRORED)
_SPELLED = ("ignore", "disregard", "forget", "system")
_WORD_GAP = re.compile(r"[ ._*-]{2,3}")
_SPELLED_OUT = re.compile(r"(?<![a-z0-9])[a-z0-9](?:[ ._*-]{1,3}[a-z0-9](?![a-z0-9])){3,400}")


class Piece(NamedTuple):
    """What a disguised piece says, and where it stands in the text as it came."""

    text: str
    offset: int


class Disguise(Enum):
    """How words can be written so that they are not known for what they are."""

    ENCODED = auto()
    CODES = auto()
    LEET = auto()
    ROTATED = auto()
    MIRRORED = auto()


class Sign(NamedTuple):
    """A word by which a disguise is known, and where it stands in the folded text."""

    disguise: Disguise
    word: str
    at: int


def disguise_of(word: str) -> Disguise | None:
    """Of which disguise a word is a sign. Most words are of none."""
    if not word.isalpha():
        if word in _ANY_LETTER_CODE:
            return Disguise.CODES
        if _is_leet(word):
            return Disguise.LEET
    if len(word) >= _LONG_WORD and not _is_plain(word):
        return Disguise.ENCODED
    if word.startswith(_ROTATED) or word in _ROTATED_WORDS:
        return Disguise.ROTATED
    return Disguise.MIRRORED if word.endswith(_MIRRORED) else None


def _disguises(words: Iterable[str]) -> dict[str, Disguise]:
    """Those words that are signs of a disguise. Nearly all are known at once to be none."""
    odd = [
        word
        for word in words
        if word[:3] in _ODD_BEGINNINGS
        or word[-3:] in _ODD_ENDINGS
        or not word.isalpha()
        or len(word) >= _LONG_WORD
    ]
    return {word: disguise for word in odd if (disguise := disguise_of(word))}


def _signs(folded: Folded, words: Sequence[str], known: Mapping[str, Disguise]) -> Iterator[Sign]:
    """Where words that are signs stand, in their order."""
    padded, at = f" {folded.words} ", -1
    for word in filter(known.__contains__, words):
        at = padded.find(f" {word} ", at + 1)
        yield Sign(known[word], word, at)


_UNDO: dict[Disguise, Callable[[str], str]] = {
    Disguise.LEET: lambda line: line.translate(_LEET),
    Disguise.ROTATED: lambda line: codecs.encode(line, "rot13"),
    Disguise.MIRRORED: lambda line: line[::-1],
}


def decoded_pieces(text: str, folded: Folded, different: Set[str]) -> Iterator[Piece]:
    """Every piece of a text that says something once its disguise is taken off.

    `different` are the words of the folded text, each once; those that are certainly plain may
    be left out.
    """
    known = _disguises(different)
    if any(different >= set(word) and " ".join(word) in folded.words for word in _SPELLED):
        yield from _spelled_out(folded)
    codes = sum(disguise is Disguise.CODES for disguise in known.values())
    if codes < _FEWEST_CODES:
        known = {word: one for word, one in known.items() if one is not Disguise.CODES}
    if not known:
        return
    words = folded.words.split()
    signs = _signs(folded, words, known)
    by_disguise: dict[Disguise, list[Sign]] = {}
    for sign in signs:
        by_disguise.setdefault(sign.disguise, []).append(sign)
    for disguise, known_by in by_disguise.items():
        match disguise:
            case Disguise.ENCODED:
                yield from _decode_tokens(text, folded, known_by)
            case Disguise.CODES:
                yield from _decode_codes(folded, words, known_by)
            case _:
                yield from _lines_around(folded, known_by, _UNDO[disguise])


def _is_plain(word: str) -> bool:
    """Figures alone encode nothing here, nor do letters alone unless there are many of them."""
    return word.isdecimal() or not word.isascii() or (word.isalpha() and len(word) < 40)


def _is_leet(word: str) -> bool:
    return len(word) > 4 and not word.isdecimal() and word.translate(_LEET).startswith(_TELLING)


def _decode_tokens(text: str, folded: Folded, signs: list[Sign]) -> Iterator[Piece]:
    """Each long token decoded; those that only line breaks part are one."""
    joined, begin, done = "", 0, -1
    for sign in signs:
        start = folded.origin(sign.at)
        if start < done:
            continue
        token = _TOKEN.match(text, _token_start(text, start))
        if token is None:
            continue
        if joined and not text[done : token.start()].strip("\r\n \t\"'\\"):
            joined += token.group()
        else:
            if said := decode(joined):
                yield Piece(said, begin)
            joined, begin = token.group(), token.start()
        done = token.end()
    if said := decode(joined):
        yield Piece(said, begin)


def _token_start(text: str, at: int) -> int:
    start = at
    while start > 0 and at - start < _FARTHEST_START and _TOKEN_CHAR.match(text[start - 1]):
        start -= 1
    return start


def decode(token: str) -> str | None:
    """What a token says in base64, hexadecimal figures or base32; None if that is no text."""
    bare = token.strip("=-_")
    for attempt in (_from_hex, _from_base64, _from_base32):
        try:
            said = attempt(bare).decode()
        except (ValueError, binascii.Error):
            continue
        if _is_text(said):
            return said
    return None


def _from_hex(token: str) -> bytes:
    return bytes.fromhex(token.removeprefix("0x"))


def _from_base64(token: str) -> bytes:
    plain = token.replace("-", "+").replace("_", "/")
    return base64.b64decode(plain[: len(plain) - (len(plain) % 4 == 1)] + "==", validate=False)


def _from_base32(token: str) -> bytes:
    return base64.b32decode(token + "=" * (-len(token) % 8))


def _is_text(said: str) -> bool:
    if len(said) < 12:
        return False
    if _TOKEN.fullmatch(said):
        # Encoded twice.
        return len(said) >= 2 * _LONG_WORD and not said.isalpha()
    wordlike = sum(1 for char in said if char.isalpha() or char in " \n.,:;!?'-/")
    return wordlike >= 0.85 * len(said) and (" " in said or not said.isascii())


def _decode_codes(folded: Folded, words: Sequence[str], signs: list[Sign]) -> Iterator[Piece]:
    """Bytes that are written one by one, as hexadecimal, decimal or binary figures."""
    if not any(
        signs[last].at - signs[last - _FEWEST_LETTERS].at <= _FEWEST_LETTERS * _WIDEST_CODE
        for last in range(_FEWEST_LETTERS, len(signs))
    ):
        return
    for is_code, run in groupby(words, lambda word: _CODE_WORD.fullmatch(word) is not None):
        written = list(run) if is_code else []
        if len(written) < _SHORTEST_RUN:
            continue
        for base in (2, 16, 10):
            try:
                said = bytes(int(code, base) for code in written).decode()
            except ValueError:
                continue
            if _is_text(said):
                yield Piece(said, folded.origin(signs[0].at))
                break


def _lines_around(folded: Folded, signs: list[Sign], undo: Callable[[str], str]) -> Iterator[Piece]:
    done = -1
    for sign in signs:
        if sign.at < done:
            continue
        lowest = max(sign.at - _AROUND, 0)
        begin = max(folded.text.rfind("\n", lowest, sign.at) + 1, lowest)
        end = folded.text.find("\n", sign.at, sign.at + _AROUND)
        done = end if end >= 0 else min(sign.at + _AROUND, len(folded.text))
        yield Piece(undo(folded.text[begin:done]), folded.origin(begin))


def _spelled_out(folded: Folded) -> Iterator[Piece]:
    for match in _SPELLED_OUT.finditer(folded.text):
        run = match.group()
        parts = _WORD_GAP.split(run) if _WORD_GAP.search(run) else [run]
        if len(parts) == 1 and re.search(r"[._*-]", run):
            parts = run.split(" ")
        said = " ".join(re.sub(r"[ ._*-]", "", part) for part in parts)
        yield Piece(said, folded.origin(match.start()))

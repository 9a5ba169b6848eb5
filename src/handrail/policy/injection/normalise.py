"""One form for all the ways to write the same words, with the way back to where they stood.

Lower case, plain width, no accents on Latin letters, no unseen characters; look-alike letters of
other scripts, tags, escapes and entities read as what they stand for. Time grows with the text.
"""

import html
import re
import string
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import unquote

# Letters of other scripts that look like Latin ones; used only in words that mix scripts.
_LOOK_ALIKE = str.maketrans(
    "абсԁеёгһіјкӏмнорԛгѕтуѵхԝѡуьαβεηικνορτυχωγδλσζոսօհցԁոք",
    "abcdeerhijklmhopqrstyvxwwybabenikvoptuxwyd1sznuohgdnp",
)
# Letters and signs that no decomposition leads back to plain ones.
_PLAIN = str.maketrans(
    dict(zip("ıłøđðħŧɑɡɩʀʏɪɴʟʜɢʙ", "iloddhtagiryinlhgb", strict=True))
    | dict(zip("ᴀᴄᴅᴇꜰᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡᴢ", "acdefjkmopstuvwz", strict=True))
    | {"ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "\u0451": "\u0435"}
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u02bb\u02bc\u02bd", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u300c\u300d\u300e\u300f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | {"\u3002": ".", "\u3001": ","}
)
_NO_WORD = re.compile(r"[\W_]")
_BREAK = re.compile(r"\\[nrt]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u058f]")
# What follows the character with which each kind of escape begins.
_ENTITY = r"(?:#[0-9]{2,7}|#[xX][0-9a-fA-F]{2,6}|[a-zA-Z]{2,8});"
_ESCAPE = r"(?:u\{?[0-9a-fA-F]{4,6}\}?|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{3})"
_PERCENT = r"[0-9a-fA-F]{2}(?:%[0-9a-fA-F]{2})*"
_INNER_TAG = r"/?(?:b|i|u|em|wbr|span|strong|font|a)>(?=[A-Za-z])"
# These begin with one class of characters, because such patterns are looked for much faster.
_NOT_ASCII = re.compile(r"[\x80-\U0010ffff][\x80-\U0010ffff]*")
_STRANGE = re.compile(
    r"[&\\%<\x80-\U0010ffff](?:(?<=[^\x00-\x7f])[^\x00-\x7f]*"
    rf"|(?<=&){_ENTITY}|(?<=\\){_ESCAPE}|(?<=%){_PERCENT}|(?<=<){_INNER_TAG})"
)
_ASCII_SIGNS = {
    "&": re.compile(f"&{_ENTITY}"),
    "\\": re.compile(rf"\\{_ESCAPE}"),
    "%": re.compile(f"%{_PERCENT}"),
    "<": re.compile(f"<{_INNER_TAG}"),
}

# Letters in circles, of full width, of mathematics, and the like begin here.
_FIRST_ODD = 0x2100
_FEWEST_ODD = 3

_TAGS = range(0xE0020, 0xE007F)
_STEP = 500
_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in its one form, and once more of the same length.

    `words` has blanks for everything but letters and figures. `smuggled` says where unseen text
    stood, `disguised` where letters were written so that they are not known for what they are.
    """

    text: str
    words: str
    smuggled: tuple[int, ...] = ()
    disguised: Sequence[int] = ()
    _ours: Sequence[int] = ()
    _theirs: Sequence[int] = ()

    def origin(self, offset: int) -> int:
        """Where in the text as it came something stands that was found in this form."""
        known = bisect_right(self._ours, offset) - 1
        if known < 0:
            return offset
        origin = self._theirs[known] + offset - self._ours[known]
        return min(origin, self._theirs[known + 1]) if known + 1 < len(self._theirs) else origin


def fold(text: str) -> Folded:
    """The one form of a text. Line breaks that are written as escapes become blanks."""
    if "\\" in text:
        text = _BREAK.sub("  ", text)
    if _has_escapes(text):
        return _fold_strange(text, _STRANGE)
    return _folded(text.lower()) if text.isascii() else _fold_strange(text, _NOT_ASCII)


def _has_escapes(text: str) -> bool:
    return any(mark in text and sign.search(text) for mark, sign in _ASCII_SIGNS.items())


def _fold_strange(text: str, strange: re.Pattern[str], *, mixed: bool = False) -> Folded:
    """`mixed` is said once a word was met that mixes scripts: then whole words may be disguised."""
    parts: list[str] = []
    ours: list[int] = []
    theirs: list[int] = []
    smuggled: list[int] = []
    hidden: list[int] = []
    done = length = 0
    for match in _found(strange, text):
        start, end = match.span()
        run = match.group()
        beside = text[max(start - 1, 0) : start] + text[end : end + 1]
        disguised = _OTHER_SCRIPT.search(run) is not None and _has_latin(beside)
        if disguised and not mixed:
            return _fold_strange(text, strange, mixed=True)
        told = _plain(run, beside, disguised or (mixed and _is_look_alike(run)))
        if told is None:
            told = _smuggled(run)
            smuggled.append(length + start - done)
        elif disguised or _is_disguise(run, told, beside):
            hidden.append(length + start - done)
        parts += (text[done:start], told)
        length += start - done + len(told)
        if len(told) != end - start:
            ours += (length - len(told), length)
            theirs += (start, end)
        done = end
    parts.append(text[done:])
    return _folded("".join(parts).lower(), tuple(smuggled), hidden, ours, theirs)


def _found(strange: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Where anything is strange. What is plain is left out in large steps, which is faster."""
    if strange is not _NOT_ASCII:
        yield from strange.finditer(text)
        return
    starts = range(0, len(text), _STEP)
    for plain, some in groupby(starts, lambda start: text[start : start + _STEP].isascii()):
        if not plain:
            steps = [*some]
            yield from strange.finditer(text, steps[0], steps[-1] + _STEP)


def _folded(
    text: str,
    smuggled: tuple[int, ...] = (),
    disguised: Sequence[int] = (),
    ours: Sequence[int] = (),
    theirs: Sequence[int] = (),
) -> Folded:
    return Folded(text, _words(text), smuggled, disguised, ours, theirs)


def _words(text: str) -> str:
    """Letters and figures as they are, a blank for everything else."""
    if text.isascii():
        # Much faster than by characters.
        return text.encode().translate(_BLANKS).decode()
    return _NO_WORD.sub(" ", text)


def _has_latin(beside: str) -> bool:
    return any(char.isascii() and char.isalpha() for char in beside)


def _is_look_alike(run: str) -> bool:
    return all(ord(char) in _LOOK_ALIKE for char in run.lower())


def _plain(strange: str, beside: str, latin: bool) -> str | None:
    """What a strange run of characters stands for; None if it hides more than it shows."""
    match strange[0]:
        case "&":
            return fold_characters(html.unescape(strange))
        case "\\":
            return fold_characters(_unescape(strange))
        case "%":
            return fold_characters(unquote(strange, errors="ignore"))
        case "<":
            return "" if beside[:1].isalpha() else " " * len(strange)
        case _:
            pass
    if len(strange) >= 16 and sum(1 for _ in _hidden(strange)) >= 16:
        return None
    told = fold_characters(strange)
    return told.translate(_LOOK_ALIKE) if latin else told


def _is_disguise(run: str, told: str, beside: str) -> bool:
    """Whether plain letters were meant that anybody would have written as such."""
    if not told:
        # Something unseen, or a tag, in the middle of a word.
        return len(beside) == 2 and beside.isascii() and beside.isalpha()
    match run[0]:
        case "&":
            return run[1] == "#" and _is_plain_letter(html.unescape(run))
        case "\\":
            return _is_plain_letter(_unescape(run))
        case "%":
            return _is_plain_letter(unquote(run, errors="ignore"))
        case _:
            pass
    odd = sum(1 for char in run if ord(char) >= _FIRST_ODD)
    return odd >= _FEWEST_ODD and odd == len(run) and _is_plain_letter(told)


def _is_plain_letter(meant: str) -> bool:
    return meant.isascii() and meant.isalpha()


def _unescape(escape: str) -> str:
    digits = escape[1:].strip("uUx{}")
    number = int(digits, 8 if escape[1].isdigit() else 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else " "


def _hidden(run: str) -> Iterator[str]:
    """The characters that tags and variation selectors carry."""
    for char in run:
        number = ord(char)
        if number in _TAGS:
            yield chr(number - 0xE0000)
        elif number in _SELECTORS[0]:
            yield chr(number - 0xFE00)
        elif number in _SELECTORS[1]:
            yield chr(number - 0xE0100 + 16)


def _smuggled(run: str) -> str:
    """A run with much unseen in it: what is seen, and then what is hidden."""
    seen = "".join(char for char in run if not any(True for _ in _hidden(char)))
    return f"{fold_characters(seen)} {''.join(_hidden(run)).lower()} "


def fold_characters(text: str) -> str:
    return text.translate(_CHARACTERS).lower()


class _Characters(dict[int, str]):
    """What each character stands for, found out when it is met first."""

    def __missing__(self, number: int) -> str:
        told = _fold_character(chr(number))
        if len(self) < 20_000:
            self[number] = told
        return told


def _fold_character(char: str) -> str:
    number = ord(char)
    if number < 0x80:
        return char
    if number in _TAGS:
        return chr(number - 0xE0000)
    if 0x1F130 <= number < 0x1F18A:
        return chr(97 + (number - 0x1F130) % 32) if (number - 0x1F130) % 32 < 26 else " "
    if 0x1F1E6 <= number < 0x1F200:
        return chr(97 + number - 0x1F1E6)
    category = unicodedata.category(char)
    if category in {"Cf", "Mn", "Me"} and not 0x3099 <= number <= 0x309A:
        return ""
    if category[0] == "Z":
        return "\n" if category in {"Zl", "Zp"} else " "
    plain = unicodedata.normalize("NFKC", char).lower().translate(_PLAIN)
    if plain.isascii():
        return plain
    if not any(map(str.isalnum, plain)):
        return " "
    if "\u0370" <= plain <= "\u03ff":
        return chr(_LOOK_ALIKE.get(ord(plain[0]), ord(plain[0])))
    bare = unicodedata.normalize("NFD", plain)
    return bare[0] if bare[0].isascii() and bare[0].isalpha() else plain


_CHARACTERS = _Characters()
_BLANKS = bytes(
    number if chr(number) in string.ascii_letters + string.digits else ord(" ")
    for number in range(256)
)

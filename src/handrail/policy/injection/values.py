"""Values that a person should know the origin of, and whether a text holds one of them.

Looked for in the one form that all texts are brought into, so that case, width, escapes, unseen
characters, markup or a dot in brackets make no difference. Time grows with the texts, and both have
bounds.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from handrail.core.tool import JsonObject
from handrail.core.visible import cut, visible
from handrail.policy.injection.normalise import fold

MOST_VALUES = 100
# Of a parameter that is longer, the beginning is looked at.
_MOST_CHARS = 50_000
_MOST_LINES = 20
_MOST_WHOLE_CHARS = 2_000
_MOST_DEPTH = 6
_FEWEST_CHARS = 8
_SHOWN_CHARS = 120

_URL = re.compile(r"https?://[^\s\"'<>`|\\^{}]{3,2000}", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.){1,20}[a-z]{2,24}")
# Signs that a word of plain prose does not hold inside.
_UNLIKE_PROSE = re.compile(r"\w[/._:@=%+\\-]\w|\d")
# A dot that is written so that nobody clicks: `x[.]example`, `x (dot) example`, `x dot example`.
_HAS_DISARMED = re.compile(r"[\[({ ] {0,2}(?:\.|dot) {0,2}[\])}a-z]")
_DISARMED = re.compile(r" ?[\[({] {0,2}(?:\.|dot) {0,2}[\])}] ?|(?<=[a-z0-9]) dot (?=[a-z]{2})")
# Markup within a name: its letters are what is seen.
_TAG = re.compile(r"<(?:/?[a-z][^<>\n]{0,200}|!--[^<>]{0,200}--)>")
_ESCAPED = re.compile(r"\\(?=[./:@-])")
_MARKS = str.maketrans("", "", "*`")
# A name that goes on in the next line. What begins with a sign of its own is found much faster.
_WRAPPED_AFTER = re.compile(r"\.(?<=[a-z0-9]\.)[\t\r\n][ \t\r\n]{0,20}(?=[a-z0-9])")
_WRAPPED_BEFORE = re.compile(r"[\t\r\n](?<=[a-z0-9].)[ \t\r\n]{0,20}\.(?=[a-z0-9])", re.DOTALL)
_HAS_LONG_ADDRESS = re.compile(r":[0-9a-f]{0,4}:")
_LONG_ADDRESS = re.compile(r"(?<![0-9a-z:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?![0-9a-z:])")
# Where letters of other scripts are glued to those of a name.
_GLUED = re.compile(r"(?<=[A-Za-z0-9])(?=[^\W\x00-\x7f])|(?<=[^\W\x00-\x7f])(?=[A-Za-z0-9])")
_SCHEME = re.compile(r"\bhxxp(?=s?://)")
_END_MARKS = ".,;:!?)]}'\"/"
_PART_OF_A_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_-"


class Kind(StrEnum):
    URL = "url"
    HOST = "host"
    ADDRESS = "address"
    PATH = "path"
    COMMAND = "command"
    ARGUMENT = "argument"


@dataclass(frozen=True, slots=True)
class Value:
    """`shown` is what a person is told of it, `forms` are what is looked for."""

    kind: Kind
    shown: str
    forms: tuple[str, ...]

    def stands_in(self, text: str) -> bool:
        """Whether a text, as `in_one_form` gives it, holds this value as a word of its own."""
        return any(_holds(text, form, self.kind) for form in self.forms)


def in_one_form(text: str) -> str:
    """A text as values are looked for in it."""
    folded = fold(text).text.translate(_MARKS)
    if "<" in folded:
        folded = _TAG.sub("", folded)
    if "\\" in folded:
        folded = _ESCAPED.sub("", folded)
    folded = _WRAPPED_BEFORE.sub(".", _WRAPPED_AFTER.sub(".", folded))
    folded = " ".join(folded.split())
    if _HAS_DISARMED.search(folded):
        folded = _DISARMED.sub(".", folded)
    if "hxxp" in folded:
        folded = _SCHEME.sub("http", folded)
    return _LONG_ADDRESS.sub(_in_short, folded) if _HAS_LONG_ADDRESS.search(folded) else folded


def as_told(text: str) -> str:
    """The same of what others wrote: also names that stand among letters of another script."""
    apart = text if text.isascii() else _GLUED.sub(" ", text)
    form = in_one_form(text)
    return form if apart == text else f"{form}\n{in_one_form(apart)}"


def _in_short(match: re.Match[str]) -> str:
    """An address of IPv6 in its one short form; a time of day as it is."""
    try:
        return ipaddress.IPv6Address(match.group()).compressed
    except ValueError:
        return match.group()


def notable_values(params: JsonObject, *, large: str | None = None) -> list[Value]:
    """What stands in a call's parameters that may have been put into an agent's mouth.

    Of the `large` parameter, which is the content of a file, only URLs and addresses: its lines
    are in every text that it was made of.
    """
    found: dict[tuple[Kind, tuple[str, ...]], Value] = {}
    for value in _all_values(params, large):
        if len(found) >= MOST_VALUES:
            break
        if value.forms:
            found.setdefault((value.kind, value.forms), value)
    return [*found.values()]


def hosts_in(params: JsonObject, named: Iterable[str] = ()) -> list[Value]:
    """The hosts a call speaks to: those that are `named`, and those of the URLs it holds."""
    found = {host: None for host in map(_bare_host, named) if host}
    for text in _texts(params, 0):
        for url in _URL.findall(text[:_MOST_CHARS]):
            if host := _host_of(url):
                found[host] = None
    return [_host_value(host) for host in [*found][:MOST_VALUES]]


def _all_values(params: JsonObject, large: str | None) -> Iterator[Value]:
    for name, param in params.items():
        for text in _texts(param, 0):
            yield from _reaching(text[:_MOST_CHARS])
        if name != large:
            yield from _whole(param)
    yield from _command_line(params)


def _reaching(text: str) -> Iterator[Value]:
    for match in _URL.findall(text):
        url = cast(str, match).rstrip(_END_MARKS)
        yield Value(Kind.URL, _shown(url), _forms(url))
        if host := _host_of(url):
            yield _host_value(host)
    for address in _ADDRESS.findall(text):
        yield Value(Kind.ADDRESS, _shown(address), _forms(address))


def _whole(param: object) -> Iterator[Value]:
    """Values that are a parameter, or a line of one, or one of several arguments."""
    for text in _texts(param, 0):
        if len(text) > _MOST_WHOLE_CHARS:
            continue
        for line in text.splitlines()[:_MOST_LINES]:
            yield from _line(line.strip())


def _line(line: str) -> Iterator[Value]:
    if " " in line:
        if len(line) >= _FEWEST_CHARS:
            yield Value(Kind.COMMAND, _shown(line), _forms(line))
        for word in line.split()[:_MOST_LINES]:
            yield from _word(word)
    else:
        yield from _word(line)


def _word(word: str) -> Iterator[Value]:
    if word.startswith("-"):
        # Of a flag, what it is set to.
        word = word.partition("=")[2]
    word = word.strip("'\"`;,()")
    if len(word) < _FEWEST_CHARS or "://" in word or "@" in word:
        return
    if "/" in word.strip("/"):
        yield Value(Kind.PATH, _shown(word), _forms(word))
    elif _UNLIKE_PROSE.search(word):
        yield Value(Kind.ARGUMENT, _shown(word), _forms(word))


def _command_line(params: JsonObject) -> Iterator[Value]:
    """A program and its arguments, as somebody would have written them in one line."""
    args: Any = params.get("args")
    if not isinstance(args, list):
        return
    first = params.get("command", params.get("action"))
    words = [word for word in [first, *cast(list[object], args)] if isinstance(word, str)]
    line = " ".join(words)
    if len(words) > 1 and _FEWEST_CHARS <= len(line) <= _MOST_WHOLE_CHARS:
        yield Value(Kind.COMMAND, _shown(line), _forms(line))


def _texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _MOST_DEPTH and isinstance(value, dict):
        for item in cast(dict[str, object], value).values():
            yield from _texts(item, depth + 1)
    elif depth < _MOST_DEPTH and isinstance(value, list):
        for item in cast(list[object], value)[:1_000]:
            yield from _texts(item, depth + 1)


def _host_value(host: str) -> Value:
    """A host, and the domains it lies in: `data.collect.example` is `collect.example`'s."""
    names = [host]
    if _HOST.fullmatch(host):
        labels = host.split(".")
        names = [".".join(labels[start:]) for start in range(len(labels) - 1)]
    forms = {form: None for name in names for form in (*_forms(name), *_forms(_as_read(name)))}
    return Value(Kind.HOST, _shown(host), tuple(forms))


def _as_read(name: str) -> str:
    """A name with its international parts as people write them."""
    try:
        return ".".join(
            label[4:].encode().decode("punycode") if label.startswith("xn--") else label
            for label in name.split(".")
        )
    except UnicodeError:
        return name


def _host_of(url: str) -> str:
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    return _bare_host(authority.rpartition("@")[2])


def _bare_host(word: str) -> str:
    """A host in small letters, without its port."""
    word = word.lower().rstrip(".")
    if word.startswith("["):
        return word.partition("]")[0].removeprefix("[")
    name, colon, port = word.rpartition(":")
    return name if colon and port.isdigit() and ":" not in name else word


def _forms(text: str) -> tuple[str, ...]:
    form = in_one_form(text).strip().rstrip("/")
    return (form,) if form else ()


def _holds(text: str, form: str, kind: Kind) -> bool:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if kind is Kind.HOST:
            alone = not _is_within_a_name(text, start, end)
        else:
            before, after = text[max(start - 1, 0) : start], text[end : end + 1]
            alone = not (before and before in _PART_OF_A_NAME + ".")
            alone = alone and not (after and after in _PART_OF_A_NAME)
        if alone:
            return True
        start = text.find(form, start + 1)
    return False


def _is_within_a_name(text: str, start: int, end: int) -> bool:
    """Whether a host is only part of a longer name; lines and dashes around it are none of it."""
    before = text[max(start - 8, 0) : start].rstrip("_-")[-1:]
    after = text[end : end + 8]
    goes_on = after.lstrip("_-")[:1] if after[:1] != "." else after[1:].lstrip("_-")[:1]
    return _is_part(before) or _is_part(goes_on)


def _is_part(char: str) -> bool:
    return char != "" and char in _PART_OF_A_NAME


def _shown(text: str) -> str:
    return cut(visible(text), _SHOWN_CHARS)

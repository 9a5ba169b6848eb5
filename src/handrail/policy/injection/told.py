"""What a result tells of: hosts, addresses and paths, as keys that can be kept and looked up.

A host is kept by every two names in a row, and looked for by its last two, since a domain tells of
all that lies in it. Where a result tells of more than is kept, that is kept as well, and may be any
host. Every pattern reads each character once: texts are cut into words first, and most words hold
no sign that a name, an address or a path has.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from handrail.policy.injection.values import Kind, Value, as_told

MOST_CHARS = 1_000_000
MOST_KEYS = 10_000
# Stands for what was too much to be kept.
ANY_HOST = "host *"

_MOST_KEY_CHARS = 300
_MOST_WORD_CHARS = 2_000
_MOST_CHARS_REMEMBERED = 4_000
_FEWEST_CHARS = 8
_NAMES = re.compile(r"[\w.-]{4,}")
_WORD = re.compile(r"[^\s\"'<>|\\^{}(),;]{4,}")
_TOP = re.compile(r"[^\W\d_][\w-]*")
_LONG_ADDRESS = re.compile(r"[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}")
_URL_HOST = re.compile(r"https?://(?:[^\s/@]{0,100}@)?([\w-]{1,63})(?=[:/?#]|$)")
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_END_MARKS = ".,;:!?)]}'\"/"
_DIGITS = "0123456789abcdef:"
_KEPT_KINDS = {Kind.URL: "url", Kind.ADDRESS: "address", Kind.PATH: "path"}


@dataclass(frozen=True, slots=True)
class Told:
    """The keys of one result; `hosts` of them are kept whatever the call had said itself."""

    hosts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.hosts, *self.others)


def told_in(text: str, *, paths: bool = True) -> Told:
    """What a text tells of. The `paths` of some tools are the person's own."""
    # Agents read the same again and again.
    return (_remembered if len(text) <= _MOST_CHARS_REMEMBERED else _told_in)(text, paths=paths)


def _told_in(text: str, *, paths: bool) -> Told:
    cut = len(text) > MOST_CHARS
    if cut:
        half = MOST_CHARS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    names = list[str]()
    words = list[str]()
    for part in as_told(text).split():
        if "." in part or "/" in part or ":" in part or "@" in part:
            names += _NAMES.findall(part)
            words += (word[:_MOST_WORD_CHARS] for word in _WORD.findall(part))
    hosts, too_many = _some(_hosts_in(names, words))
    others, _ = _some(_others_in(words, paths=paths))
    return Told((*hosts, ANY_HOST) if cut or too_many else hosts, others)


_remembered = lru_cache(maxsize=500)(_told_in)


def keys_of(value: Value) -> tuple[str, ...]:
    """By what it would have been kept, had a result told of it; nothing where it is not kept."""
    if value.kind is Kind.HOST:
        return tuple(dict.fromkeys(f"host {_host_key(form)}" for form in value.forms))
    if (kind := _KEPT_KINDS.get(value.kind)) is None:
        return ()
    return tuple(_as_key(kind, form) for form in value.forms)


def _hosts_in(names: Iterable[str], words: Iterable[str]) -> Iterator[str]:
    for name in names:
        if "." in name:
            yield from (f"host {key}" for key in _pairs_in(name))
    for word in words:
        if "://" in word:
            yield from (f"host {name}" for name in _URL_HOST.findall(word))
        if word.count(":") > 1:
            for match in _LONG_ADDRESS.finditer(word):
                yield from (f"host {key}" for key in _number_of(match.group()))


def _others_in(words: Iterable[str], *, paths: bool) -> Iterator[str]:
    for word in words:
        if "://" in word:
            url = word[max(word.find("http"), 0) :].rstrip(_END_MARKS)
            yield _as_key("url", url)
            yield _as_key("url", re.split(r"[?#]", url, maxsplit=1)[0].rstrip("/"))
        elif "@" in word:
            yield from (_as_key("address", one.rstrip(".")) for one in _ADDRESS.findall(word))
        elif paths and "/" in word and len(path := word.rstrip(_END_MARKS)) >= _FEWEST_CHARS:
            yield _as_key("path", path)


def _pairs_in(names: str) -> Iterator[str]:
    """Every two names in a row, without the lines and dashes that they may stand between."""
    yield from _number_of(names.strip("."))
    labels = [label.strip("_-") for label in names.split(".")]
    for left, right in pairwise(labels):
        if left and _TOP.fullmatch(right):
            yield f"{left}.{right}"[:_MOST_KEY_CHARS]


def _number_of(name: str) -> Iterator[str]:
    if name[:1] in _DIGITS and name[-1:] in _DIGITS:
        try:
            yield ipaddress.ip_address(name).compressed
        except ValueError:
            return


def _host_key(name: str) -> str:
    """What a host is looked for by: its last two names, its number, or its one name."""
    for number in _number_of(name):
        return number
    labels = [label.strip("_-") for label in name.split(".")]
    return ".".join(labels[-2:])[:_MOST_KEY_CHARS]


def _as_key(kind: str, form: str) -> str:
    return f"{kind} {form}"[:_MOST_KEY_CHARS]


def _some(keys: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """So many different ones, the first ones first, and whether there are more."""
    found: dict[str, None] = {}
    for key in keys:
        found[key] = None
        if len(found) > MOST_KEYS:
            return tuple(found)[:MOST_KEYS], True
    return tuple(found), False

"""Secrets are masked before anything is stored.

Every pattern is anchored or bounded: text of any length is masked in time that grows with it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from handrail.core.access import Role
from handrail.core.masks import MASK, cut_mark

KEPT_CHARS = 20_000

# No pattern below covers more than this, but for keys in armour, which end with the text at last.
_LONGEST_SECRET = 17_000

_NAMES = (
    r"pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|authori[sz]ation|cookie|session[_-]?key"
)
_SECRET_NAME = re.compile(_NAMES, re.IGNORECASE)
_SECRET_FLAG = re.compile(rf"--?[\w-]{{0,40}}(?:{_NAMES})[\w-]{{0,40}}", re.IGNORECASE)
# Numbers are secrets behind these names, and counts behind others (`max_tokens`).
_SECRET_NUMBER = re.compile(r"pass(?:word|wd|phrase|code)|secret|credential|\bpin\b", re.IGNORECASE)

_BEGIN = r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_ARMOUR = rf"{_BEGIN}.*?(?:{_END}|\Z)"
_OWN_PREFIX = f"hr_(?:{'|'.join(Role)})_"
_SHAPES = (
    # tokens that say whose they are
    r"(?<![A-Za-z0-9_-])(?:"
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{16,}|[sprk]k_(?:live|test)_\w{10,}"
    r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|pypi-(?=[A-Za-z0-9]{20})[A-Za-z0-9_-]{20,}"
    r"|A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])|AIza[0-9A-Za-z_-]{35,}"
    rf"|{_OWN_PREFIX}[A-Za-z0-9_-]{{20,}}"
    r"|eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,4000}"
    r")",
    # user and password in an address
    r"(?<=://)[^/\s:@]{0,200}:[^/\s]{1,200}(?=@)",
    r"(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9+/=._~-]{4,4000}",
)
_SHAPE = re.compile("|".join((_ARMOUR, *_SHAPES)), re.DOTALL)
# A name in somebody's code can begin like one of our tokens, but is hardly as long and mixed.
_OWN_TOKEN = re.compile(rf"{_OWN_PREFIX}(?=[a-z0-9_-]{{0,200}}[A-Z])[A-Za-z0-9_-]{{20,}}")
_HEADER = re.compile(
    r"(?i)\b((?:(?:proxy-)?authorization|(?:set-)?cookie|x-api-key)\s{0,3}:\s{0,3})[^\r\n'\"]{1,4000}"
)
_TYPE_WORD = r"(?:str|string|int|bytes|bool|float|number|any|none|null|list|dict|optional)\b"
_ASSIGNMENT = re.compile(
    rf"(?P<name>(?:{_NAMES})[\w-]{{0,40}}[\"']?\s{{0,3}}(?:=|:(?!\s{{0,3}}{_TYPE_WORD}))\s{{0,3}})"
    r"(?:(?:\"[^\"\n]{0,4000}\"|'[^'\n]{0,4000}'){1,4}[^\s,;&'\"]{0,4000}|[^\s,;&'\"]{1,4000})",
    re.IGNORECASE,
)
_FLAG_AND_VALUE = re.compile(
    rf"(?P<name>(?<![\w-])--[\w-]{{0,40}}(?:{_NAMES})[\w-]{{0,40}}\s{{1,3}})"
    r"(?:\"[^\"\n]{1,4000}\"|'[^'\n]{1,4000}'|[^\s-]\S{0,4000})",
    re.IGNORECASE,
)


# Nothing of the above fits a text without any of these, and most names and paths have none.
_HINT = re.compile(r"[\s=:]|--|[\w-]{11}")


def mask_text(text: str) -> str:
    """Cover what has the shape of a secret, or stands behind the name of one."""
    return text if _HINT.search(text) is None else _cover(text)


def _cover(text: str) -> str:
    text = _SHAPE.sub(MASK, text)
    text = _HEADER.sub(rf"\1{MASK}", text)
    text = _ASSIGNMENT.sub(rf"\g<name>{MASK}", text)
    return _FLAG_AND_VALUE.sub(rf"\g<name>{MASK}", text)


def mask_own_tokens(text: str) -> str:
    """Cover Handrail's own tokens and nothing else, in text that is otherwise passed on whole."""
    return _OWN_TOKEN.sub(MASK, text)


def mask(value: Any) -> Any:
    """The same JSON value as it is kept: its secrets covered, its long texts cut."""
    if isinstance(value, str):
        return _mask_start(value) if len(value) > KEPT_CHARS else mask_text(value)
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return {key: MASK if _is_secret(key, item) else mask(item) for key, item in items}
    if isinstance(value, list | tuple):
        return _mask_list(cast(Sequence[Any], value))
    return value


def _mask_start(text: str) -> str:
    """The start of a long text. What lies across the cut is masked before it is cut."""
    masked = mask_text(text[: KEPT_CHARS + _LONGEST_SECRET])
    return masked[:KEPT_CHARS] + cut_mark(len(text) - KEPT_CHARS)


def _mask_list(items: Sequence[Any]) -> list[Any]:
    """Item by item; what follows a flag such as `--password` is covered whole."""
    masked: list[Any] = []
    after_flag = False
    for item in items:
        masked.append(MASK if after_flag and isinstance(item, str) else mask(item))
        after_flag = isinstance(item, str) and _SECRET_FLAG.fullmatch(item) is not None
    return masked


def _is_secret(name: str, value: object) -> bool:
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return _SECRET_NUMBER.search(name) is not None
    return _SECRET_NAME.search(name) is not None

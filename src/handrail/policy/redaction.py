"""Secrets are masked before anything is kept or shown."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

MASK = "[masked]"

_SECRET_NAME = re.compile(
    r"pass(word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|authori[sz]ation|cookie|session[_-]?key",
    re.IGNORECASE,
)
_SECRET_SHAPE = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|hf|npm|pypi|hr_user|hr_client|hr_agent)"
    r"[-_][A-Za-z0-9_-]{12,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
    r"|(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9+/=._~-]{8,}",
    re.DOTALL,
)
_ASSIGNMENT = re.compile(
    rf"(?P<name>[\w-]*(?:{_SECRET_NAME.pattern})[\w-]*)(?P<sep>\s*[=:]\s*)(?P<value>[^\s,;&'\"]+)",
    re.IGNORECASE,
)


def mask_text(text: str) -> str:
    """Cover what has the shape of a secret, or stands behind the name of one."""
    text = _SECRET_SHAPE.sub(MASK, text)
    return _ASSIGNMENT.sub(lambda found: f"{found['name']}{found['sep']}{MASK}", text)


def mask(value: Any) -> Any:
    """The same JSON value with its secrets covered."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return {key: MASK if _is_secret(key, item) else mask(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [mask(item) for item in cast(Sequence[Any], value)]
    return value


def _is_secret(name: str, value: object) -> bool:
    return isinstance(value, str) and bool(_SECRET_NAME.search(name))

"""Passwords in git's settings, and how they are taken out of what is shown."""

import re
from collections.abc import Iterable, Iterator

from handrail.policy.redaction import MASK, mask_text

_USER = re.compile(r"(?i)((?:https?|ftps?)://)[^/\s\"]*@")
_PASSWORD = re.compile(r"(?i)[a-z0-9-]*pass[a-z0-9-]*")
# `git:password@host:path`, as ssh has it.
_SPELT_FOR_SSH = re.compile(
    r"(?<![^\s\"])([^\s/:@\"]{1,200}):[^\s/@\"]{1,4000}@(?=[^\s/:@\"]{1,255}:)"
)
_HEADER = re.compile(r"([A-Za-z0-9-]{1,100}):.*", re.DOTALL)
# A program that comes with git or lies somewhere, and what those with git are told; no command.
_PLAIN_HELPER = re.compile(r"[\w./~-]+(?: --(?:timeout|file|socket)[ =][\w./~-]+)*")
# What git prints of an address that was put together from two settings still has this part of one.
_FRONT = re.compile(r"(?i)[a-z0-9+-]{1,40}://[^/\s\"]{1,4000}@")

_MOST_SECRETS = 500
# What is shorter is a word like any other, and hardly a password.
_LEAST_CHARS = 8


def without_password(content: str, key: str) -> str:
    """A value as it may be seen; without a `key` it is the name of a section, or a comment."""
    name = key.lower()
    if name and content and _PASSWORD.fullmatch(name):
        return MASK
    if name == "extraheader":
        header = _HEADER.fullmatch(content)
        return content and (MASK if header is None else f"{header[1]}: {MASK}")
    if name == "helper" and content and not _PLAIN_HELPER.fullmatch(content):
        return MASK
    front = f"{key} = " if key else ""
    content = _SPELT_FOR_SSH.sub(rf"\1:{MASK}@", _USER.sub(r"\1", content))
    told = mask_text(front + content)
    return told.removeprefix(front) if told.startswith(front) else MASK


def mask_settings(printed: bytes, settings: Iterable[tuple[str, str]]) -> bytes:
    """What git has printed, without the passwords in its settings, each a name and a value."""
    secrets = dict(_seen_instead(settings))
    if len(secrets) > _MOST_SECRETS:
        return b"[not shown: git's settings hold too many passwords to look for them in this]"
    # The longest first: one may be a part of another.
    for secret in sorted(secrets, key=len, reverse=True):
        printed = printed.replace(secret, secrets[secret])
    return printed


def _seen_instead(settings: Iterable[tuple[str, str]]) -> Iterator[tuple[bytes, bytes]]:
    """What may not be seen, and what is to stand there."""
    for name, value in settings:
        section, _, key = name.rpartition(".")
        fronts = _FRONT.findall(f"{section} {value}")
        told = without_password(value, key)
        if told != value and (fronts or len(value) >= _LEAST_CHARS):
            yield _bytes(value), _bytes(told)
        for front in fronts:
            yield _bytes(front), _bytes(without_password(front, ""))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")

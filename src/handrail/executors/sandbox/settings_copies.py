"""git's own settings without the passwords in them, for commands that only look.

git must read its settings, and many of its commands print them, or print whatever file they are
led to. So who is asked nobody about gets a copy.
"""

import os
import re
import stat

from handrail.policy.redaction import MASK, mask_text

_MOST_BYTES = 1 << 20
# What names a section may be the name of a filter, and filters are switched off by their names.
_SECTION = re.compile(r'\s*\[(?:[^"\]]|"(?:\\.|[^"\\])*")*\]')
_USER = re.compile(r"(?i)(https?://)[^/\s\"]*@")
_PASSWORD = re.compile(r"(?i)\A(\s*[a-z0-9-]*pass[a-z0-9-]*\s*=).*")


def copy_without_passwords(path: str) -> bytes | None:
    """What to show in the place of a file of settings; None where there is nothing to mask."""
    content = _read(path)
    if content is None:
        return b""
    text = content.decode(errors="surrogateescape")
    masked = "\n".join(map(_masked, text.split("\n")))
    return None if masked == text else masked.encode(errors="surrogateescape")


def _masked(line: str) -> str:
    section = _SECTION.match(line)
    start = section.end() if section else 0
    value = _PASSWORD.sub(rf"\1 {MASK}", _USER.sub(r"\1", line[start:]))
    return line[:start] + mask_text(value)


def _read(path: str) -> bytes | None:
    """None for what is no file, or larger than any settings."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            return None
        return os.read(fd, _MOST_BYTES)
    finally:
        os.close(fd)

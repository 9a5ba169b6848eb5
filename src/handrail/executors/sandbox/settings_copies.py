"""git's own settings without the passwords in them, for commands that only look.

git must read its settings, and many of its commands print them, or print whatever file they are
led to. So who is asked nobody about gets a copy: without comments, and without what no git goes by,
since nobody can tell what other programs keep there.
"""

import os
import re
import stat

from handrail.core.errors import CommandExecutionError
from handrail.executors.repository.known_settings import KNOWN, WHOLE, is_known
from handrail.executors.repository.leave import SETTINGS
from handrail.executors.repository.passwords import without_password
from handrail.executors.repository.places import GIT
from handrail.executors.repository.settings import Part, parts_of
from handrail.policy.redaction import MASK

_MOST_BYTES = 1 << 20
_ALIASES = "alias"
_AMOUNT = re.compile(r"(?i)true|false|yes|no|on|off|auto|always|never|[+-]?[0-9]{1,6}[kmg]?")


def is_settings(path: str) -> bool:
    """Whether a path is one of a repository's own files of settings."""
    return GIT in path.split("/") and path.rpartition("/")[2] in SETTINGS


def holds_password(root: str, path: str) -> bool:
    """Whether git may only see a copy of its settings at a path below the root."""
    return copy_without_passwords(os.path.join(root, path)) is not None


def copy_without_passwords(path: str) -> bytes | None:
    """What to show in the place of a file of settings; None where there is nothing to mask.

    Raises:
        CommandExecutionError: Nobody can tell where in it the passwords are.
    """
    content = _read(path)
    if content is None:
        return b""
    text = content.decode(errors="surrogateescape")
    copied: list[str] = []
    end = 0
    try:
        for part in parts_of(text):
            copied += [text[end : part.start], _masked(text[part.start : part.end], part)]
            end = part.end
    except ValueError as error:
        raise _refused(path, str(error)) from error
    masked = "".join((*copied, text[end:]))
    return None if masked == text else masked.encode(errors="surrogateescape")


def _masked(written: str, part: Part) -> str:
    """One part of the text as it may be seen."""
    if part.content is None:
        return ""
    if not _is_gits(part) and part.content:
        return part.spelt(MASK)
    # Sections may be named after an address; other names are kept, for git goes by them.
    if not part.key and "://" not in part.content:
        return written
    content = without_password(part.content, part.key)
    return written if content == part.content else part.spelt(content)


def _is_gits(part: Part) -> bool:
    """Whether git itself goes by it; newer ones know more settings, of which most say how much."""
    if not part.key:
        return part.section in WHOLE or part.section in KNOWN
    if part.section == _ALIASES and (part.content or "").startswith("!"):
        return False
    is_amount = part.section in KNOWN and _AMOUNT.fullmatch(part.content or "")
    return is_known(part.section, part.key.lower()) or bool(is_amount)


def _read(path: str) -> bytes | None:
    """None where there is no such file any more."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be opened") from error
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise _refused(path, "it is not a file")
        content = os.read(fd, _MOST_BYTES + 1)
    finally:
        os.close(fd)
    if len(content) > _MOST_BYTES:
        raise _refused(path, f"it is larger than {_MOST_BYTES:,} bytes")
    return content


def _refused(path: str, why: str) -> CommandExecutionError:
    return CommandExecutionError(
        f"{path} cannot be shown to git without the passwords in it: {why}"
    )

"""git's own settings without the passwords in them, as boxes show them.

git must read its settings, and many of its commands print them. So each box shows a copy: without
comments, and without what no git goes by, since other programs may keep anything there.
"""

import re

from handrail.core.errors import CommandExecutionError
from handrail.executors.repository.known_settings import KNOWN, WHOLE, is_known
from handrail.executors.repository.passwords import without_password
from handrail.executors.repository.settings import Part, parts_of, read_settings
from handrail.policy.redaction import MASK

_ALIASES = "alias"
_AMOUNT = re.compile(r"(?i)true|false|yes|no|on|off|auto|always|never|[+-]?[0-9]{1,6}[kmg]?")


def copy_without_passwords(path: str) -> bytes | None:
    """What to show in the place of a file of settings; None where there is nothing to mask.

    Raises:
        CommandExecutionError: Nobody can tell where in it the passwords are.
    """
    copied: list[str] = []
    end = 0
    try:
        text = read_settings(path)
        if text is None:
            return None
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


def _refused(path: str, why: str) -> CommandExecutionError:
    return CommandExecutionError(f"{path} cannot be shown without the passwords in it: {why}")

"""Patterns for file names, looked up below the workspace as bash would look them up.

What is found is given as `./name`, so that no file can be named like a flag.
"""

import os
import re

from handrail.core.errors import CommandExecutionError
from handrail.core.wildcard import compile_wildcard
from handrail.executors.beneath import PASSAGE, open_beneath

MOST_NAMES = 1_000

_SPECIAL = re.compile(r"[*?]|\[.*\]", re.DOTALL)
# Left as they stand: escapes, and classes by name such as [:alpha:], which know a language.
_UNKNOWN = re.compile(r"\\|\[[!^]?\]?[^\]]*\[[:.=]")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def expand(root_fd: int, folder: str, pattern: str) -> list[str]:
    """The names that fit, sorted; the pattern itself where none does, or it is not understood.

    Raises:
        CommandExecutionError: They are more than can be handed to a program.
    """
    if pattern.startswith("/") or _UNKNOWN.search(pattern):
        return [pattern]
    *folders, last = pattern.split("/")
    found = [""]
    for part in folders:
        found = [f"{path}{name}/" for path in found for name in _names(root_fd, folder, path, part)]
        _check_number(found, pattern)
    found = [f"{path}{name}" for path in found for name in _names(root_fd, folder, path, last)]
    _check_number(found, pattern)
    names = sorted(found, key=os.fsencode)
    return [name if name.startswith("./") else f"./{name}" for name in names] or [pattern]


def _check_number(found: list[str], pattern: str) -> None:
    if len(found) > MOST_NAMES:
        raise CommandExecutionError(
            f"{pattern} stands for more than {MOST_NAMES:,} files; name fewer"
        )


def _names(root_fd: int, folder: str, path: str, part: str) -> list[str]:
    """What one part of a pattern stands for in one folder; hidden names only if it says so."""
    place = f"{folder}/{path}"
    if part in ("", ".", ".."):
        return [part] if _is_there(root_fd, f"{place}{part}") else []
    if not _SPECIAL.search(part):
        return [part] if _is_there(root_fd, place, part) else []
    try:
        fd = open_beneath(root_fd, place, _FOLDER)
    except OSError:
        return []
    try:
        names = os.listdir(fd)
    finally:
        os.close(fd)
    fits = compile_wildcard(part).fullmatch
    return [
        name for name in names if fits(name) and (part.startswith(".") or not name.startswith("."))
    ]


def _is_there(root_fd: int, folder: str, name: str | None = None) -> bool:
    """Whether there is such a folder, and such a name in it; a link that leads nowhere is one."""
    try:
        fd = open_beneath(root_fd, folder, PASSAGE)
    except OSError:
        return False
    try:
        if name is not None:
            os.stat(name, dir_fd=fd, follow_symlinks=False)
    except (OSError, ValueError):
        return False
    else:
        return True
    finally:
        os.close(fd)

"""Patterns for file names, looked up below the workspace as bash would look them up.

What is found is given as `./name`, so that no file can be named like a flag.
"""

import os
import re
from fnmatch import translate

from handrail.core.errors import CommandExecutionError
from handrail.executors.beneath import open_beneath

MOST_NAMES = 1_000

_SPECIAL = re.compile(r"[*?\[]")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def expand(root_fd: int, folder: str, pattern: str) -> list[str]:
    """The names that fit, sorted; the pattern itself where none does.

    Raises:
        CommandExecutionError: They are more than can be handed to a program.
    """
    if pattern.startswith("/"):
        return [pattern]
    found = [""]
    for part in pattern.split("/"):
        found = [f"{path}{name}/" for path in found for name in _names(root_fd, folder, path, part)]
        if len(found) > MOST_NAMES:
            raise CommandExecutionError(
                f"{pattern} stands for more than {MOST_NAMES:,} files; name fewer"
            )
    names = sorted(path.removesuffix("/") for path in found)
    return [name if name.startswith("./") else f"./{name}" for name in names] or [pattern]


def _names(root_fd: int, folder: str, path: str, part: str) -> list[str]:
    """What one part of a pattern stands for in one folder; hidden names only if it says so."""
    place = f"{folder}/{path}"
    if not _SPECIAL.search(part):
        return [part] if _exists(root_fd, f"{place}{part}") else []
    try:
        fd = open_beneath(root_fd, place, _FOLDER)
    except OSError:
        return []
    try:
        names = os.listdir(fd)
    finally:
        os.close(fd)
    # As in bash, a class is negated by either sign.
    fits = re.compile(translate(part.replace("[^", "[!"))).match
    return [
        name for name in names if fits(name) and (part.startswith(".") or not name.startswith("."))
    ]


def _exists(root_fd: int, path: str) -> bool:
    try:
        os.close(open_beneath(root_fd, path.rstrip("/") or ".", os.O_PATH | os.O_CLOEXEC))
    except OSError:
        return False
    return True

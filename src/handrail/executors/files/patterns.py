"""Patterns for file names, looked up below the workspace as bash would look them up.

What is found is given as `./name`, so that no file can be named like a flag.
"""

import os
import re

from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.wildcard import compile_wildcard
from handrail.executors.files.beneath import PASSAGE, open_beneath
from handrail.executors.files.explain import explain

MOST_NAMES = 1_000
_MOST_LOOKED_AT = 100_000

_SPECIAL = re.compile(r"[*?]|\[.*\]", re.DOTALL)
# Left as they stand: escapes, and classes by name such as [:alpha:], which know a language.
_UNKNOWN = re.compile(r"\\|\[[!^]?\]?[^\]]*\[[:.=]")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def expanded(root: str, stage: Stage) -> Stage:
    """The stage without patterns.

    Raises:
        CommandExecutionError: Its folder is not there, or a pattern stands for too many names.
        PathValidationError: Its folder leads out of the workspace.
    """
    if stage.folder == "." and not stage.patterns:
        return stage
    root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        words = [word for each in words_of_each(root_fd, stage) for word in each]
    finally:
        os.close(root_fd)
    return stage._replace(argv=tuple(words), patterns=())


def words_of_each(root_fd: int, stage: Stage) -> list[tuple[str, ...]]:
    """The words that each word of a stage stands for; all but patterns stand for themselves.

    Raises:
        CommandExecutionError, PathValidationError: As above.
    """
    _check_folder(root_fd, stage.folder)
    return [
        tuple(expand(root_fd, stage.folder, word)) if place in stage.patterns else (word,)
        for place, word in enumerate(stage.argv)
    ]


def _check_folder(root_fd: int, folder: str) -> None:
    try:
        os.close(open_beneath(root_fd, folder, PASSAGE))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CommandExecutionError(f"there is no folder {folder} in the workspace") from error
    except OSError as error:
        raise explain(error, folder, "enter") from error


def expand(root_fd: int, folder: str, pattern: str) -> list[str]:
    """The names that fit, sorted; the pattern itself where none does, or it is not understood.

    Raises:
        CommandExecutionError: They are more than can be handed to a program, or too many names
            have to be looked at.
    """
    if pattern.startswith("/") or _UNKNOWN.search(pattern):
        return [pattern]
    *folders, last = pattern.split("/")
    look = _Look(root_fd, folder, pattern)
    found = [""]
    for part in folders:
        found = look.further(found, part, "/")
    names = sorted(look.further(found, last), key=os.fsencode)
    return [name if name.startswith("./") else f"./{name}" for name in names] or [pattern]


class _Look:
    """One pattern being looked up; it counts names, so that no pattern makes it look for long."""

    def __init__(self, root_fd: int, folder: str, pattern: str):
        self._root_fd = root_fd
        self._folder = folder
        self._pattern = pattern
        self._left = _MOST_LOOKED_AT

    def further(self, paths: list[str], part: str, end: str = "") -> list[str]:
        """The paths with each name behind them that a part stands for."""
        found: list[str] = []
        for path in paths:
            found += (f"{path}{name}{end}" for name in self._names(path, part))
            if len(found) > MOST_NAMES:
                raise CommandExecutionError(
                    f"{self._pattern} matches more than {MOST_NAMES:,} files; name fewer"
                )
        return found

    def _names(self, path: str, part: str) -> list[str]:
        """The names in one folder; hidden names only if the part begins with a dot."""
        place = f"{self._folder}/{path}"
        if part in ("", ".", ".."):
            return [part] if _is_there(self._root_fd, f"{place}{part}") else []
        if not _SPECIAL.search(part):
            return [part] if _is_there(self._root_fd, place, part) else []
        try:
            fd = open_beneath(self._root_fd, place, _FOLDER)
        except OSError:
            return []
        try:
            names = os.listdir(fd)
        finally:
            os.close(fd)
        self._left -= len(names)
        if self._left < 0:
            raise CommandExecutionError(
                f"{self._pattern} would check more than {_MOST_LOOKED_AT:,} names; name folders"
            )
        fits = compile_wildcard(part).fullmatch
        may_be_hidden = part.startswith(".")
        return [name for name in names if (may_be_hidden or name[0] != ".") and fits(name)]


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

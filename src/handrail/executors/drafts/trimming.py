"""Taking out of a layer what a step has written as it was before.

Else a file that `sed -i` has only rewritten would hide what a person saves there later.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from handrail.core.effects import Effects
from handrail.executors.rehearsal import marks
from handrail.executors.rehearsal.way import LISTED

_GIT = ".git"


def trim_layer(upper_fd: int, effects: Effects) -> None:
    """Remove files and links that are no effect of the step whose layer this will be.

    Scratch stays, and so does all below folders through which nothing of the workspace shows.
    """
    changed = {change.path for change in effects.changes}
    _trim(upper_fd, "", changed, {one.path for one in effects.dropped})


def _trim(folder_fd: int, path: str, changed: set[str], left_alone: set[str]) -> None:
    if marks.is_opaque(folder_fd):
        return
    for name in os.listdir(folder_fd):
        below = f"{path}/{name}" if path else name
        found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        if name == _GIT or below in left_alone:
            continue
        if stat.S_ISDIR(found.st_mode):
            with _opened(name, folder_fd) as folder:
                _trim(folder, below, changed, left_alone)
        elif below not in changed and not marks.is_whiteout(name, folder_fd, found):
            os.unlink(name, dir_fd=folder_fd)


@contextmanager
def _opened(name: str, folder_fd: int) -> Generator[int]:
    fd = os.open(name, LISTED, dir_fd=folder_fd)
    try:
        yield fd
    finally:
        os.close(fd)

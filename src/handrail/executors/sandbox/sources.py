"""What of a workspace is bound into a box, held open from before the box is made until it is."""

import os
import stat
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager

from handrail.core.errors import CommandExecutionError


@contextmanager
def held(paths: Iterable[str]) -> Generator[Mapping[str, int]]:
    """A descriptor for each; whoever exchanges a name afterwards gets nothing else bound.

    Raises:
        CommandExecutionError: One of them is gone, or has become a link or a way through one.
    """
    with ExitStack() as stack:
        found: dict[str, int] = {}
        for path in paths:
            found[path] = _open(path)
            stack.callback(os.close, found[path])
        yield found


def _open(path: str) -> int:
    try:
        fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise CommandExecutionError(
            f"no box could be made for it: {path}: {error.strerror}"
        ) from error
    is_link = stat.S_ISLNK(os.fstat(fd).st_mode)
    if is_link or os.readlink(f"/proc/self/fd/{fd}") != path:
        os.close(fd)
        raise CommandExecutionError(
            f"no box could be made for it: {path} was replaced at this moment; try again"
        )
    return fd

"""What an open file is: its kind, and the name by which the system knows it."""

import fcntl
import os
import stat
import sys

from handrail.core.errors import FileOperationError, PathValidationError
from handrail.executors.files.beneath import has_openat2


def looking() -> int:
    """Flags to open a name only to look at it.

    Looking needs no permission to read, but walking by hand follows links only when reading.
    """
    return os.O_PATH if has_openat2() else os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY


def check_regular(found: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise FileOperationError(f"{path} is a directory; list_directory shows what is in it")
    if not stat.S_ISREG(found.st_mode):
        raise PathValidationError(f"{path} is not a regular file")


def find_true_name(root: str, root_fd: int, fd: int, path: str, rest: str = "") -> str | None:
    """Where `rest` below an open file really lies, or None if that is what `path` says.

    `root` is the workspace's path when it was opened as `root_fd`.

    Raises:
        PathValidationError: The system does not say.
    """
    way = _true_path(fd)
    true_path = f"{way}/{rest}" if rest else way
    if true_path == f"{root}/{path}":
        return None
    # The root itself may have been moved since.
    root_now = _true_path(root_fd)
    if way is None or root_now is None or way.endswith(" (deleted)"):
        raise PathValidationError(f"cannot determine where {path} leads")
    true_name = os.path.relpath(f"{way}/{rest}", root_now)
    return None if true_name == path else true_name


def _true_path(fd: int) -> str | None:
    """The name of an open file as the system knows it, or None where it does not say."""
    try:
        if sys.platform == "darwin":
            found = fcntl.fcntl(fd, fcntl.F_GETPATH, b"\0" * 1024)
            return os.fsdecode(found.rstrip(b"\0"))
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None

"""Locks that the system takes back when the process dies, however it dies."""

import errno
import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from handrail.core.errors import SetupError

_CANNOT_LOCK = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def held(file: Path, trouble: str, *, patience_seconds: float = 0.0) -> Generator[None]:
    """Hold the lock of a file, which is made if it is missing. Raises SetupError(trouble)."""
    gives_up_at = time.monotonic() + patience_seconds
    lock = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(lock, 0o600)  # Earlier versions have left it to the umask.
        while not _take(lock):
            if time.monotonic() >= gives_up_at:
                raise SetupError(trouble)
            time.sleep(0.05)
        yield
    finally:
        os.close(lock)


@contextmanager
def held_folder(folder: Path, trouble: str) -> Generator[None]:
    """Hold the lock of a folder, if there is one. Raises SetupError(trouble)."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        if not _take(lock):
            raise SetupError(trouble)
        yield
    finally:
        os.close(lock)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        # Some network file systems lock files only; the lock file is held there all the same.
        return error.errno in _CANNOT_LOCK
    return True

"""Bytes handed to a process as a file that has no name."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def in_memory(content: bytes) -> Generator[int]:
    """A descriptor from which this can be read, once, and which nothing can change.

    Where the system has no such files, it is a temporary one that is already removed.
    """
    fd = _open()
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(content)
        _seal(fd)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def _open() -> int:
    if sys.platform == "linux":
        return os.memfd_create("handrail", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _seal(fd: int) -> None:
    if sys.platform == "linux":
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)

"""Copying one file whole: content, extended attributes, mode and time."""

import os

from handrail.executors.rehearsal.attributes import set_xattrs, xattrs_of
from handrail.executors.rehearsal.nodes import PIECE, READ

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WITHOUT_SET_ID = 0o777


def copy_file(folder_fd: int, name: str, into_fd: int, copy: str) -> None:
    """Copy a file of one open folder into another; its set-id bits stay behind."""
    source = os.open(name, READ, dir_fd=folder_fd)
    try:
        target = os.open(copy, _CREATE, 0o600, dir_fd=into_fd)
        try:
            _fill(source, target)
        finally:
            os.close(target)
    finally:
        os.close(source)


def _fill(source: int, target: int) -> None:
    while piece := os.read(source, PIECE):
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(target, rest) :]
    set_xattrs(target, xattrs_of(source))
    found = os.fstat(source)
    os.fchmod(target, found.st_mode & _WITHOUT_SET_ID)
    os.utime(target, ns=(found.st_mtime_ns, found.st_mtime_ns))

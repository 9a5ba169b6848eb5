"""Errors of SQLite and of the file system, as errors of Handrail with a sentence for people."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from handrail.core.errors import StoreDamaged, StoreFull, StoreLocked, StoreUnavailable

WAYS_ON = (
    "put back a backup with `handrail restore`, or start fresh with `handrail init --fresh`, "
    "which moves the old files to a folder of their own and deletes nothing"
)
_FULL = "the disk that holds Handrail's database is full; free some space, and Handrail continues"
_LOCKED = (
    "another process has locked Handrail's database; Handrail continues when the lock is released"
)
_READ_ONLY = (
    "Handrail's database cannot be written because its disk or folder is read-only; "
    "make it writable, and Handrail continues"
)
_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT)
_READ_ONLY_ERRNOS = (errno.EROFS, errno.EACCES, errno.EPERM)


def fault_of(error: Exception, path: Path) -> StoreUnavailable | None:
    """The fault of the machine behind an error; None for an error of another kind.

    `path` is the database: SQLite reports a full disk as an I/O error if it meets it in the
    shared memory beside the database.
    """
    match error:
        case apsw.FullError():
            return StoreFull(_FULL)
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return StoreLocked(_LOCKED)
        case apsw.CorruptError() | apsw.NotADBError():
            return damaged(str(error))
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreUnavailable(_READ_ONLY)
        case apsw.IOError() | apsw.CantOpenError():
            return _fault_of_disk(str(error), path)
        case OSError(errno=number):
            return _fault_of_errno(number, error.strerror or str(error))
        case _:
            return None


@contextmanager
def faults_told(path: Path) -> Generator[None]:
    """Raise a fault of the disk that is met in the context as StoreUnavailable."""
    try:
        yield
    except OSError as error:
        if (fault := fault_of(error, path)) is None:
            raise
        raise fault from error


def damaged(details: str) -> StoreDamaged:
    # SQLite tells in several lines, and a person is told in one.
    words = " ".join(details.split())
    return StoreDamaged(f"Handrail's database is damaged ({words}): {WAYS_ON}")


def _fault_of_disk(details: str, path: Path) -> StoreUnavailable:
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return _failing(details)
    if disk.f_flag & os.ST_RDONLY or not os.access(path.parent, os.W_OK):
        return StoreUnavailable(_READ_ONLY)
    return StoreFull(_FULL) if disk.f_bavail == 0 else _failing(details)


def _fault_of_errno(number: int | None, details: str) -> StoreUnavailable | None:
    if number in _FULL_ERRNOS:
        return StoreFull(_FULL)
    if number in _READ_ONLY_ERRNOS:
        return StoreUnavailable(_READ_ONLY)
    return _failing(details) if number == errno.EIO else None


def _failing(details: str) -> StoreUnavailable:
    return StoreUnavailable(f"the disk that holds Handrail's database fails: {details}")

"""git's locks, held by a journal so that a crash leaves none of them behind.

A lock is a hard link to a file of the journal. By its inode it is told from the lock of another
git, also after a crash.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

from handrail.core.errors import StaleFileError
from handrail.executors.rehearsal.way import Way

TOKEN = "lock"  # noqa: S105
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def take_locks(root_fd: int, journal_fd: int, paths: Iterable[str]) -> None:
    """Lock all or none; a lock in a folder that does not exist is not needed.

    Raises:
        StaleFileError: Another git holds one of them.
    """
    os.close(os.open(TOKEN, _CREATE, 0o600, dir_fd=journal_fd))
    with Way(root_fd) as way:
        for path in paths:
            try:
                folder_fd, name = way.folder_of(path)
                os.link(TOKEN, name, src_dir_fd=journal_fd, dst_dir_fd=folder_fd)
            except FileExistsError as error:
                raise StaleFileError(
                    f"another git is at work here, or has left {path} behind"
                ) from error
            except (FileNotFoundError, NotADirectoryError):
                continue


def release_locks(root_fd: int, journal_fd: int, paths: Iterable[str]) -> None:
    """Remove those of the locks that are ours."""
    try:
        own = os.stat(TOKEN, dir_fd=journal_fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    with Way(root_fd) as way:
        for path in paths:
            with suppress(FileNotFoundError, NotADirectoryError):
                folder_fd, name = way.folder_of(path)
                found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
                if (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino):
                    os.unlink(name, dir_fd=folder_fd)

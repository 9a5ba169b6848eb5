"""FileSystemExecutor: files below one workspace root, and nothing else."""

import asyncio
import errno
import fcntl
import os
import stat
import sys
from pathlib import Path
from typing import Self

from handrail.core.errors import FileOperationError, PathValidationError
from handrail.core.hands import FileContent
from handrail.executors.beneath import open_beneath
from handrail.policy.rules import Access, Rules, default_rules

# Up to here a read is quicker than asking a thread to do it.
_INLINE_BYTES = 256_000


class FileSystemExecutor:
    """Holds the root folder open: what happens to its path later makes no difference."""

    def __init__(self, root: str | Path, rules: Rules | None = None):
        self.root = os.path.realpath(root)
        self._rules = rules or default_rules()
        self._root_fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def close(self) -> None:
        if self._root_fd >= 0:
            os.close(self._root_fd)
            self._root_fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        # O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
        fd = self._open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            size = self._check_regular(fd, path, max_bytes)
            # A copy for the thread, which may still be reading when we are cancelled.
            data = (
                _read_all(fd, max_bytes)
                if size <= _INLINE_BYTES
                else await _read_in_thread(os.dup(fd), max_bytes)
            )
        finally:
            os.close(fd)
        if len(data) > max_bytes:
            raise FileOperationError(f"{path} grew past {max_bytes:,} bytes while it was read")
        return FileContent(data, len(data))

    def _open(self, path: str, flags: int) -> int:
        try:
            return open_beneath(self._root_fd, path, flags)
        except OSError as error:
            raise _explain(error, path) from error

    def _check_regular(self, fd: int, path: str, max_bytes: int) -> int:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise FileOperationError(f"{path} is a directory; list_directory shows what is in it")
        if not stat.S_ISREG(found.st_mode):
            raise PathValidationError(f"{path} is not a regular file")
        if found.st_size > max_bytes:
            raise FileOperationError(
                f"{path} is {found.st_size:,} bytes; at most {max_bytes:,} can be read"
            )
        self._check_true_name(fd, path)
        return found.st_size

    def _check_true_name(self, fd: int, path: str) -> None:
        """A link inside the workspace may not lend a harmless name to a sensitive file."""
        true_path = _true_path(fd)
        if true_path == f"{self.root}/{path}":
            return
        if true_path is None or true_path.endswith(" (deleted)"):
            raise PathValidationError(f"it cannot be told where {path} leads")
        relative = os.path.relpath(true_path, self.root)
        for rule in self._rules.paths:
            if rule.access is Access.ANY and rule.covers(relative):
                raise PathValidationError(f"{path} leads to {relative}: {rule.reason}")


def _true_path(fd: int) -> str | None:
    """The name of an open file as the system knows it, or None where it does not say."""
    try:
        if sys.platform == "darwin":
            found = fcntl.fcntl(fd, fcntl.F_GETPATH, b"\0" * 1024)
            return os.fsdecode(found.rstrip(b"\0"))
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None


async def _read_in_thread(fd: int, max_bytes: int) -> bytes:
    """Read elsewhere. Shielded, so that the descriptor is closed when the reading has ended."""
    reading = asyncio.get_running_loop().run_in_executor(None, _read_all, fd, max_bytes)
    reading.add_done_callback(lambda _: os.close(fd))
    return await asyncio.shield(reading)


def _read_all(fd: int, max_bytes: int) -> bytes:
    """Read to the end, or one byte past the limit: files in /proc say 0 and grow."""
    pieces: list[bytes] = []
    left = max_bytes + 1
    while left > 0 and (piece := os.read(fd, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _explain(error: OSError, path: str) -> PathValidationError | FileOperationError:
    match error.errno:
        case errno.ENOENT:
            return FileOperationError(f"{path} does not exist")
        case errno.EXDEV:
            return PathValidationError(
                f"{path} goes through a link that leads out of the workspace, or is absolute"
            )
        case errno.ELOOP:
            return PathValidationError(f"{path} goes through too many links, or a forbidden one")
        case errno.ENOTDIR:
            return FileOperationError(f"a part of {path} is not a directory")
        case errno.EACCES | errno.EPERM:
            return FileOperationError(f"no permission to read {path}")
        case _:
            return FileOperationError(f"{path}: {error.strerror or error}")

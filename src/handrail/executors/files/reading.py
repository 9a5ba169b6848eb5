"""Reading an open file whole: a small one at once, a large one in a thread."""

import asyncio
import os
import stat
from collections.abc import Callable
from typing import TypeVar

from handrail.core.errors import FileOperationError
from handrail.core.files import FileContent, ReadCache
from handrail.executors.files.version import nobody_writes, version_of

A = TypeVar("A")
T = TypeVar("T")

# Up to here a read is quicker than asking a thread to do it.
INLINE_BYTES = 256_000


async def read_content(fd: int, path: str, max_bytes: int, cache: ReadCache | None) -> FileContent:
    """The content of the file at `path`, which is open.

    Raises:
        FileOperationError: It is larger than that.
    """
    found = os.fstat(fd)
    if found.st_size > max_bytes:
        raise FileOperationError(
            f"{path} is {found.st_size:,} bytes; at most {max_bytes:,} can be read"
        )
    if found.st_size <= INLINE_BYTES:
        cache = None
    if cache is not None and (known := cache.find(version_of(found))) is not None:
        return known
    # Before the reading: whoever comes to write from now on changes the times of the file.
    can_be_kept = cache is not None and nobody_writes(fd)
    data = await read_whole(fd, found.st_size, max_bytes)
    if len(data) > max_bytes:
        raise FileOperationError(f"{path} grew past {max_bytes:,} bytes while it was read")
    content = FileContent(data, len(data), stat.S_IMODE(found.st_mode))
    if cache is not None and can_be_kept and version_of(os.fstat(fd)) == version_of(found):
        cache.keep(version_of(found), content)
    return content


async def read_whole(fd: int, size: int, max_bytes: int) -> bytes:
    if size <= INLINE_BYTES:
        return _read_all(fd, max_bytes)
    # A copy for the thread, which may still be reading when we are cancelled.
    return await in_thread(os.dup(fd), _read_all, max_bytes)


async def in_thread(fd: int, work: Callable[[int, A], T], argument: A) -> T:
    """Work elsewhere. Shielded, so that the descriptor is closed when the work has ended."""
    working = asyncio.get_running_loop().run_in_executor(None, work, fd, argument)
    working.add_done_callback(lambda _: os.close(fd))
    return await asyncio.shield(working)


def _read_all(fd: int, max_bytes: int) -> bytes:
    """Read to the end, or one byte past the limit: files in /proc say 0 and grow."""
    pieces: list[bytes] = []
    left = max_bytes + 1
    while left > 0 and (piece := os.read(fd, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)

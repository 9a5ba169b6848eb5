"""Reading an open file whole: a small one at once, a large one in a thread."""

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")

# Up to here a read is quicker than asking a thread to do it.
INLINE_BYTES = 256_000


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

"""The gate of a box: what it runs begins only when somebody who is still there lets it.

bubblewrap binds the life of a box to ours at the very end of its making. Its filter is what it
reads last, and without one it gives up. So it is given the filter then and not before: should we
have been killed meanwhile, nobody gives it any, and nothing is run that nobody would end.
"""

import array
import asyncio
import fcntl
import os
import termios
import time
from collections.abc import Callable
from typing import Self

_MOMENT_SECONDS = 0.001


class Gate:
    """bubblewrap takes a byte from `bell` when all is mounted, then the whole `filter`."""

    def __init__(self, program: bytes):
        self._program = program
        self.filter, self._filter_writer = os.pipe()
        self.bell, self._bell_writer = os.pipe()
        os.write(self._bell_writer, b"\0")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for fd in (self.filter, self._filter_writer, self.bell, self._bell_writer):
            if fd >= 0:
                os.close(fd)

    async def reached(self, has_ended: Callable[[], bool]) -> None:
        """Wait until all is made and it waits to begin, or has ended before."""
        while not (self._is_reached() or has_ended()):  # noqa: ASYNC110
            await asyncio.sleep(_MOMENT_SECONDS)

    def open(self) -> None:
        """Let it begin. What it is given fits into a pipe, so nobody has to wait here."""
        os.write(self._filter_writer, self._program)
        os.close(self._filter_writer)
        self._filter_writer = -1

    def open_in_thread(self, has_ended: Callable[[], bool]) -> None:
        """Let it begin as soon as it can, where there is no loop."""
        while not (self._is_reached() or has_ended()):
            time.sleep(_MOMENT_SECONDS)
        self.open()

    def _is_reached(self) -> bool:
        left = array.array("i", [0])
        fcntl.ioctl(self.bell, termios.FIONREAD, left)
        return left[0] == 0

"""What a program writes: its beginning is kept, the rest is read, counted and dropped."""

import asyncio
import os
from typing import Self

_READ_BYTES = 1 << 16


class Output:
    """A pipe of our own, so that whoever still holds its other end cannot keep us from going on."""

    def __init__(self, max_bytes: int):
        self.kept = bytearray()
        self.lost = 0
        self.ended = asyncio.Event()
        self._max_bytes = max_bytes
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._reader, self._take)
        return self

    def __exit__(self, *exc_info: object) -> None:
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self._reader)
        self.close_writer()

    def close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def _take(self) -> None:
        try:
            data = os.read(self._reader, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            asyncio.get_running_loop().remove_reader(self._reader)
            self.ended.set()
        self.add(data)

    def add(self, data: bytes) -> None:
        """Append data to what was read, up to the limit."""
        room = self._max_bytes - len(self.kept)
        self.kept += data[:room]
        self.lost += max(0, len(data) - room)

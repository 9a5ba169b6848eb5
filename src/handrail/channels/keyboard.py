"""Keys as they are pressed, and none that were pressed before."""

import asyncio
import codecs
import os
import termios
import time
import tty
from types import TracebackType
from typing import Any, Self

ESCAPE = "\x1b"
ENTER = ("\r", "\n")
BACKSPACE = ("\x7f", "\b")
END = ""


class Keyboard:
    """Reads single keys from a terminal while it is open, and puts the terminal back after.

    Keys that were typed ahead are thrown away: at the opening, and for `deaf_seconds` after it.
    """

    def __init__(self, fd: int, deaf_seconds: float):
        self._fd = fd
        self._deaf_seconds = deaf_seconds
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    def __enter__(self) -> Self:
        self._before: list[Any] = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd)
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self._hears_from = time.monotonic() + self._deaf_seconds
        asyncio.get_running_loop().add_reader(self._fd, self._on_readable)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    async def key(self, timeout_seconds: float) -> str | None:
        """The next key; None when the time has passed, END when nobody types any more."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._keys.get()
        except TimeoutError:
            return None

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, 1024)
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._keys.put_nowait(END)
            return
        text = self._decode(data)
        if time.monotonic() < self._hears_from:
            return
        # Arrow and function keys come as one piece that begins with an escape.
        for key in [ESCAPE] if text.startswith(ESCAPE) else text:
            self._keys.put_nowait(key)

"""Keys as they are pressed, and none that were pressed before."""

import asyncio
import codecs
import os
import re
import termios
import time
import tty
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

ESCAPE = "\x1b"
ENTER = ("\r", "\n")
BACKSPACE = ("\x7f", "\b")
END = ""

# What arrow and function keys send: an escape and letters that nobody has typed.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)", re.DOTALL)
_SEQUENCE_SECONDS = 0.05


class Keyboard:
    """Reads single keys from a terminal while it is open, and puts the terminal back after.

    For `deaf_seconds` it does not listen at all; what was typed until then is thrown away. A
    moment that passes unread cannot be told from one that does not, however busy we are.
    """

    def __init__(self, fd: int, deaf_seconds: float):
        self._given_fd = fd
        self._deaf_seconds = deaf_seconds
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._ended = False
        self._starting: asyncio.TimerHandle | None = None
        self._in_sequence_until = 0.0
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        # Opened anew: some loops make what they listen to non-blocking, and that must not be the
        # terminal everybody writes to.
        self._fd = os.open(os.ttyname(self._given_fd), os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        self._before: list[Any] = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd)
        if self._deaf_seconds > 0:
            self._starting = self._loop.call_later(self._deaf_seconds, self._start)
        else:
            self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._starting is not None:
            self._starting.cancel()
        self._loop.remove_reader(self._fd)
        # A terminal that is gone needs no putting back.
        with suppress(termios.error):
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
        os.close(self._fd)

    async def key(self, timeout_seconds: float) -> str | None:
        """The next key; None when the time has passed, END when nobody types any more."""
        if self._ended and self._keys.empty():
            return END
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._keys.get()
        except TimeoutError:
            return None

    def _start(self) -> None:
        try:
            termios.tcflush(self._fd, termios.TCIFLUSH)
            self._loop.add_reader(self._fd, self._on_readable)
        except (termios.error, OSError):
            self._end()

    def _end(self) -> None:
        self._loop.remove_reader(self._fd)
        self._ended = True
        self._keys.put_nowait(END)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._fd, 1024)
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        now = time.monotonic()
        if now < self._in_sequence_until:
            return  # The rest of a sequence whose escape came alone.
        for key in _SEQUENCE.sub(ESCAPE, self._decode(data)):
            if key == ESCAPE:
                self._in_sequence_until = now + _SEQUENCE_SECONDS
            self._keys.put_nowait(key)

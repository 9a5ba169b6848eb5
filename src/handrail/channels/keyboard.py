"""Keys as they are pressed, and none that were pressed before."""

import asyncio
import codecs
import fcntl
import os
import re
import struct
import termios
import time
import tty
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

ESCAPE = "\x1b"
ENTER = ("\r", "\n")
BACKSPACE = ("\x7f", "\b")
END = ""
# More than one key without a pause: a line that was pasted, or meant for something else.
SEVERAL = "several keys"

# What arrow and function keys send: an escape and letters that nobody has typed.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)", re.DOTALL)
_SEQUENCE_SECONDS = 0.05


class _Pressed(NamedTuple):
    key: str
    at: float


class Keys:
    """Keys that were pressed, in order, until somebody asks for them."""

    def __init__(self) -> None:
        self._keys: asyncio.Queue[_Pressed] = asyncio.Queue()
        self._next: _Pressed | None = None
        self._last_at = 0.0
        self._ended = False

    def press(self, key: str, at: float) -> None:
        """Note a key, and when it was pressed by the clock that `time.monotonic` reads."""
        self._keys.put_nowait(_Pressed(key, at))

    async def key(self, timeout_seconds: float) -> str | None:
        """The next key; None when the time has passed, END when nobody types any more."""
        pressed = await self._pressed(timeout_seconds)
        if pressed is None:
            return None
        self._last_at = pressed.at
        return pressed.key

    async def lone_key(self, timeout_seconds: float, quiet_seconds: float) -> str | None:
        """The next key, if so long a silence follows it; SEVERAL where another one comes first.

        Of these none is heard, up to the next silence. It counts when a key was pressed, not when
        we had the time to read it.
        """
        key = await self.key(timeout_seconds)
        if key is None or key == END:
            return key
        broken = await self.rest(quiet_seconds)
        return key if broken is None else broken

    async def rest(self, quiet_seconds: float) -> str | None:
        """Wait for so long a silence behind the last key.

        None where it follows, SEVERAL where other keys come first, none of which is heard, and END.
        """
        heard = None
        while True:
            quiet_at = self._last_at + quiet_seconds
            following = await self._pressed(max(0.0, quiet_at - time.monotonic()))
            if following is None:
                return heard
            if following.key == END:
                return END
            if following.at >= quiet_at:
                self._next = following
                return heard
            heard, self._last_at = SEVERAL, following.at

    async def _pressed(self, timeout_seconds: float) -> _Pressed | None:
        if self._next is not None:
            pressed, self._next = self._next, None
            return pressed
        if not self._keys.empty():
            return self._keys.get_nowait()
        if self._ended:
            return _Pressed(END, time.monotonic())
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._keys.get()
        except TimeoutError:
            return None


class Keyboard(Keys):
    """Reads single keys from a terminal while it is open, and puts the terminal back after.

    For `deaf_seconds` it does not listen at all, and then goes on so until nothing was typed for
    `quiet_seconds`: the end of a line that began too early is no key. All of that is thrown away.
    A moment that passes unread cannot be told from one that does not, however busy we are.

    With `from_before`, it listens at once, and hears what was typed until then as well.
    """

    def __init__(
        self,
        fd: int,
        deaf_seconds: float = 0.0,
        quiet_seconds: float = 0.0,
        *,
        from_before: bool = False,
    ):
        super().__init__()
        self._given_fd = fd
        self._deaf_seconds = deaf_seconds
        self._quiet_seconds = quiet_seconds
        self._from_before = from_before
        self._starting: asyncio.TimerHandle | None = None
        self._in_sequence_until = 0.0
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        # Opened anew: some loops make what they listen to non-blocking, and that must not be the
        # terminal everybody writes to.
        self._fd = os.open(os.ttyname(self._given_fd), os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        self._before: list[Any] = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd, termios.TCSADRAIN if self._from_before else termios.TCSAFLUSH)
        unheeded = self._deaf_seconds - self._quiet_seconds
        if self._from_before or self._deaf_seconds == self._quiet_seconds == 0:
            self._listen()
        elif unheeded > 0:
            self._starting = self._loop.call_later(unheeded, self._wait_for_silence)
        else:
            self._wait_for_silence()
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

    def _wait_for_silence(self) -> None:
        try:
            termios.tcflush(self._fd, termios.TCIFLUSH)
        except termios.error:
            self._end()
        else:
            self._starting = self._loop.call_later(self._quiet_seconds, self._start)

    def _start(self) -> None:
        try:
            was_silent = self._quiet_seconds == 0 or _unread(self._fd) == 0
        except OSError:
            self._end()
            return
        if was_silent:
            self._listen()
        else:
            self._wait_for_silence()

    def _listen(self) -> None:
        try:
            if not self._from_before:
                termios.tcflush(self._fd, termios.TCIFLUSH)
            self._loop.add_reader(self._fd, self._on_readable)
        except (termios.error, OSError):
            self._end()

    def _end(self) -> None:
        self._loop.remove_reader(self._fd)
        self._ended = True
        self.press(END, time.monotonic())

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
            self.press(key, now)


def _unread(fd: int) -> int:
    """How many bytes were typed that nobody has read."""
    count: int = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]
    return count

"""TerminalRelay: a terminal of its own for a program, behind the one that a person sits at.

The program controls its terminal, so Ctrl+C, job control and changes of the window work as usual,
and it can do nothing to the person's own but print. A thread relays, because writing to a
terminal that was told to wait (Ctrl+S) blocks.
"""

import asyncio
import fcntl
import os
import pty
import select
import signal
import sys
import termios
import tty
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from threading import Event, Thread

from handrail.executors.processes.pipes import Streams

_PIECE_BYTES = 1 << 16
_SIZE_BYTES = 8
_ALTERNATE, _MAIN, _CLEAR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[H\x1b[2J"
# Ends what a program has begun and not finished: a title, a sequence.
_CANCEL = b"\x18"
# Soft reset, palette, keyboard, reversed screen, mouse, paste and held-back output: no program may
# decide how a card looks, or which keys are told.
_SANE = b"\x1b[!p\x1b(B\x0f\x1b]104\x07\x1b]110\x07\x1b]111\x07\x1b[=0u\x1b[>4m\x1b[?7h" + b"".join(
    b"\x1b[?%dl" % mode
    for mode in (5, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026)
)
_PAUSE, _GO_ON, _END = b"p", b"g", b"e"


class TerminalRelay:
    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        self.streams = Streams(theirs, theirs, theirs)
        self._orders, self._order = os.pipe()
        self._obeyed = Event()
        self._input, self._output = sys.stdin.fileno(), sys.stdout.fileno()
        self._usual = termios.tcgetattr(self._input)
        self._is_alternate = False
        self._typed = b""
        self._turn = asyncio.Lock()
        os.set_blocking(self._ours, False)
        self._thread = Thread(target=self._relay, name="terminal", daemon=True)

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncGenerator["TerminalRelay"]:
        """Relay until the end; then the person's terminal is as it was."""
        relay = cls()
        loop = asyncio.get_running_loop()
        relay._take_size()
        loop.add_signal_handler(signal.SIGWINCH, relay._take_size)
        relay._thread.start()
        try:
            yield relay
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            relay.close_program_side()
            os.write(relay._order, _END)
            await asyncio.to_thread(relay._thread.join)
            for fd in (relay._ours, relay._orders, relay._order):
                os.close(fd)

    def close_program_side(self) -> None:
        """Close the program's side here, once the program has it."""
        fd, self.streams = self.streams.stdin, Streams(-1, -1, -1)
        if fd >= 0:
            os.close(fd)

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """Have the person's terminal for one question; a program that prints meanwhile waits."""
        async with self._turn:
            try:
                await asyncio.to_thread(self._obey, _PAUSE)
                yield
            finally:
                await asyncio.to_thread(self._obey, _GO_ON)
                self._have_redrawn()

    def _obey(self, order: bytes) -> None:
        self._obeyed.clear()
        os.write(self._order, order)
        self._obeyed.wait()

    def _relay(self) -> None:
        tty.setraw(self._input)
        try:
            waiting = [self._ours, self._input, self._orders]
            while True:
                unsent = [self._ours] if self._typed and self._ours in waiting else []
                ready, free, _ = select.select(waiting, unsent, [])
                if free:
                    self._pass_on()
                if self._ours in ready and not self._show():
                    waiting.remove(self._ours)
                if self._input in ready and not self._type():
                    waiting.remove(self._input)
                if self._orders in ready:
                    if os.read(self._orders, 1) == _END:
                        break
                    self._pause()
            while self._show():
                pass
            self._print(_CANCEL + (_MAIN if self._is_alternate else b"") + _SANE)
        finally:
            self._be_usual()

    def _pause(self) -> None:
        self._be_usual()
        self._print(_CANCEL + _ALTERNATE + _SANE + _CLEAR)
        self._obeyed.set()
        os.read(self._orders, 1)
        self._print(_ALTERNATE if self._is_alternate else _MAIN)
        tty.setraw(self._input)
        self._obeyed.set()

    def _be_usual(self) -> None:
        with suppress(termios.error):
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._usual)

    def _show(self) -> bool:
        """Print what the program has printed; False once there is no more."""
        try:
            data = os.read(self._ours, _PIECE_BYTES)
        except OSError:
            return False
        chosen, left = data.rfind(_ALTERNATE), data.rfind(_MAIN)
        if chosen != left:
            self._is_alternate = chosen > left
        self._print(data)
        return bool(data)

    def _type(self) -> bool:
        try:
            data = os.read(self._input, _PIECE_BYTES)
        except OSError:
            # The window is gone.
            return False
        self._typed += data
        self._pass_on()
        return bool(data)

    def _pass_on(self) -> None:
        """Give the program what was typed, as far as it takes it now."""
        try:
            self._typed = self._typed[os.write(self._ours, self._typed) :]
        except BlockingIOError:
            return
        except OSError:
            self._typed = b""

    def _print(self, data: bytes) -> None:
        with suppress(OSError):
            while data:
                data = data[os.write(self._output, data) :]

    def _take_size(self) -> None:
        with suppress(OSError):
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, self._size())

    def _have_redrawn(self) -> None:
        """Change the program's window for a moment, so that it draws everything again."""
        with suppress(OSError):
            size = self._size()
            rows = max(1, int.from_bytes(size[:2], sys.byteorder) - 1)
            smaller = rows.to_bytes(2, sys.byteorder) + size[2:]
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, smaller)
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, size)

    def _size(self) -> bytes:
        return fcntl.ioctl(self._input, termios.TIOCGWINSZ, bytes(_SIZE_BYTES))

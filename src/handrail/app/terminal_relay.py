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
from threading import Event, Lock, Thread

import structlog

from handrail.app.terminal_modes import (
    ALTERNATE,
    CANCEL,
    CLEAR,
    MAIN,
    SANE,
    ScreenFollower,
    scrolled_away,
)
from handrail.executors.processes.pipes import Streams

_PIECE_BYTES = 1 << 16
_SIZE_BYTES = 8
_PAUSE, _GO_ON, _END = b"p", b"g", b"e"
_ASKING = b"Handrail asks. The program has no part of this screen until you have answered.\r\n"
_ENDED = b"Handrail: the program has ended. No line from here on is its own.\r\n"

log = structlog.get_logger(__name__)


class TerminalRelay:
    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        errors = theirs if os.isatty(sys.stderr.fileno()) else sys.stderr.fileno()
        self.streams = Streams(theirs, theirs, errors)
        self._orders, self._order = os.pipe()
        self._obeyed, self._ending, self._has_ended = Event(), Lock(), False
        self._input, self._output = sys.stdin.fileno(), sys.stdout.fileno()
        self._usual = termios.tcgetattr(self._input)
        self._screen, self._has_printed = ScreenFollower(), False
        self._typed = b""
        os.set_blocking(self._ours, False)
        self._thread = Thread(target=self._run, name="terminal", daemon=True)

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
        """Have the person's terminal for one question at a time; what the program prints waits."""
        try:
            await self._obey(_PAUSE)
            yield
        finally:
            await self._obey(_GO_ON)
            self._have_redrawn()

    async def _obey(self, order: bytes) -> None:
        """Have the thread do something; at once if it has ended."""
        with self._ending:
            if self._has_ended:
                return
            self._obeyed.clear()
            os.write(self._order, order)
        await asyncio.to_thread(self._obeyed.wait)

    def _run(self) -> None:
        try:
            self._relay()
        except Exception:
            log.exception("terminal.relay_broke")
            self._hang_up()
        finally:
            self._be_usual()
            with self._ending:
                self._has_ended = True
            self._obeyed.set()

    def _relay(self) -> None:
        tty.setraw(self._input)
        waiting = [self._ours, self._input, self._orders]
        order = b""
        while order != _END:
            unsent = [self._ours] if self._typed and self._ours in waiting else []
            ready, free, _ = select.select(waiting, unsent, [])
            if free:
                self._pass_on()
            if self._ours in ready and not self._show():
                waiting.remove(self._ours)
            if self._input in ready and not self._type():
                waiting.remove(self._input)
            if self._orders in ready:
                order = os.read(self._orders, 1)
                if order == _PAUSE:
                    order = self._pause()
                self._obeyed.set()
        while self._show():
            pass
        if self._has_printed:
            away = scrolled_away(int.from_bytes(self._size()[:2], sys.byteorder))
            self._print(CANCEL + MAIN + SANE + away + _ENDED)

    def _pause(self) -> bytes:
        """Leave the terminal to a question; the order that ends it."""
        self._be_usual()
        self._print(CANCEL + ALTERNATE + SANE + CLEAR + _ASKING)
        self._obeyed.set()
        order = os.read(self._orders, 1)
        self._print(ALTERNATE if self._screen.is_alternate else MAIN)
        tty.setraw(self._input)
        return order

    def _hang_up(self) -> None:
        """Take the terminal from a program that could wait for it without end."""
        fd = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        os.dup2(fd, self._ours, inheritable=False)
        os.close(fd)

    def _be_usual(self) -> None:
        with suppress(termios.error):
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._usual)

    def _show(self) -> bool:
        """Print what the program has printed; False once there is no more."""
        try:
            data = os.read(self._ours, _PIECE_BYTES)
        except OSError:
            return False
        self._screen.follow(data)
        self._has_printed = self._has_printed or bool(data)
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

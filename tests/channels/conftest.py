"""A real terminal, of which the test holds the other end."""

import fcntl
import os
import re
import select
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TextIO

import pytest
from rich.console import Console

from handrail.channels.keyboard import Keyboard
from handrail.core.card import Card
from handrail.testing import a_card
from tests.client.conftest import until

_FOLD = re.compile(r"\n *│ ")
_STYLE = re.compile(r"\x1b\[[0-9;]*m|\x1b\[2K")


class Screen:
    """The person's side of a terminal: they type, and see what is shown."""

    def __init__(self) -> None:
        self._theirs, ours = os.openpty()
        self._stop, self._stopping = os.pipe()
        self.stdin: TextIO = os.fdopen(os.dup(ours), "r", closefd=True)
        self.stdout: TextIO = os.fdopen(ours, "w", closefd=True)
        self.raw = b""
        self._seen_up_to = 0
        self.times_heard = self._times_found_heard = 0
        self.times_read = 0
        # A thread, because a terminal that nobody reads holds up who writes to it.
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def fd(self) -> int:
        return self.stdin.fileno()

    @property
    def console(self) -> Console:
        return Console(file=self.stdout, highlight=False, emoji=False)

    @property
    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.fd)

    @property
    def shown(self) -> str:
        """Everything shown so far, without colours."""
        return _STYLE.sub("", self.raw.decode(errors="replace")).replace("\r\n", "\n")

    @property
    def shown_in_one_line(self) -> str:
        """The same, without the folds that the width of the terminal makes."""
        return _FOLD.sub("", self.shown).replace("\n", "")

    def type(self, keys: str | bytes) -> None:
        os.write(self._theirs, keys.encode() if isinstance(keys, str) else keys)

    def type_and_wait(self, keys: str) -> None:
        """Type, and come back when the keys lie ready for whoever reads."""
        self.type(keys)
        until_when = time.monotonic() + 10
        while self.unread < len(keys) and time.monotonic() < until_when:
            time.sleep(0.001)

    @property
    def unread(self) -> int:
        """How many bytes were typed that nobody has read."""
        count: int = struct.unpack("i", fcntl.ioctl(self.fd, termios.FIONREAD, bytes(4)))[0]
        return count

    async def sees(self, words: str) -> None:
        """Wait until words are shown that were not seen before."""
        await until(lambda: words in self.shown[self._seen_up_to :])
        self._seen_up_to = self.shown.index(words, self._seen_up_to) + len(words)

    async def is_heard(self) -> None:
        """Wait until a keyboard listens, and none that was waited for before."""
        await until(lambda: self.times_heard > self._times_found_heard)
        self._times_found_heard += 1

    def hang_up(self) -> None:
        """Close the window."""
        if not self._reading.is_alive():
            return
        os.write(self._stopping, b"x")
        self._reading.join(timeout=10)
        for fd in (self._theirs, self._stop, self._stopping):
            os.close(fd)

    def close(self) -> None:
        self.hang_up()
        for side in (self.stdin, self.stdout):
            # What is still to be written to a closed window is lost.
            with suppress(OSError):
                side.close()

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._theirs, self._stop], [], [])
            if self._theirs in ready:
                self.raw += os.read(self._theirs, 65_536)
            elif self._stop in ready:
                return


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Generator[Screen]:
    """A terminal that this process reads from. What it prints is pytest's: see `Screen.console`."""
    made = Screen()
    monkeypatch.setattr(sys, "stdin", made.stdin)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LINES", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    listen = Keyboard._listen

    def count_and_listen(keyboard: Keyboard) -> None:
        listen(keyboard)
        made.times_heard += 1

    monkeypatch.setattr(Keyboard, "_listen", count_and_listen)
    read = Keyboard._on_readable

    def count_and_read(keyboard: Keyboard) -> None:
        read(keyboard)
        made.times_read += 1

    monkeypatch.setattr(Keyboard, "_on_readable", count_and_read)
    yield made
    monkeypatch.undo()
    made.close()


@pytest.fixture
def typed_at_the_last_moment(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Have keys typed just before each keyboard begins to listen, however slow the machine.

    Where these make it wait, the next are typed just before it begins after all. Gives the list of
    what was typed.
    """

    def typed(*pieces: str) -> list[str]:
        start, typed_so_far = Keyboard._start, list[str]()
        still: dict[Keyboard, list[str]] = {}

        def type_and_start(keyboard: Keyboard) -> None:
            if mine := still.setdefault(keyboard, [*pieces]):
                typed_so_far.append(mine.pop(0))
                screen.type_and_wait(typed_so_far[-1])
            start(keyboard)

        monkeypatch.setattr(Keyboard, "_start", type_and_start)
        return typed_so_far

    return typed


def a_live_card(approval_id: str = "apr_1", *, seconds: float = 300, **fields: Any) -> Card:
    """A question that may still be answered for so long."""
    expires_at = datetime.now(UTC) + timedelta(seconds=seconds)
    return a_card(approval_id, **{"expires_at": expires_at, **fields})

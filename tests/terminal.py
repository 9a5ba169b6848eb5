"""A person at a real pseudo-terminal: reads what `handrail` shows, and types."""

import os
import pty
import re
import select
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.forge import Forged

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """One command of `handrail` on one terminal, ended when the person leaves."""

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str],
        kind: str = "xterm",
        given: int | None = None,
    ):
        """The command reads what is `given` instead of the terminal."""
        self._master, slave = pty.openpty()
        self._process = Forged(
            *words,
            environment={**env, "TERM": kind, "COLUMNS": "160", "LINES": "50"},
            folder=cwd,
            stdin=slave if given is None else given,
            output=slave,
        )
        os.close(slave)
        self._raw = b""
        self._read_up_to = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        os.close(self._master)

    @property
    def raw(self) -> bytes:
        """Every byte that has come to the terminal."""
        return self._raw

    @property
    def shown(self) -> str:
        """What a person has read, without colours."""
        return _ESCAPES.sub("", self._raw.decode(errors="replace"))

    def expect(self, words: str, seconds: float = 30.0) -> None:
        """Read on until these words come, after those that were expected before."""
        deadline = time.monotonic() + seconds
        while (found := self.shown.find(words, self._read_up_to)) < 0:
            assert time.monotonic() < deadline, f"{words!r} did not come:\n{self.shown}"
            if not self._read():
                raise AssertionError(f"it ended without {words!r}:\n{self.shown}")
        self._read_up_to = found + len(words)

    def type(self, keys: str, *, after_seconds: float = 0.9) -> None:
        """Type like somebody who has looked first."""
        time.sleep(after_seconds)
        os.write(self._master, keys.encode())

    def interrupt(self) -> None:
        """What Ctrl+C does at a terminal that is the program's own, pressed until it is heard.

        Who begins to wait for a line in the very moment of the signal does not hear it.
        """
        deadline = time.monotonic() + 30
        while self._process.poll() is None and time.monotonic() < deadline:
            self._process.send_signal(signal.SIGINT)
            pressed = time.monotonic()
            while self._process.poll() is None and time.monotonic() < pressed + 10:
                self._read()

    def end(self) -> None:
        """Tell the program to stop, from elsewhere."""
        self._process.terminate()

    def wait(self, seconds: float = 30.0) -> int:
        """Read to the end; the program's exit code."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._read():
            pass
        return self._process.wait(timeout=20)

    def _read(self) -> bool:
        """Take in what there is; False when the program has closed the terminal."""
        ready, _, _ = select.select([self._master], [], [], 0.1)
        if not ready:
            return True
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False
        self._raw += piece
        return bool(piece)

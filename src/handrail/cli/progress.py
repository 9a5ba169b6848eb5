"""How far a command has come that takes long, for a person at a terminal."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_CLEAR = "\r\x1b[2K"
_PAUSE_SECONDS = 0.1


@contextmanager
def progress() -> Generator[Callable[[str, int, int], None]]:
    """A function that shows a step, how much of it is done, and how much there is."""
    is_seen = sys.stderr.isatty()
    shown_at = 0.0

    def show(step: str, done: int, total: int) -> None:
        nonlocal shown_at
        now = time.monotonic()
        if is_seen and now - shown_at >= _PAUSE_SECONDS:
            shown_at = now
            sys.stderr.write(f"{_CLEAR}{step} {done:,} of {total:,}")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown_at:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

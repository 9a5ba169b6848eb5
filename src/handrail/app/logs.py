"""Logs: structured lines on standard error; never parameters, never results."""

import io
import logging
import os
import select
import sys
from pathlib import Path
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict, Processor

from handrail.core.visible import visible

_LONGEST_BYTES = 10_000_000


def _make_visible(_logger: object, _method: str, event: EventDict) -> EventDict:
    """What others have said can neither hide in a line nor pass for one of its own."""
    return {
        name: visible(str(value), keep="\n\t" if name == "exception" else "")
        for name, value in event.items()
    }


def configure_logs(*, verbose: bool = False, file: Path | None = None) -> None:
    """Lines go to standard error or, where a person decides there, into a file."""
    level = logging.INFO if verbose else logging.WARNING
    stream = sys.stderr if file is None else _open(file)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            *_renderers(for_people=stream.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, Pen(stream))),
    )


def _renderers(*, for_people: bool) -> list[Processor]:
    if not for_people:
        # JSON escapes whatever is not ASCII by itself.
        return [structlog.processors.JSONRenderer()]
    # By its place: the width of events has changed its name.
    return [_make_visible, structlog.dev.ConsoleRenderer(0, pad_level=False)]


def _open(file: Path) -> TextIO:
    """Added to, and begun anew when it has become long."""
    is_long = file.exists() and file.stat().st_size > _LONGEST_BYTES
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if is_long else os.O_APPEND)
    return os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8")


class Pen:
    """Writes lines, and rather loses one than waits for a reader who does not read.

    Everything here runs on one loop: a full pipe would hold up every call and every stream.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._lost = 0
        self._is_cut = False

    def write(self, line: str) -> None:
        try:
            file = self._stream.fileno()
        except io.UnsupportedOperation:
            self._stream.write(line)
            return
        if self._lost:
            line = f'{{"event": "log.lost", "lines": {self._lost}, "level": "warning"}}\n{line}'
        if self._is_cut:
            line = f"\n{line}"
        whole = line.encode(errors="backslashreplace")
        left = _write_what_fits(file, whole)
        self._is_cut = 0 < left < len(whole)
        self._lost = self._lost + 1 if left else 0

    def flush(self) -> None:
        self._stream.flush()


def _write_what_fits(file: int, data: bytes) -> int:
    """How many bytes are left over because nobody takes them."""
    done = 0
    try:
        # So many bytes can be written without waiting, if any can.
        while done < len(data) and select.select([], [file], [], 0)[1]:
            done += os.write(file, data[done : done + select.PIPE_BUF])
    except OSError:
        pass  # The reader has gone altogether.
    return len(data) - done

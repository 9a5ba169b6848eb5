"""Logs: structured lines on standard error and in a file; never parameters, never results."""

import io
import logging
import os
import select
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, TextIO

import structlog
from structlog.typing import EventDict, Processor

from handrail.app.disk_faults import is_disk_fault
from handrail.core.visible import visible

_LONGEST_BYTES = 10_000_000


def _make_visible(_logger: object, _method: str, event: EventDict) -> EventDict:
    """What others have said can neither hide in a line nor pass for one of its own."""
    return {
        name: visible(str(value), keep="\n\t" if name == "exception" else "")
        for name, value in event.items()
    }


def configure_logs(
    *, verbose: bool = False, file: Path | None = None, on_screen: bool = True
) -> None:
    """Warnings go to standard error, or everything where it is `verbose`.

    `file` gets everything as well. Where a person decides in the terminal, nothing else may be
    written `on_screen`.
    """
    sinks: list[_Sink] = []
    if on_screen:
        level = logging.INFO if verbose else logging.WARNING
        sinks.append(_Sink(level, _renderers(for_people=sys.stderr.isatty()), Pen(sys.stderr)))
    if file is not None and (log_file := LogFile.open(file)) is not None:
        sinks.append(_Sink(logging.INFO, _renderers(for_people=False), log_file))
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            partial(_write_to, tuple(sinks)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            min((sink.level for sink in sinks), default=logging.WARNING)
        ),
        logger_factory=structlog.ReturnLoggerFactory(),
    )


class _Writer(Protocol):
    def write(self, line: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Sink:
    level: int
    renderers: list[Processor]
    writer: _Writer


def _write_to(sinks: tuple[_Sink, ...], logger: object, method: str, event: EventDict) -> EventDict:
    level = logging.getLevelNamesMapping().get(str(event["level"]).upper(), logging.ERROR)
    for sink in sinks:
        if level >= sink.level:
            line: Any = dict(event)
            for render in sink.renderers:
                line = render(logger, method, line)
            sink.writer.write(f"{line}\n")
    raise structlog.DropEvent


def _renderers(*, for_people: bool) -> list[Processor]:
    if not for_people:
        # JSON escapes whatever is not ASCII by itself.
        return [structlog.processors.JSONRenderer()]
    # By its place: the width of events has changed its name.
    return [_make_visible, structlog.dev.ConsoleRenderer(0, pad_level=False)]


class LogFile:
    """A file for its owner alone; when it is long it becomes `.1`, in place of an older one.

    Several processes may write to the same file, so each looks whether another has moved it.
    """

    def __init__(self, path: Path, file: int):
        self._path = path
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """None where the file cannot be opened: a log is no reason not to start."""
        try:
            return cls(path, _open(path))
        except OSError as error:
            # A disk that is full or read-only stops the start itself, and is told there.
            if not is_disk_fault(error):
                sys.stderr.write(f"handrail: {path} cannot be written: {error.strerror}\n")
            return None

    def write(self, line: str) -> None:
        try:
            if os.fstat(self._file).st_size > _LONGEST_BYTES:
                self._begin_another()
            os.write(self._file, line.encode(errors="backslashreplace"))
        except OSError:
            pass  # A full disk is told elsewhere, and is no reason to stop.

    def _begin_another(self) -> None:
        if self._path.exists() and os.path.sameopenfile(self._file, (now := _open(self._path))):
            os.close(now)
            self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        os.close(self._file)
        self._file = _open(self._path)


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_APPEND | os.O_NOFOLLOW
    return os.open(path, flags, 0o600)


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

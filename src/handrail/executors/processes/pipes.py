"""Pipes between programs that run into each other."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple, Self

from handrail.core.stage import Stage, Stream
from handrail.executors.processes.memory import in_memory
from handrail.executors.processes.output import Output


class Streams(NamedTuple):
    stdin: int
    stdout: int
    stderr: int


class Piping:
    """The streams of each stage. Whoever has started them all closes our ends, so that they end.

    A stage that is given a text reads that, and not what comes through the pipe before it.
    """

    def __init__(self, stages: Sequence[Stage], out: Output, err: Output):
        self._nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._pipes = [os.pipe() for _ in stages[1:]]
        self._texts = ExitStack()
        inputs = [self._nowhere, *[reader for reader, _ in self._pipes]]
        outputs = [*[writer for _, writer in self._pipes], out.writer]
        self.streams = [
            self._streams(stage, reader, writer, err.writer)
            for stage, reader, writer in zip(stages, inputs, outputs, strict=True)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for fd in (self._nowhere, *[fd for pipe in self._pipes for fd in pipe]):
            os.close(fd)
        self._texts.close()

    def _streams(self, stage: Stage, stdin: int, out: int, err: int) -> Streams:
        if stage.stdin is not None:
            stdin = self._texts.enter_context(
                in_memory(stage.stdin.encode(errors="surrogateescape"))
            )
        where = {Stream.OUT: out, Stream.ERR: err, Stream.NULL: self._nowhere}
        return Streams(stdin, where[stage.stdout], where[stage.stderr])

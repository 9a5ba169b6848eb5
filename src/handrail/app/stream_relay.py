"""StreamRelay: streams for a program that has no terminal, also where one of them is a terminal.

A program that had a descriptor of the person's terminal could read what they type and change how it
behaves. So it has a pipe in its place, and a thread passes on what goes through it.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from threading import Thread

from handrail.executors.processes.pipes import Streams

_PIECE_BYTES = 1 << 16
# What is left to pass on once the program has ended.
_END_SECONDS = 5.0
_INPUT, _OUTPUTS = 0, (1, 2)


class StreamRelay:
    def __init__(self) -> None:
        self._outputs: list[Thread] = []
        self._programs: list[int] = []
        self.streams = Streams(self._input(), *map(self._output, _OUTPUTS))

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncGenerator["StreamRelay"]:
        """Relay until all that the program has printed is passed on."""
        relay = cls()
        try:
            yield relay
        finally:
            relay.close_program_side()
            for thread in relay._outputs:
                await asyncio.to_thread(thread.join, _END_SECONDS)

    def close_program_side(self) -> None:
        """Close the program's side here, once the program has it."""
        while self._programs:
            os.close(self._programs.pop())

    def _input(self) -> int:
        if not os.isatty(_INPUT):
            return _INPUT
        theirs, ours = os.pipe()
        self._programs.append(theirs)
        # It may wait for a key until Handrail itself ends.
        Thread(target=_pass_on, args=(_INPUT, ours, ours), daemon=True).start()
        return theirs

    def _output(self, fd: int) -> int:
        if not os.isatty(fd):
            return fd
        ours, theirs = os.pipe()
        self._programs.append(theirs)
        self._outputs.append(Thread(target=_pass_on, args=(ours, fd, ours), daemon=True))
        self._outputs[-1].start()
        return theirs


def _pass_on(source: int, target: int, ours: int) -> None:
    # In the background a read ends with an error then, and does not stop Handrail.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN})
    with suppress(OSError):
        while data := os.read(source, _PIECE_BYTES):
            while data:
                data = data[os.write(target, data) :]
    os.close(ours)

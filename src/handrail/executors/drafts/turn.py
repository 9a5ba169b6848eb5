"""Turn: who may change a draft now."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import cut

_MOST_PROGRAM_CHARS = 80
_PROGRAM_RUNS = (
    "{program} is running in this draft, and may change it until it ends; end it, or try again"
    " when it has ended"
)
_BUSY = (
    "a call is at work in this draft; wait for its end, or start this program in a draft of its"
    " own, without `--session`"
)


class Turn:
    """Calls have it one after another. A program can have it for days, so nothing waits for one."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._program = ""

    @property
    def is_taken(self) -> bool:
        return self._lock.locked()

    @asynccontextmanager
    async def for_call(self) -> AsyncGenerator[None]:
        """Have the turn once the calls before have ended.

        Raises:
            CommandExecutionError: A program has it.
        """
        self._refuse_beside_program()
        async with self._lock:
            yield

    @asynccontextmanager
    async def for_program(self, title: str) -> AsyncGenerator[None]:
        """Have the turn at once.

        Raises:
            CommandExecutionError: A call or another program has it.
        """
        self._refuse_beside_program()
        if self._lock.locked():
            raise CommandExecutionError(_BUSY)
        async with self._lock:
            self._program = title
            try:
                yield
            finally:
                self._program = ""

    def _refuse_beside_program(self) -> None:
        if self._program:
            program = cut(self._program, _MOST_PROGRAM_CHARS)
            raise CommandExecutionError(_PROGRAM_RUNS.format(program=program))

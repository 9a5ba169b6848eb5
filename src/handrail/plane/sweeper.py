"""Sweeper: what time alone must bring about, also for deadlines that passed while we were away."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from handrail.core.errors import StoreUnavailable

_PAUSE_SECONDS = 1.0

log = structlog.get_logger(__name__)

Chore = Callable[[], Awaitable[None]]


class Sweeper:
    """Does its chores once a second. One that fails is logged, and the others go on."""

    def __init__(self, chores: Sequence[Chore]):
        self._chores = chores

    async def sweep_forever(self) -> None:
        while True:
            await self.sweep()
            await asyncio.sleep(_PAUSE_SECONDS)

    async def sweep(self) -> None:
        for chore in self._chores:
            try:
                await chore()
            except StoreUnavailable:
                continue  # The store logs that itself, once and not every second.
            except Exception as error:
                # Whatever it is, the next chore and the next second come all the same.
                log.exception("sweep.failed", error=str(error))

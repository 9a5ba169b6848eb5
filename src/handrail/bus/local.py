"""The doorbell of a single process."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class LocalBell:
    """Hung up by entering it, and taken down by leaving."""

    def __init__(self, bells: dict[str, set["LocalBell"]], topics: Sequence[str]):
        self._bells = bells
        self._topics = topics
        self._rung = False
        self._waiter: asyncio.Future[None] | None = None

    def __enter__(self) -> Self:
        for topic in self._topics:
            self._bells.setdefault(topic, set()).add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for topic in set(self._topics):
            self._bells[topic].discard(self)
            if not self._bells[topic]:
                del self._bells[topic]

    def ring(self) -> None:
        self._rung = True
        if self._waiter is not None:
            _wake(self._waiter)

    async def wait(self, timeout_seconds: float) -> bool:
        if not self._rung:
            await self._sleep(timeout_seconds)
        rung, self._rung = self._rung, False
        return rung

    async def _sleep(self, seconds: float) -> None:
        """By a future and a timer alone: an `asyncio.timeout` takes several times as long."""
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(seconds, _wake, self._waiter)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None


class LocalBus:
    """Must be used from the loop's own thread."""

    def __init__(self) -> None:
        self._bells: dict[str, set[LocalBell]] = {}

    def ring(self, topics: Sequence[str]) -> None:
        for topic in topics:
            for bell in self._bells.get(topic, ()):
                bell.ring()

    def listen(self, *topics: str) -> LocalBell:
        return LocalBell(self._bells, topics)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)

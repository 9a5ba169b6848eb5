"""The doorbell of a single process."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager


class LocalBell:
    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self, timeout_seconds: float) -> bool:
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True


class LocalBus:
    """Must be used from the loop's own thread."""

    def __init__(self) -> None:
        self._bells: dict[str, set[LocalBell]] = {}

    def ring(self, topics: Sequence[str]) -> None:
        for topic in topics:
            for bell in self._bells.get(topic, ()):
                bell.ring()

    @contextmanager
    def listen(self, *topics: str) -> Generator[LocalBell]:
        bell = LocalBell()
        for topic in topics:
            self._bells.setdefault(topic, set()).add(bell)
        try:
            yield bell
        finally:
            for topic in set(topics):
                self._bells[topic].discard(bell)
                if not self._bells[topic]:
                    del self._bells[topic]

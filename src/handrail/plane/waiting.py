"""WaitingRoom: where askers wait until something in the store has happened, or we close."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from handrail.core.event import Topic
from handrail.core.ports import Bus

# A ring can be lost; then this is how late we notice.
_POLL_SECONDS = 5.0

T = TypeVar("T")


class WaitingRoom:
    def __init__(self, bus: Bus):
        self._bus = bus
        self.closed = False

    def close(self) -> None:
        """Let everyone go with what there is: the server is about to end."""
        self.closed = True
        self._bus.ring((Topic.CLOSING,))

    async def wait(
        self,
        topic: str,
        look: Callable[[], Awaitable[T]],
        is_over: Callable[[T], bool],
        *,
        seconds: float | None = None,
    ) -> T:
        """Look whenever the topic rings, until it is over, the time has passed or we close."""
        now = asyncio.get_running_loop().time
        deadline = None if seconds is None else now() + seconds
        with self._bus.listen(topic, Topic.CLOSING) as bell:
            while True:
                seen = await look()
                left = _POLL_SECONDS if deadline is None else deadline - now()
                if is_over(seen) or left <= 0 or self.closed:
                    return seen
                await bell.wait(min(left, _POLL_SECONDS))

"""Forgetter: drops the oldest events, so that a stream does not grow for ever."""

from datetime import datetime, timedelta

from handrail.core.change import Change, ForgetEvents
from handrail.core.ports import Clock, Store

EVENTS_KEPT = 100_000

_PAUSE = timedelta(seconds=60)
# Few enough that nobody waits for them.
_MOST_AT_ONCE = 2_000


class Forgetter:
    """Who asks for an event that is gone is told to look at what there is instead."""

    def __init__(self, store: Store, clock: Clock, kept: int = EVENTS_KEPT):
        self._store = store
        self._clock = clock
        self._kept = kept
        self._next: datetime = clock.now()

    async def forget_old_events(self) -> None:
        now = self._clock.now()
        if now < self._next:
            return
        long = await self._store.list_long_streams(self._kept)
        for project_id, events in long:
            through = min(events.last - self._kept, events.first - 1 + _MOST_AT_ONCE)
            await self._store.submit(Change(project_id, now, (ForgetEvents(through),)))
        if not long:
            self._next = now + _PAUSE

"""Forgetter: drops the oldest events, so that a stream does not grow for ever."""

from collections.abc import Callable
from datetime import datetime, timedelta

from handrail.core.change import Change, ForgetEvents
from handrail.core.ids import ProjectId
from handrail.core.ports import Clock, EventRange, Store
from handrail.core.retention import EVENTS_DAYS

EVENTS_KEPT = 100_000

_PAUSE = timedelta(seconds=60)
# Few enough that nobody waits for them.
_MOST_AT_ONCE = 2_000


class Forgetter:
    """Who asks for an event that is gone is told to look at what there is instead."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        kept: int = EVENTS_KEPT,
        kept_for: Callable[[], timedelta] = lambda: timedelta(days=EVENTS_DAYS),
    ):
        self._store = store
        self._clock = clock
        self._kept = kept
        self._kept_for = kept_for
        self._next: datetime = clock.now()

    async def forget_old_events(self) -> None:
        now = self._clock.now()
        if now < self._next:
            return
        old = {
            project_id: (events, events.last - self._kept)
            for project_id, events in await self._store.list_long_streams(self._kept)
        }
        if not old:
            old = await self._list_old(now - self._kept_for())
        for project_id, (events, through) in old.items():
            through = min(through, events.first - 1 + _MOST_AT_ONCE)
            await self._store.submit(Change(project_id, now, (ForgetEvents(through),)))
        if not old:
            self._next = now + _PAUSE

    async def _list_old(self, before: datetime) -> dict[ProjectId, tuple[EventRange, int]]:
        """The projects with events from before a moment, and the last number of those."""
        found: dict[ProjectId, tuple[EventRange, int]] = {}
        for project_id, _ in await self._store.list_audit_heads():
            events = await self._store.event_range(project_id)
            first_kept = await self._store.find_event_since(project_id, before) or events.last + 1
            if events.first < first_kept:
                found[project_id] = (events, first_kept - 1)
        return found

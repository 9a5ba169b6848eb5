"""Pruner: removes old results and calls in small steps, so that calls go on meanwhile."""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from handrail.core.audit import AuditRecord
from handrail.core.change import Change, RemoveCalls, RemoveResults, ShrinkFile
from handrail.core.errors import ChangeRefused
from handrail.core.ids import ProjectId
from handrail.core.ports import Clock, Store
from handrail.core.retention import Amount, OldCall, Part, Retention

FIRST_AFTER = timedelta(minutes=1)
PAUSE = timedelta(hours=1)
# A database can be too large for other reasons; that must not cost the records of today.
KEPT_AT_ANY_SIZE = timedelta(days=1)
MOST_AT_ONCE = 50

log = structlog.get_logger(__name__)


class Pruner:
    """Each step is one short transaction for each project, together with its audit line.

    So a server that is killed between two steps loses nothing, and goes on after its next start.
    """

    def __init__(self, store: Store, clock: Clock, retention: Callable[[], Retention]):
        self._store = store
        self._clock = clock
        self._retention = retention
        self._next = clock.now() + FIRST_AFTER

    async def prune_what_is_due(self) -> None:
        """Take one step if it is due; when nothing is left, the next one is due in an hour."""
        now = self._clock.now()
        if now >= self._next and await self.take_step() is None:
            self._next = now + PAUSE

    async def weigh(self) -> Amount:
        """How much the age limits remove; the limit of size may remove more."""
        now, total = self._clock.now(), Amount()
        moments = self._moments(now)
        for project_id in await self._projects():
            for part, before in moments.items():
                total += await self._store.weigh_old(part, project_id, before=before, now=now)
        return total

    async def take_step(self) -> Amount | None:
        """Remove the oldest results or calls, or return free pages; None when nothing is left."""
        now = self._clock.now()
        moments = self._moments(now)
        try:
            for part, before in moments.items():
                if old := await self._oldest(part, before, now):
                    return await self._remove(part, old, now)
            if (await self._store.measure_file()).used_bytes > self._retention().max_bytes:
                for part in moments:
                    if old := await self._oldest(part, now - KEPT_AT_ANY_SIZE, now):
                        return await self._remove(part, old, now)
                log.warning("retention.still_too_large", max_bytes=self._retention().max_bytes)
        except ChangeRefused:
            # One of the calls is needed again since it was found; the next round looks again.
            return None
        return await self._shrink(now)

    def _moments(self, now: datetime) -> dict[Part, datetime]:
        """From before which moment each part is removed; no result outlives its call."""
        wanted = self._retention()
        return {
            "results": now - min(wanted.results, wanted.calls),
            "calls": now - wanted.calls,
        }

    async def _projects(self) -> list[ProjectId]:
        return [project_id for project_id, _ in await self._store.list_audit_heads()]

    async def _oldest(self, part: Part, before: datetime, now: datetime) -> list[OldCall]:
        """The oldest of all projects."""
        found: list[OldCall] = []
        for project_id in await self._projects():
            found += await self._store.list_old(
                part, project_id, before=before, now=now, limit=MOST_AT_ONCE
            )
        return sorted(found, key=lambda one: one.created_at)[:MOST_AT_ONCE]

    async def _remove(self, part: Part, old: list[OldCall], now: datetime) -> Amount:
        total = Amount()
        by_project: dict[ProjectId, list[OldCall]] = defaultdict(list)
        for one in old:
            by_project[one.project_id].append(one)
        for project_id, own in by_project.items():
            removed = _amount(part, own)
            ids = tuple(one.id for one in own)
            step = RemoveResults(ids) if part == "results" else RemoveCalls(ids)
            await self._store.submit(
                Change(project_id, now, (step,), audit=(_line(project_id, removed, own),))
            )
            total += removed
        return total

    async def _shrink(self, now: datetime) -> Amount | None:
        space, projects = await self._store.measure_file(), await self._projects()
        if not (projects and space.can_shrink and space.free_bytes):
            return None
        await self._store.submit(Change(projects[0], now, (ShrinkFile(),)))
        shrunk = await self._store.measure_file()
        return Amount() if shrunk.bytes < space.bytes else None


def _amount(part: Part, old: list[OldCall]) -> Amount:
    size = sum(one.bytes for one in old)
    if part == "results":
        return Amount(results=len(old), bytes=size)
    return Amount(len(old), questions=sum(one.has_question for one in old), bytes=size)


def _line(project_id: ProjectId, removed: Amount, old: list[OldCall]) -> AuditRecord:
    details = {
        "calls": removed.calls,
        "results": removed.results,
        "questions": removed.questions,
        "bytes": removed.bytes,
        "from": old[0].created_at.isoformat(),
        "to": old[-1].created_at.isoformat(),
    }
    return AuditRecord("records.pruned", "retention", project_id, details)

"""Sealer: puts a signed checkpoint under each record that has grown."""

from datetime import datetime, timedelta

import structlog

from handrail.core.audit import AuditHead
from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import BrokenRecord, HandrailError
from handrail.core.ids import ProjectId
from handrail.core.ports import Checkpoints, Clock, Store
from handrail.core.restoration import Restoration

_MOST_LINES = 100
_LONGEST = timedelta(minutes=1)

log = structlog.get_logger(__name__)


class Sealer:
    """Goes on only from what it has found to be true.

    A record that contradicts its last checkpoint gets no further one, so that the contradiction
    stays where everybody can see it.
    """

    def __init__(self, store: Store, clock: Clock, checkpoints: Checkpoints):
        self._store = store
        self._clock = clock
        self._checkpoints = checkpoints
        self._last: dict[ProjectId, Checkpoint | None] = {}
        self._restored: dict[ProjectId, Restoration] = {}
        self._broken: set[ProjectId] = set()

    async def seal_what_is_due(self) -> None:
        """Every hundred lines, and after a minute whatever has grown."""
        await self._seal(patient=True)

    async def seal_all(self) -> None:
        """Every record up to its end."""
        await self._seal(patient=False)

    async def _seal(self, *, patient: bool) -> None:
        now = self._clock.now()
        for project_id, head in await self._store.list_audit_heads():
            if project_id in self._broken:
                continue
            try:
                last = await self._find_last(project_id)
                if _is_due(last, head, now) if patient else _has_grown(last, head):
                    restored = self._restored.get(project_id)
                    added = await self._checkpoints.add(project_id, head, now, restored=restored)
                    self._last[project_id] = added
            except BrokenRecord as error:
                self._broken.add(project_id)
                log.error("audit.broken", project=project_id, error=str(error))
            except (HandrailError, OSError) as error:
                log.error("audit.unsealed", project=project_id, error=str(error))

    async def _find_last(self, project_id: ProjectId) -> Checkpoint | None:
        if project_id not in self._last:
            last = await self._checkpoints.find_last(project_id)
            if last is not None and not await self._is_in_record(last):
                self._restored[project_id] = await self._find_restore_that_left(last)
                last = None
            self._last[project_id] = last
        return self._last[project_id]

    async def _is_in_record(self, last: Checkpoint) -> bool:
        lines = await self._store.read_audit(last.project_id, after=last.seq - 1, limit=1)
        return [(line.seq, line.hash) for line in lines] == [last.head]

    async def _find_restore_that_left(self, last: Checkpoint) -> Restoration:
        for restored in await self._store.list_restorations(last.project_id):
            if restored.leaves_behind(last.number):
                return restored
        raise BrokenRecord(f"line {last.seq} is not the one that was sealed")


def _has_grown(last: Checkpoint | None, head: AuditHead) -> bool:
    return head.seq > (0 if last is None else last.seq)


def _is_due(last: Checkpoint | None, head: AuditHead, now: datetime) -> bool:
    if last is None:
        return _has_grown(last, head)
    # A clock that was set back must not keep a record from being sealed.
    is_fresh = timedelta() <= now - last.at < _LONGEST
    return _has_grown(last, head) and (not is_fresh or head.seq - last.seq >= _MOST_LINES)

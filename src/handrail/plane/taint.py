"""Taints: a session that has read what looks like orders is not trusted until a person says so."""

from typing import NamedTuple

from handrail.core.audit import AuditRecord
from handrail.core.change import Change, ClearTaint, TaintSession
from handrail.core.errors import ChangeRefused, NotFound
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ProjectId, SessionId
from handrail.core.ports import Clock, Store
from handrail.core.project import Session
from handrail.plane.decider import Decider
from handrail.plane.move import HANDRAIL


class Cleared(NamedTuple):
    """`was_tainted_by` is None where the session was trusted all the time."""

    session_id: SessionId
    was_tainted_by: str | None


class Tainting(NamedTuple):
    """What goes with a change that stores a suspicious result."""

    steps: tuple[TaintSession, ...] = ()
    events: tuple[NewEvent, ...] = ()
    audit: tuple[AuditRecord, ...] = ()

    @classmethod
    def by(cls, execution: ToolExecution) -> "Tainting":
        """Nothing where the result of the call is not suspicious."""
        found = execution.suspicion
        if found is None:
            return cls()
        details = {
            "execution": execution.id,
            "by": found["source"],
            "score": found["score"],
            "rules": [finding["rule"] for finding in found["findings"]],
        }
        return cls(
            (TaintSession(execution, found["source"]),),
            (NewEvent.for_everyone(execution, EventKind.SESSION_TAINTED),),
            (AuditRecord("session.tainted", HANDRAIL, execution.session_id, details),),
        )

    def added_to(self, change: Change) -> Change:
        if not self.steps:
            return change
        return Change(
            change.project_id,
            change.at,
            (*change.steps, *self.steps),
            (*change.events, *self.events),
            (*change.audit, *self.audit),
        )


class Taints:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def list_all(self, project_id: ProjectId) -> list[Session]:
        """The sessions of a project that are not trusted, the first one first."""
        return await self._store.list_tainted(project_id)

    async def clear(self, session_id: SessionId, decider: Decider) -> Cleared:
        """Trust a session again: calls are judged by their words, and its grants cover them.

        Saying it again is harmless.

        Raises:
            NotFound: There is no such session in this project.
        """
        place = await self._store.find_place(decider.project_id, session_id)
        if place is None:
            raise NotFound(f"there is no session {session_id!r}")
        session = place.session
        if session.tainted_by is None or session.tainted_call is None:
            return Cleared(session_id, None)
        details = {
            "by": session.tainted_by,
            "execution": session.tainted_call,
            "channel": decider.channel,
        }
        line = AuditRecord("session.cleared", decider.principal.subject, session_id, details)
        news = NewEvent(EventKind.SESSION_CLEARED, session.tainted_call, Status.COMPLETED)
        steps = (ClearTaint(session),)
        change = Change(decider.project_id, self._clock.now(), steps, (news,), (line,))
        try:
            await self._store.submit(change)
        except ChangeRefused:
            # Somebody was faster.
            return Cleared(session_id, None)
        return Cleared(session_id, session.tainted_by)

"""GrantBook: the standing answers, found when one fits and struck out when asked to."""

from datetime import datetime, timedelta
from typing import NamedTuple

from handrail.core.access import Principal
from handrail.core.activity import Mark, Wanted
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.errors import ChangeRefused, Conflict, NotFound
from handrail.core.execution import ToolExecution
from handrail.core.grant import CallClass, Grant, Scope
from handrail.core.grant_steps import RevokeGrant
from handrail.core.ids import ExecutionId, GrantId, ProjectId, SessionId
from handrail.core.ports import Clock, Store

# Sessions do not end by themselves. One without a call for so long is probably done with.
IDLE = timedelta(hours=12)

_NARROWEST = (Scope.CLASS, Scope.PROJECT, Scope.SESSION)


class StandingGrant(NamedTuple):
    """A grant, and whose calls it covers.

    `last_call_at` is the latest call of its session, where that was not long ago; without one the
    grant `is_idle`. A lasting answer never is.
    """

    grant: Grant
    agent_id: str | None
    last_call_at: datetime | None = None
    is_idle: bool = False


class GrantBook:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def find_covering(
        self, call: ToolExecution, kind: CallClass | None, *, beyond_session: bool
    ) -> Grant | None:
        """A grant that lets such a call pass; the narrowest one first."""
        now, project_id = self._clock.now(), call.project_id
        given = await self._store.list_grants(project_id, session_id=call.session_id)
        lasting = await self._store.list_lasting(project_id, call.agent_id)
        fitting = [
            grant
            for grant in (*(one for one in given if one.agent_id is None), *lasting)
            if grant.is_for(call.session_id, call.agent_id)
            and grant.covers(kind, call.risk_level, now, beyond_session=beyond_session)
        ]
        return min(fitting, key=lambda grant: _NARROWEST.index(grant.scope), default=None)

    async def list_live(self, project_id: ProjectId) -> list[Grant]:
        """The grants that can let calls pass at this moment."""
        now = self._clock.now()
        given = await self._store.list_grants(project_id, session_id=None)
        return [grant for grant in given if grant.is_live(now)]

    async def describe(self, grant: Grant) -> StandingGrant:
        """A grant with what else a person wants to know of it."""
        if grant.agent_id is not None:
            return StandingGrant(grant, grant.agent_id)
        question = await self._store.find_approval(grant.approval_id)
        agent_id = None if question is None else question.agent_id
        last_call_at = await self._last_call(grant.project_id, grant.session_id)
        used_at = max(grant.created_at, last_call_at or grant.created_at)
        return StandingGrant(grant, agent_id, last_call_at, self._clock.now() - used_at > IDLE)

    async def _last_call(self, project_id: ProjectId, session_id: SessionId) -> datetime | None:
        since = Mark(self._clock.now() - IDLE, ExecutionId(""))
        wanted = Wanted(session_id=session_id, after=since)
        latest = await self._store.list_activity(project_id, wanted, limit=1)
        return latest[0].created_at if latest else None

    async def revoke(self, grant_id: GrantId, by: Principal, project_id: ProjectId) -> Grant:
        """Let a grant cover nothing from now on.

        Raises:
            NotFound: There is no such grant in this project.
            Conflict: It was revoked before.
        """
        grant = await self._store.find_grant(grant_id)
        if grant is None or grant.project_id != project_id:
            raise NotFound(f"there is no grant {grant_id!r}")
        at = self._clock.now()
        line = AuditRecord("grant.revoked", by.subject, grant.id, {"words": grant.words})
        try:
            await self._store.submit(Change(project_id, at, (RevokeGrant(grant),), audit=(line,)))
        except ChangeRefused:
            raise Conflict(f"grant {grant_id!r} was revoked before") from None
        return grant.revoke(at)

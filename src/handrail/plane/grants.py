"""GrantBook: the standing answers, found when one fits and struck out when asked to."""

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Change, RevokeGrant
from handrail.core.errors import ChangeRefused, Conflict, NotFound
from handrail.core.grant import CallClass, Grant
from handrail.core.ids import GrantId, ProjectId, SessionId
from handrail.core.ports import Clock, Store
from handrail.core.risk import RiskLevel


class GrantBook:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def find_covering(
        self,
        project_id: ProjectId,
        session_id: SessionId,
        kind: CallClass | None,
        risk: RiskLevel,
        *,
        reaches_out: bool,
    ) -> Grant | None:
        """A grant of this session that lets such a call pass; the narrowest one first."""
        now = self._clock.now()
        given = await self._store.list_grants(project_id, session_id=session_id)
        fitting = [
            grant for grant in given if grant.covers(kind, risk, now, reaches_out=reaches_out)
        ]
        return min(fitting, key=lambda grant: grant.class_key is None, default=None)

    async def list_live(self, project_id: ProjectId) -> list[Grant]:
        now = self._clock.now()
        given = await self._store.list_grants(project_id, session_id=None)
        return [grant for grant in given if grant.is_live(now)]

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

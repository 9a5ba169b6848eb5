"""What can be asked of a store about records that are old, or gone."""

from datetime import datetime
from typing import Any

from sqlalchemy.sql.elements import ClauseElement

from handrail.core.ids import CallId, ExecutionId, ProjectId, SessionId
from handrail.core.retention import Amount, OldCall, Part, RemovedCall
from handrail.store import event_statements
from handrail.store import retention_statements as statements
from handrail.store.reading import Reading
from handrail.store.rows import from_micros, to_micros


class RetentionReads(Reading):
    async def list_old(
        self, part: Part, project_id: ProjectId, *, before: datetime, now: datetime, limit: int
    ) -> list[OldCall]:
        old = _old(project_id, before, now)
        found = await self._fetch_aside(statements.LIST_OLD[part], limit=limit, **old)
        return [
            OldCall(project_id, id_, from_micros(at), size, bool(asked))
            for id_, at, size, asked in found
        ]

    async def weigh_old(
        self, part: Part, project_id: ProjectId, *, before: datetime, now: datetime
    ) -> Amount:
        old = _old(project_id, before, now)
        count, size, asked = (await self._fetch_aside(statements.WEIGH_OLD[part], **old))[0]
        if part == "results":
            return Amount(results=count, bytes=size)
        return Amount(count, questions=asked, bytes=size)

    async def find_removed(
        self, project_id: ProjectId, execution_id: ExecutionId
    ) -> RemovedCall | None:
        return await self._removed(
            statements.FIND_REMOVED, project_id=project_id, execution_id=execution_id
        )

    async def find_removed_call(
        self, project_id: ProjectId, session_id: SessionId, call_id: CallId
    ) -> RemovedCall | None:
        this = {"project_id": project_id, "session_id": session_id, "call_id": call_id}
        return await self._removed(statements.FIND_REMOVED_CALL, **this)

    async def find_event_since(self, project_id: ProjectId, since: datetime) -> int | None:
        found = await self._fetch_aside(
            event_statements.FIND_FIRST_SINCE, project_id=project_id, since=to_micros(since)
        )
        return found[0][0] if found else None

    async def _removed(self, statement: ClauseElement, **values: Any) -> RemovedCall | None:
        found = await self._fetch(statement, **values)
        return RemovedCall(found[0][0], from_micros(found[0][1])) if found else None


def _old(project_id: ProjectId, before: datetime, now: datetime) -> dict[str, Any]:
    return {"project_id": project_id, "before": to_micros(before), "now": to_micros(now)}

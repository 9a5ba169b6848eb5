"""What can be asked of a store about questions, answers and grants."""

from datetime import datetime

from sqlalchemy.sql.elements import ClauseElement

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.errors import NotFound
from handrail.core.execution import ToolExecution
from handrail.core.grant import Grant, PastCalls
from handrail.core.ids import ApprovalId, GrantId, ProjectId, SessionId
from handrail.core.risk import RiskLevel
from handrail.store import approval_statements as statements
from handrail.store.approval_rows import read_approval, read_grant
from handrail.store.reading import Reading
from handrail.store.rows import read_execution, to_micros


class ApprovalReads(Reading):
    async def find_execution_of(self, approval_id: ApprovalId) -> ToolExecution | None:
        found = await self._fetch(statements.FIND_EXECUTION_OF, approval_id=approval_id)
        return read_execution(found[0]) if found else None

    async def list_unsurveyed(self, asked_before: datetime) -> list[ToolExecution]:
        found = await self._fetch(statements.LIST_UNSURVEYED, asked_before=to_micros(asked_before))
        return [read_execution(row) for row in found]

    async def list_unchecked(self) -> list[ToolExecution]:
        found = await self._fetch(statements.LIST_UNCHECKED)
        return [read_execution(row) for row in found]

    async def read_raw_params(self, execution: ToolExecution) -> str:
        return await self._read_params(statements.READ_RAW_PARAMS, execution)

    async def read_asked_params(self, execution: ToolExecution) -> str:
        return await self._read_params(statements.READ_ASKED_PARAMS, execution)

    async def _read_params(self, statement: ClauseElement, execution: ToolExecution) -> str:
        found = await self._fetch(statement, execution_id=execution.id)
        if not found:
            raise NotFound(f"there is no execution {execution.id}")
        return found[0][0]

    async def find_approval(self, approval_id: ApprovalId) -> Approval | None:
        found = await self._fetch(statements.FIND_APPROVAL, approval_id=approval_id)
        return read_approval(found[0]) if found else None

    async def list_approvals(
        self, project_id: ProjectId, *, status: ApprovalStatus | None, limit: int
    ) -> list[Approval]:
        found = await self._fetch(
            statements.LIST_APPROVALS, project_id=project_id, status=status, limit=limit
        )
        return [read_approval(row) for row in found]

    async def count_questions(self, project_id: ProjectId, agent_id: str) -> int:
        found = await self._fetch(
            statements.COUNT_QUESTIONS, project_id=project_id, agent_id=agent_id
        )
        return found[0][0]

    async def count_open_questions(self) -> dict[ProjectId, int]:
        found = await self._fetch(statements.COUNT_OPEN_QUESTIONS)
        return {ProjectId(project_id): count for project_id, count in found}

    async def list_overdue(self, now: datetime) -> list[Approval]:
        found = await self._fetch(statements.LIST_OVERDUE, now=to_micros(now))
        return [read_approval(row) for row in found]

    async def list_durations(
        self, project_id: ProjectId, class_key: str, *, limit: int
    ) -> list[int]:
        found = await self._fetch(
            statements.LIST_DURATIONS, project_id=project_id, class_key=class_key, limit=limit
        )
        return [row[0] for row in found]

    async def count_of_class(self, execution: ToolExecution, class_key: str) -> PastCalls:
        most = min(execution.risk_level, RiskLevel.HIGH)
        coverable = [risk for risk in RiskLevel if risk <= most]
        risks = {f"risk_{n}": coverable[min(n, len(coverable) - 1)].name for n in range(3)}
        found = await self._fetch(
            statements.COUNT_OF_CLASS,
            project_id=execution.project_id,
            agent_id=execution.agent_id,
            class_key=class_key,
            execution_id=execution.id,
            **risks,
        )
        return PastCalls(*found[0])

    async def find_grant(self, grant_id: GrantId) -> Grant | None:
        found = await self._fetch(statements.FIND_GRANT, grant_id=grant_id)
        return read_grant(found[0]) if found else None

    async def list_grants(
        self, project_id: ProjectId, *, session_id: SessionId | None
    ) -> list[Grant]:
        found = await self._fetch(
            statements.LIST_GRANTS, project_id=project_id, session_id=session_id
        )
        return [read_grant(row) for row in found]

    async def list_lasting(self, project_id: ProjectId, agent_id: str) -> list[Grant]:
        found = await self._fetch(statements.LIST_LASTING, project_id=project_id, agent_id=agent_id)
        return [read_grant(row) for row in found]

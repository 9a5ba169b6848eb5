"""Everything that can be asked of a store, over the one method that databases differ in."""

from datetime import datetime

from handrail.core.access import Token
from handrail.core.audit import AuditEntry, AuditHead
from handrail.core.errors import NotFound
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import (
    CallId,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)
from handrail.core.ports import EventRange, StreamItem
from handrail.core.project import Client, Place, Project, Session, User, Workspace
from handrail.core.restoration import Restoration, read_restoration
from handrail.core.tool import Site
from handrail.store import (
    event_statements,
    restore_statements,
    rows,
    statements,
    taint_statements,
    token_statements,
    told_statements,
)
from handrail.store.activity_reads import ActivityReads
from handrail.store.analytics_reads import AnalyticsReads
from handrail.store.approval_reads import ApprovalReads
from handrail.store.blob_reads import BlobReads
from handrail.store.chat_reads import ChatReads
from handrail.store.memory_reads import MemoryReads
from handrail.store.retention_reads import RetentionReads


class StoreReads(
    ActivityReads, AnalyticsReads, ApprovalReads, BlobReads, ChatReads, MemoryReads, RetentionReads
):
    async def get_user(self, user_id: UserId) -> User:
        found = await self._fetch(statements.GET_USER, user_id=user_id)
        if not found:
            raise NotFound(f"there is no user {user_id}")
        return rows.read_user(found[0])

    async def find_user(self, name: str) -> User | None:
        found = await self._fetch(statements.FIND_USER, name=name)
        return rows.read_user(found[0]) if found else None

    async def find_token(self, secret_hash: str) -> Token | None:
        found = await self._fetch(statements.FIND_TOKEN, secret_hash=secret_hash)
        return rows.read_token(found[0]) if found else None

    async def list_tokens(self, user_id: UserId) -> list[Token]:
        found = await self._fetch(token_statements.LIST_TOKENS, user_id=user_id)
        return [rows.read_token(row) for row in found]

    async def list_names(self, project_id: ProjectId) -> dict[str, str]:
        found = await self._fetch(token_statements.LIST_NAMES, project_id=project_id)
        return {row[0]: row[1] for row in found}

    async def find_project(self, project_id: ProjectId) -> Project | None:
        found = await self._fetch(statements.FIND_PROJECT, project_id=project_id)
        return rows.read_project(found[0]) if found else None

    async def list_projects(self, user_id: UserId) -> list[Project]:
        found = await self._fetch(statements.LIST_PROJECTS, user_id=user_id)
        return [rows.read_project(row) for row in found]

    async def list_workspaces(self, project_id: ProjectId) -> list[Workspace]:
        found = await self._fetch(statements.LIST_WORKSPACES, project_id=project_id)
        return [rows.read_workspace(row) for row in found]

    async def list_clients(self, project_id: ProjectId) -> list[Client]:
        found = await self._fetch(statements.LIST_CLIENTS, project_id=project_id)
        return [rows.read_client(row) for row in found]

    async def find_place(self, project_id: ProjectId, session_id: SessionId) -> Place | None:
        found = await self._fetch(
            statements.FIND_PLACE, project_id=project_id, session_id=session_id
        )
        return rows.read_place(found[0]) if found else None

    async def find_execution(self, execution_id: ExecutionId) -> ToolExecution | None:
        found = await self._fetch(statements.FIND_EXECUTION, execution_id=execution_id)
        return rows.read_execution(found[0]) if found else None

    async def find_call(
        self, project_id: ProjectId, session_id: SessionId, call_id: CallId
    ) -> ToolExecution | None:
        found = await self._fetch(
            statements.FIND_CALL, project_id=project_id, session_id=session_id, call_id=call_id
        )
        return rows.read_execution(found[0]) if found else None

    async def list_executions(
        self, project_id: ProjectId, *, status: Status | None, agent_id: str | None, limit: int
    ) -> list[ToolExecution]:
        found = await self._fetch(
            statements.LIST_EXECUTIONS,
            project_id=project_id,
            status=status,
            agent_id=agent_id,
            limit=limit,
        )
        return [rows.read_execution(row) for row in found]

    async def list_results(
        self, project_id: ProjectId, session_id: SessionId, *, limit: int, most_chars: int
    ) -> list[ToolExecution]:
        found = await self._fetch(
            taint_statements.LIST_RESULTS,
            project_id=project_id,
            session_id=session_id,
            limit=limit,
            most_chars=most_chars,
        )
        return [rows.read_execution(row) for row in found]

    async def find_teller(
        self, project_id: ProjectId, circle: str, key: str, *, but_for: str | None
    ) -> ExecutionId | None:
        where = {"project_id": project_id, "circle": circle, "value": key}
        found = await self._fetch(told_statements.FIND_TELLER, **where, path=but_for or "")
        return ExecutionId(found[0][0]) if found else None

    async def list_tainted(self, project_id: ProjectId) -> list[Session]:
        found = await self._fetch(taint_statements.LIST_TAINTED, project_id=project_id)
        return [rows.read_session(row) for row in found]

    async def count_calls(self, project_id: ProjectId, since: datetime) -> int:
        found = await self._fetch(
            statements.COUNT_CALLS, project_id=project_id, since=rows.to_micros(since)
        )
        return found[0][0]

    async def list_open(self, workspace_id: WorkspaceId) -> list[ToolExecution]:
        found = await self._fetch(statements.LIST_OPEN, workspace_id=workspace_id)
        return [rows.read_execution(row) for row in found]

    async def list_open_since(self, approved_before: datetime) -> list[ToolExecution]:
        moment = rows.to_micros(approved_before)
        found = await self._fetch(statements.LIST_OPEN_SINCE, approved_before=moment)
        return [rows.read_execution(row) for row in found]

    async def list_open_inside(self) -> list[ToolExecution]:
        found = await self._fetch(statements.LIST_OPEN_INSIDE, site=Site.SERVER)
        return [rows.read_execution(row) for row in found]

    async def list_unfinished(self, session: Session) -> list[ToolExecution]:
        found = await self._fetch(
            statements.LIST_UNFINISHED,
            workspace_id=session.workspace_id,
            project_id=session.project_id,
            session_id=session.id,
        )
        return [rows.read_execution(row) for row in found]

    async def list_left_in_stopped(self) -> list[ToolExecution]:
        found = await self._fetch(statements.LIST_LEFT_IN_STOPPED)
        return [rows.read_execution(row) for row in found]

    async def event_range(self, project_id: ProjectId) -> EventRange:
        found = await self._fetch(event_statements.EVENT_RANGE, project_id=project_id)
        return EventRange(*found[0]) if found else EventRange(1, 0)

    async def list_long_streams(self, most_events: int) -> list[tuple[ProjectId, EventRange]]:
        found = await self._fetch(event_statements.LIST_LONG_STREAMS, most_events=most_events)
        return [(ProjectId(row[0]), EventRange(*row[1:])) for row in found]

    async def read_stream(
        self, project_id: ProjectId, *, after: int, client_id: ClientId | None, limit: int
    ) -> list[StreamItem]:
        found = await self._fetch(
            event_statements.READ_STREAM,
            project_id=project_id,
            after=after,
            client_id=client_id,
            limit=limit,
        )
        return [rows.read_stream_item(row) for row in found]

    async def read_audit(
        self, project_id: ProjectId, *, after: int, limit: int
    ) -> list[AuditEntry]:
        found = await self._fetch(
            statements.READ_AUDIT, project_id=project_id, after=after, limit=limit
        )
        return [rows.read_audit_entry(row) for row in found]

    async def list_restorations(self, project_id: ProjectId) -> list[Restoration]:
        # No index leads to these lines, and a chain can be long.
        found = await self._fetch_aside(restore_statements.LIST_RESTORED, project_id=project_id)
        return [read_restoration(rows.read_audit_entry(row)) for row in found]

    async def find_audit_head(self, project_id: ProjectId) -> AuditHead | None:
        found = await self._fetch(statements.READ_HEAD, project_id=project_id)
        return AuditHead(*found[0][1:]) if found else None

    async def list_audit_heads(self) -> list[tuple[ProjectId, AuditHead]]:
        found = await self._fetch(statements.LIST_AUDIT_HEADS)
        return [(ProjectId(row[0]), AuditHead(*row[1:])) for row in found]

"""Words to ask with, and further machines to execute on."""

from typing import Any

from handrail.core.access import Principal, Role
from handrail.core.change import Add, Change
from handrail.core.execution import Status
from handrail.core.ids import CallId, ClientId, ExecutionId, SessionId, WorkspaceId, mint
from handrail.core.project import Client, Workspace
from handrail.core.tool import ToolCall
from handrail.plane.dispatch import Report
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household


def a_read(
    home: Household,
    call_id: str = "call-1",
    *,
    session_id: str = "session-1",
    tool_name: str = "read_file",
    reasoning: str | None = None,
    **params: Any,
) -> ToolCall:
    """A call of read_file, for README.md unless other parameters are given."""
    return ToolCall(
        home.project.id,
        SessionId(session_id),
        CallId(call_id),
        tool_name,
        params or {"path": "README.md"},
        reasoning,
    )


def a_report(execution_id: str, content: str = "hello", epoch: int | None = 1) -> Report:
    return Report(
        execution_id=ExecutionId(execution_id),
        status=Status.COMPLETED,
        epoch=epoch,
        result={"success": True, "content": content},
        execution_time_ms=3,
    )


async def add_client(
    store: SqliteStore, home: Household, workspace_id: WorkspaceId | None = None
) -> Principal:
    """A further machine for a household's project."""
    at = home.project.created_at
    where = workspace_id or home.workspace.id
    client = Client(ClientId(mint("cli", at)), home.project.id, where, "there", at)
    await store.submit(Change(home.project.id, at, (Add(client),)))
    return Principal(Role.CLIENT, client.id, home.user.user_id, home.project.id, where)


async def add_workspace(store: SqliteStore, home: Household, root: str) -> Workspace:
    at = home.project.created_at
    workspace = Workspace(WorkspaceId(mint("wsp", at)), home.project.id, "there", root, at)
    await store.submit(Change(home.project.id, at, (Add(workspace),)))
    return workspace

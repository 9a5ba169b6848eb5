"""Words to ask with, people to answer, and further machines to execute on."""

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.access import Principal, Role
from handrail.core.approval import Approval
from handrail.core.audit import AuditEntry
from handrail.core.change import Add, Change
from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import (
    CallId,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    WorkspaceId,
    mint,
)
from handrail.core.ports import Store
from handrail.core.project import Autonomy, Client, Workspace
from handrail.core.survey import Survey
from handrail.core.tool import ToolCall
from handrail.plane.connections import Connection
from handrail.plane.decider import Decider
from handrail.plane.results import Report
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile
from handrail.testing import FakeClock
from tests.conftest import Household

# What the household's client claims with.
KEY = "key-of-this-life"


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


def a_write(
    home: Household,
    call_id: str = "call-1",
    *,
    path: str = "src/a.py",
    content: str = "x = 1\n",
    session_id: str = "session-1",
    reasoning: str | None = None,
) -> ToolCall:
    """A call of write_file that is MEDIUM; for a script like `run.sh` it is HIGH, of no class."""
    words = {"path": path, "content": content}
    return ToolCall(
        home.project.id,
        SessionId(session_id),
        CallId(call_id),
        "write_file",
        words,
        reasoning,
    )


def at_the(channel: str, home: Household) -> Decider:
    """The household's user in front of a screen."""
    return Decider(home.user, home.project.id, channel)


async def approve_in_full(services: Services, question: Approval, home: Household) -> Approval:
    """Approve as a screen does: with the digest of the full text."""
    shown = await services.unmasker.unmask(question.id, home.user, home.project.id)
    return await services.approvals.approve_tool(
        question.id, at_the("console", home), digest=shown.digest
    )


async def with_autonomy(store: SqliteStore, home: Household, autonomy: Autonomy) -> Household:
    """A further project of the same user, with other freedom for its agent."""
    at = home.project.created_at
    project = replace(home.project, id=ProjectId(mint("prj", at)), name="free", autonomy=autonomy)
    workspace = replace(home.workspace, id=WorkspaceId(mint("wsp", at)), project_id=project.id)
    client = Client(ClientId(mint("cli", at)), project.id, workspace.id, "here", at)
    rows = (Add(project), Add(workspace), Add(client))
    await store.submit(Change(project.id, at, rows))
    place = {"project_id": project.id, "workspace_id": workspace.id}
    return replace(
        home,
        project=project,
        workspace=workspace,
        client=replace(home.client, subject=client.id, **place),
        agent=replace(home.agent, **place),
    )


async def ask(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> Approval:
    """Propose a write that a client has looked at and a person is asked about."""
    pending = await look(services, home, call_id, **words)
    assert pending.approval_id is not None
    waiting = await services.surveyor.accept(
        pending.approval_id, Survey(), home.client, home.project.id
    )
    assert waiting.status is Status.AWAITING_APPROVAL
    return await question_of(services.store, waiting)


async def ask_unseen(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> Approval:
    """Propose a write that somebody is asked about at once: no client is there to look."""
    execution = await services.executor.propose(a_write(home, call_id, **words), home.agent)
    assert execution.status is Status.AWAITING_APPROVAL
    return await question_of(services.store, execution)


async def look(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> ToolExecution:
    """Propose a write while the household's client is there, which is then asked to look."""
    with services.connections.open(home.client_id, home.workspace.id):
        pending = await services.executor.propose(a_write(home, call_id, **words), home.agent)
    assert pending.status is Status.PENDING
    return pending


async def question_of(store: Store, execution: ToolExecution) -> Approval:
    assert execution.approval_id is not None
    found = await store.find_approval(execution.approval_id)
    assert found is not None
    return found


async def call_of(store: Store, approval: Approval) -> ToolExecution:
    return await now_of(store, approval.execution_id)


async def now_of(store: Store, execution_id: ExecutionId) -> ToolExecution:
    found = await store.find_execution(execution_id)
    assert found is not None
    return found


async def news_of(store: Store, home: Household) -> list[tuple[EventKind, Status]]:
    items = await store.read_stream(home.project.id, after=0, client_id=None, limit=1000)
    return [(item.event.kind, item.event.status) for item in items]


async def lines_of(store: Store, home: Household, *actions: str) -> list[AuditEntry]:
    """The audit lines of these actions, or all of them."""
    lines = await store.read_audit(home.project.id, after=0, limit=100_000)
    return [line for line in lines if not actions or line.action in actions]


@asynccontextmanager
async def another_process(folder: Path, clock: FakeClock) -> AsyncGenerator[Services]:
    """The plane once more over the same file, with a bell and a memory of its own."""
    bus = LocalBus()
    store = SqliteStore(folder / "handrail.db", bus)
    await store.open()
    try:
        yield build_services(store, bus, clock)
    finally:
        await store.close()


def all_tables(folder: Path) -> str:
    """Everything there is in every table, as one text."""
    file = SqliteFile(folder / "handrail.db", read_only=True)
    names = [row[0] for row in file.run("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {name: file.run(f"SELECT * FROM {name}") for name in names}
    file.close()
    return str(found)


def connected(services: Services, client: Principal) -> AbstractContextManager[Connection]:
    """A client that is here while the context is open."""
    assert client.workspace_id is not None
    return services.connections.open(ClientId(client.subject), client.workspace_id)


async def handed_out(services: Services, home: Household, call_id: str = "call-1") -> ToolExecution:
    """A read in the hands of the household's client, which has left since."""
    with connected(services, home.client):
        return await services.executor.propose(a_read(home, call_id), home.agent)


async def find(store: SqliteStore, execution: ToolExecution) -> ToolExecution:
    return await now_of(store, execution.id)


async def signals_to(store: SqliteStore, home: Household, client: Principal) -> list[Event]:
    items = await store.read_stream(
        home.project.id, after=0, client_id=ClientId(client.subject), limit=1000
    )
    return [item.event for item in items if item.event.kind is EventKind.EXECUTION_SIGNAL]

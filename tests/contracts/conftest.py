"""Stores to hold to the contract, and the changes to hold them with."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, OpenCall, OpenSession, Reoffer
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import CallId, ExecutionId, SessionId, mint
from handrail.core.project import Autonomy, Session
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household

OpenStore = Callable[[LocalBus], Awaitable[SqliteStore]]


@pytest.fixture(params=["sqlite"])
async def open_store(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[OpenStore]:
    """Opens a further store over the same data each time it is called."""
    makers = {"sqlite": lambda bus: SqliteStore(tmp_path / "handrail.db", bus)}
    opened: list[SqliteStore] = []

    async def open_one(bus: LocalBus) -> SqliteStore:
        store = makers[request.param](bus)
        await store.open()
        opened.append(store)
        return store

    yield open_one
    async with asyncio.timeout(10):
        for store in reversed(opened):
            await store.close()


@pytest.fixture
async def store(open_store: OpenStore, bus: LocalBus) -> SqliteStore:
    return await open_store(bus)


def a_session(home: Household, session_id: str = "session-1", **fields: Any) -> Session:
    return Session(
        SessionId(session_id),
        home.project.id,
        home.workspace.id,
        home.agent.subject,
        home.project.created_at,
        **fields,
    )


def a_call(home: Household, call_id: str = "call-1", **fields: Any) -> ToolExecution:
    """A read that has been approved and waits for a client."""
    at = home.project.created_at
    return ToolExecution(
        id=ExecutionId(mint("exe", at)),
        user_id=home.project.user_id,
        project_id=home.project.id,
        workspace_id=home.workspace.id,
        session_id=SessionId("session-1"),
        call_id=CallId(call_id),
        agent_id=home.agent.subject,
        tool_name="read_file",
        tool_params={"path": "README.md", "limit": 3},
        request_digest="asked",
        digest="judged",
        site=Site.CLIENT,
        effect=Effect.READ,
        autonomy=Autonomy.SUPERVISED,
        risk_level=RiskLevel.LOW,
        reasons=(),
        requires_approval=False,
        status=Status.APPROVED,
        created_at=at,
        approved_at=at,
    )._replace(**fields)


def tell(execution: ToolExecution, kind: EventKind = EventKind.STATUS) -> NewEvent:
    """The news of an execution: to its client if it is a signal, else to everyone."""
    client_id = None if kind is EventKind.STATUS else execution.client_id
    return NewEvent(kind, execution.id, execution.status, client_id, execution.epoch)


def opening(execution: ToolExecution, home: Household, raw_params: str | None = None) -> Change:
    """The change that brings a call in, and its session if it is not there yet."""
    return Change(
        execution.project_id,
        execution.created_at,
        (
            OpenSession(a_session(home, execution.session_id)),
            OpenCall(execution, raw_params),
        ),
        (tell(execution),),
        (AuditRecord("call.proposed", execution.agent_id, execution.id, {"tool": "read_file"}),),
    )


def moving(step: Advance | Reoffer, kind: EventKind = EventKind.STATUS, *more: NewEvent) -> Change:
    """The change that takes one step and tells of it."""
    after = step.after
    line = AuditRecord("call.moved", "handrail", after.id, {"status": after.status})
    return Change(after.project_id, after.created_at, (step,), (tell(after, kind), *more), (line,))

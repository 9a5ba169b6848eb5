"""Stores to hold to the contract, and the changes to hold them with."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.audit import AuditRecord, canonical
from handrail.core.change import (
    Add,
    Advance,
    Change,
    OpenCall,
    OpenSession,
    Reoffer,
    Resolve,
)
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import CallClass, Grant, Scope
from handrail.core.ids import ApprovalId, CallId, ExecutionId, GrantId, SessionId, mint
from handrail.core.project import Autonomy, Session
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household

OpenStore = Callable[[LocalBus], Awaitable[SqliteStore]]


@pytest.fixture(params=["sqlite"])
async def open_store(
    tmp_path: Path, empty_database: Path, request: pytest.FixtureRequest
) -> AsyncGenerator[OpenStore]:
    """Opens a further store over the same data each time it is called."""
    shutil.copy(empty_database, tmp_path / "handrail.db")
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
            OpenCall(
                execution,
                raw_params or canonical(execution.tool_params),
                masked=raw_params is not None,
            ),
        ),
        (tell(execution),),
        (AuditRecord("call.proposed", execution.agent_id, execution.id, {"tool": "read_file"}),),
    )


def moving(step: Advance | Reoffer, kind: EventKind = EventKind.STATUS, *more: NewEvent) -> Change:
    """The change that takes one step and tells of it."""
    after = step.after
    line = AuditRecord("call.moved", "handrail", after.id, {"status": after.status})
    return Change(after.project_id, after.created_at, (step,), (tell(after, kind), *more), (line,))


def a_question(call: ToolExecution, **fields: Any) -> Approval:
    """What a person is asked about a call that waits for them."""
    assert call.approval_id is not None
    asked = Approval(
        id=call.approval_id,
        project_id=call.project_id,
        user_id=call.user_id,
        execution_id=call.id,
        session_id=call.session_id,
        agent_id=call.agent_id,
        tool_name=call.tool_name,
        tool_params=call.tool_params,
        reasoning=call.reasoning,
        description="Write 1 line to src/a.py",
        risk_level=call.risk_level,
        reasons=call.reasons,
        digest=call.digest,
        surveyed=call.surveyed,
        evidence="",
        call_class=CallClass("write_file:src/**/*.py", "writes to src/**/*.py"),
        timeout_seconds=300,
        created_at=call.created_at,
        expires_at=call.created_at + timedelta(seconds=300),
    )
    return replace(asked, **fields)


def a_waiting_call(home: Household, call_id: str = "call-1", **fields: Any) -> ToolExecution:
    """A write that waits for a person's answer."""
    waiting: dict[str, Any] = {
        "tool_name": "write_file",
        "tool_params": {"path": "src/a.py", "content": "x = 1\n"},
        "effect": Effect.CHANGE,
        "risk_level": RiskLevel.MEDIUM,
        "reasons": ("changes a file in the workspace",),
        "requires_approval": True,
        "status": Status.AWAITING_APPROVAL,
        "approved_at": None,
        "approval_id": ApprovalId(mint("apr", home.project.created_at)),
    }
    return a_call(home, call_id, **(waiting | fields))


def asking(
    call: ToolExecution, question: Approval, home: Household, raw_params: str | None = None
) -> Change:
    """The change that brings in a call together with the question about it."""
    change = opening(call, home, raw_params)
    return replace(
        change,
        steps=(*change.steps, Add(question)),
        events=(NewEvent.for_everyone(call, EventKind.APPROVAL_REQUEST),),
    )


def a_grant(home: Household, **fields: Any) -> Grant:
    at = home.project.created_at
    given = Grant(
        id=GrantId(mint("grt", at)),
        project_id=home.project.id,
        session_id=SessionId("session-1"),
        class_key="write_file:src/**/*.py",
        words="writes to src/**/*.py",
        max_risk=RiskLevel.MEDIUM,
        uses_left=None,
        expires_at=None,
        approval_id=ApprovalId("apr_first"),
        granted_by=home.user.user_id,
        created_at=at,
    )
    return replace(given, **fields)


def answering(
    question: Approval, before: ToolExecution, *, approved: bool, by: str = "ada"
) -> Change:
    """The change that answers a question and moves its call."""
    at = question.created_at + timedelta(seconds=9)
    scope = Scope.ONCE if approved else None
    answer = Answer(by=by, channel="console", at=at, scope=scope)
    if approved:
        resolved = question.resolve(ApprovalStatus.APPROVED, answer)
        after = before.approve(by, Scope.ONCE, at)
    else:
        resolved = question.resolve(ApprovalStatus.REJECTED, answer)
        after = before.advance(Status.REJECTED, at, error=f"{by} refused this call")
    return Change(
        question.project_id,
        at,
        (Resolve(resolved), Advance(before, after)),
        (NewEvent.for_everyone(after, EventKind.APPROVAL_RESOLVED),),
        (AuditRecord(f"approval.{resolved.status}", by, question.id),),
    )

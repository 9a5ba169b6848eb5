"""What it costs to tell of a month with a million calls, against going through them once."""

import asyncio
import random
import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from benchmarks.many import copy_rows
from benchmarks.outcome import Outcome
from handrail.bus.local import LocalBus
from handrail.core.analytics import Bucket, Span
from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.change import Add, Advance, Change, OpenCall, OpenSession, Resolve, Step
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import CallClass, Scope
from handrail.core.ids import (
    ApprovalId,
    CallId,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)
from handrail.core.project import Autonomy, Project, Session, User
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site
from handrail.plane.analytics import Analytics
from handrail.store.migrate import steps_as_sql
from handrail.store.schema import tool_approvals, tool_executions
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile

PROMISES = {"analytics": 0.2}
NAMES = tuple(PROMISES)

MANY = 1_000_000
ROUNDS = 5
_SEED = 10_000
_PER_CHANGE = 100
_BEFORE_COUNTS, _WITH_COUNTS = "0012", "0013"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_MONTH = timedelta(days=30)
_TOOLS = ("read_file", "search_code", "list_directory", "run_bash", "write_file", "git")
_SHARE_ASKED = 0.05
_CLASSES = 60
_PROJECT = Project(
    ProjectId("prj_many"), UserId("usr_many"), "many", Autonomy.SUPERVISED, "salt", _START
)


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    yield asyncio.run(_measure(folder))


async def _measure(folder: Path) -> Outcome:
    path = folder / "analytics.db"
    seed = min(MANY, _SEED)
    await _fill(path, seed, _MONTH * (seed / MANY))
    multiply(path, MANY // seed)
    return await compare(path)


async def compare(path: Path) -> Outcome:
    store = SqliteStore(path, LocalBus())
    await store.open()
    try:
        rounds = [(await _look(store), _go_through(path)) for _ in range(ROUNDS)]
    finally:
        await store.close()
    told, gone_through = (1000 * median(side) for side in zip(*rounds, strict=True))
    detail = f"{told:.0f} ms to tell of {MANY:,} calls, {gone_through:.0f} ms to go through them"
    return Outcome.at_most("analytics", told / gone_through, PROMISES["analytics"], detail)


async def _look(store: SqliteStore) -> float:
    began = time.perf_counter()
    span = Span.between(_START, _START + _MONTH, Bucket.DAY)
    report = await Analytics(store).report(_PROJECT.id, _PROJECT.user_id, span)
    taken = time.perf_counter() - began
    if sum(report.totals.values()) != MANY:
        raise RuntimeError(f"not all was counted: {report.totals}")
    return taken


def _go_through(path: Path) -> float:
    """One of the questions that are answered, asked of the calls themselves."""
    database = SqliteFile(path, read_only=True)
    began = time.perf_counter()
    database.run(
        "SELECT created_at / 86400000000, status, count(*) FROM tool_executions"
        " WHERE project_id = ? GROUP BY 1, 2",
        (_PROJECT.id,),
    )
    taken = time.perf_counter() - began
    database.close()
    return taken


async def _fill(path: Path, count: int, length: timedelta) -> None:
    """So many calls, a twentieth of them with a question."""
    store = SqliteStore(path, LocalBus())
    await store.open()
    session = Session(SessionId("s"), _PROJECT.id, WorkspaceId("wsp"), "agt", _START)
    user = User(_PROJECT.user_id, "ada", _START)
    rows = (Add(user), Add(_PROJECT), OpenSession(session))
    await store.submit(Change(_PROJECT.id, _START, rows))
    chance = random.Random(7)
    for first in range(0, count, _PER_CHANGE):
        at = _START + length * (first / count)
        numbers = range(first, min(first + _PER_CHANGE, count))
        steps = (step for number in numbers for step in _life(number, at, chance))
        await store.submit(Change(_PROJECT.id, at, tuple(steps)))
    await store.close()


def multiply(path: Path, times: int) -> None:
    """Have all calls happen again and again, and count them as an upgrade does."""
    database = SqliteFile(path)
    step = _MONTH // timedelta(microseconds=1) // max(times, 1)
    for table in (tool_executions, tool_approvals):
        copy_rows(database, table, times, step)
    database.run("DROP TABLE hourly_counts")
    database.run(steps_as_sql("sqlite", _BEFORE_COUNTS, _WITH_COUNTS))
    database.close()


def _life(number: int, at: datetime, chance: random.Random) -> Iterator[Step]:
    """One call from its beginning to its end."""
    call = _call(number, at, chance)
    if not call.requires_approval:
        yield OpenCall(_ended(call.approve("policy", Scope.ONCE, at), at, chance), "{}", False)
        return
    asked_at = at - timedelta(seconds=chance.lognormvariate(3, 1))
    question = _question(call, asked_at, chance)
    waiting = call.advance(Status.AWAITING_APPROVAL, asked_at, approval_id=question.id)
    yield OpenCall(waiting, "{}", False)
    yield Add(question)
    answer = Answer(by="ada", channel="web", at=at)
    if chance.random() < 0.2:
        yield Resolve(question.resolve(ApprovalStatus.REJECTED, answer))
        yield Advance(waiting, waiting.advance(Status.REJECTED, at, error="no"))
    else:
        yield Resolve(question.resolve(ApprovalStatus.APPROVED, answer))
        yield Advance(waiting, waiting.approve("ada", Scope.ONCE, at))


def _ended(approved: ToolExecution, at: datetime, chance: random.Random) -> ToolExecution:
    begun = approved.advance(Status.EXECUTING, at, client_id=ClientId(f"cli_{chance.randrange(4)}"))
    if chance.random() < 0.05:
        return begun.fail(chance.choice([ErrorType.EXECUTION, ErrorType.STALE]), "failed", at)
    return begun.advance(Status.COMPLETED, at, result={"output": "x" * 200})


def _call(number: int, at: datetime, chance: random.Random) -> ToolExecution:
    asks = chance.random() < _SHARE_ASKED
    return ToolExecution(
        id=ExecutionId(f"exe_{number}"),
        user_id=_PROJECT.user_id,
        project_id=_PROJECT.id,
        workspace_id=WorkspaceId("wsp"),
        session_id=SessionId("s"),
        call_id=CallId(f"c{number}"),
        agent_id="agt",
        tool_name=chance.choice(_TOOLS),
        tool_params={"path": "src/somewhere/file.py"},
        request_digest="0" * 64,
        digest="0" * 64,
        site=Site.CLIENT,
        effect=Effect.READ,
        autonomy=Autonomy.SUPERVISED,
        risk_level=RiskLevel.MEDIUM if asks else RiskLevel.LOW,
        reasons=(),
        requires_approval=asks,
        status=Status.PENDING,
        created_at=at,
    )


def _question(call: ToolExecution, at: datetime, chance: random.Random) -> Approval:
    # A class belongs to one tool, or to two.
    sub = f"{call.tool_name}{chance.randrange(_CLASSES // len(_TOOLS))}"
    return Approval(
        id=ApprovalId(f"apr_{call.id}"),
        project_id=call.project_id,
        user_id=call.user_id,
        execution_id=call.id,
        session_id=call.session_id,
        agent_id=call.agent_id,
        tool_name=call.tool_name,
        tool_params=call.tool_params,
        reasoning=None,
        description="Run git",
        risk_level=call.risk_level,
        reasons=(),
        digest=call.digest,
        surveyed=True,
        evidence="x" * 500,
        call_class=CallClass(f"command:write:git {sub}", f"git {sub} …"),
        timeout_seconds=300,
        created_at=at,
        expires_at=at + timedelta(seconds=300),
    )

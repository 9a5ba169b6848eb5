"""Several calls in one request."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.core.errors import BadInput, ErrorType, Forbidden, Unauthenticated
from handrail.core.execution import Status
from handrail.core.grant import Scope
from handrail.core.ids import CallId, SessionId
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolCall
from handrail.plane.batch import Part
from handrail.plane.results import Report
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import (
    a_read,
    a_write,
    another_process,
    ask,
    at_the,
    connected,
    question_of,
    signals_to,
)


@asynccontextmanager
async def a_machine(
    services: Services, store: SqliteStore, home: Household, **results: Any
) -> AsyncGenerator[None]:
    """A client that answers every read with its path, or with what is given for its call id."""
    done: set[str] = set()

    async def answer() -> None:
        while True:
            for event in await signals_to(store, home, home.client):
                if event.execution_id in done:
                    continue
                done.add(event.execution_id)
                execution = await store.find_execution(event.execution_id)
                assert execution is not None
                content = f"in {execution.tool_params['path']}"
                result = {"success": True, "content": content}
                report = Report(
                    execution_id=execution.id,
                    status=Status.COMPLETED,
                    result=results.get(execution.call_id, result),
                )
                await services.receiver.accept(report, home.client, home.project.id)
            await asyncio.sleep(0.001)

    with connected(services, home.client):
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(answer())
            yield
            answering.cancel()


def states(parts: Sequence[Part]) -> list[Status | None]:
    return [None if part.execution is None else part.execution.status for part in parts]


def errors(parts: Sequence[Part]) -> list[str | None]:
    return [part.error for part in parts]


def a_chained_write(home: Household, call_id: str, content: str) -> ToolCall:
    return a_write(home, call_id, path="src/copy.py", content=content)


# Side by side.


async def test_calls_run_side_by_side_and_answer_in_their_order(
    services: Services, store: SqliteStore, household: Household
) -> None:
    calls = [a_read(household, f"call-{n}", path=f"{n}.txt") for n in range(10)]
    async with a_machine(services, store, household):
        parts = await services.batches.run(calls, household.agent, wait_seconds=10)
    assert [part.call_id for part in parts] == [call.call_id for call in calls]
    contents = [part.execution and (part.execution.result or {})["content"] for part in parts]
    assert contents == [f"in {n}.txt" for n in range(10)]


async def test_without_a_wait_the_answer_comes_at_once(
    services: Services, household: Household
) -> None:
    calls = [a_read(household, "one"), a_write(household, "two")]
    parts = await services.batches.run(calls, household.agent, wait_seconds=0)
    assert states(parts) == [Status.APPROVED, Status.AWAITING_APPROVAL]


async def test_what_is_wrong_with_one_call_does_not_hold_up_the_others(
    services: Services, store: SqliteStore, household: Household
) -> None:
    await services.executor.propose(a_read(household, "used"), household.agent)
    calls = [
        a_read(household, "used", path="other.txt"),
        a_read(household, "large", path="x" * 2_000_000),
        a_read(household, "wrong", colour="red"),
        a_read(household, "denied", path="../x"),
        a_read(household, "good"),
    ]
    async with a_machine(services, store, household):
        parts = await services.batches.run(calls, household.agent, wait_seconds=10)
    assert states(parts) == [None, None, Status.FAILED, Status.FAILED, Status.COMPLETED]
    assert "asked before with other parameters" in str(parts[0].error)
    assert "the parameters are" in str(parts[1].error)


async def test_asking_again_gives_the_same_executions(
    services: Services, household: Household
) -> None:
    calls = [a_read(household, "one"), a_write(household, "two")]
    first = await services.batches.run(calls, household.agent, wait_seconds=0)
    again = await services.batches.run(calls, household.agent, wait_seconds=0)
    assert [part.execution and part.execution.id for part in first] == [
        part.execution and part.execution.id for part in again
    ]


async def test_two_calls_of_one_name_are_refused_before_anything_is_done(
    services: Services, store: SqliteStore, household: Household
) -> None:
    calls = [a_read(household, "one"), a_read(household, "one")]
    for run in (services.batches.run, services.batches.run_chain):
        with pytest.raises(BadInput, match="two calls have the call_id 'one'"):
            await run(calls, household.agent, wait_seconds=0)
    assert (
        await store.list_executions(household.project.id, status=None, agent_id=None, limit=9) == []
    )


async def test_another_agents_session_is_closed_to_a_batch(
    services: Services, household: Household
) -> None:
    await services.executor.propose(a_read(household), household.agent)
    other = replace(household.agent, subject="agt_other")
    with pytest.raises(Forbidden):
        await services.batches.run([a_read(household, "two")], other, wait_seconds=0)


# One after the other.


async def test_a_chain_uses_what_came_before(
    services: Services, store: SqliteStore, household: Household
) -> None:
    found = {"success": True, "files": [{"path": "b.txt"}]}
    calls = [a_read(household, "find"), a_read(household, "read", path="${1.files.0.path}")]
    async with a_machine(services, store, household, find=found):
        parts = await services.batches.run_chain(calls, household.agent, wait_seconds=10)
    assert states(parts) == [Status.COMPLETED, Status.COMPLETED]
    read = parts[1].execution
    assert read is not None
    assert read.tool_params == {"path": "b.txt"}
    assert read.origins == {"path": "find"}
    assert read.reasons == ("'path' was taken from the result of call 'find'",)


async def test_a_chain_is_judged_after_substitution(
    services: Services, store: SqliteStore, household: Household
) -> None:
    found = {"success": True, "content": "../../etc/passwd"}
    calls = [a_read(household, "find"), a_read(household, "read", path="${1.content}")]
    async with a_machine(services, store, household, find=found):
        parts = await services.batches.run_chain(calls, household.agent, wait_seconds=10)
    refused = parts[1].execution
    assert refused is not None
    assert (refused.status, refused.error_type) == (Status.FAILED, ErrorType.DENIED)
    assert refused.risk_level is RiskLevel.FORBIDDEN


async def test_a_person_is_told_where_a_value_comes_from_also_after_the_survey(
    services: Services, store: SqliteStore, household: Household
) -> None:
    calls = [a_read(household, "read"), a_chained_write(household, "write", "${1.content}")]
    async with a_machine(services, store, household):
        parts = await services.batches.run_chain(calls, household.agent, wait_seconds=0.2)
        pending = parts[1].execution
        assert pending is not None
        assert pending.approval_id is not None
        waiting = await services.surveyor.accept(
            pending.approval_id, Survey(), household.client, household.project.id
        )
    question = await question_of(store, waiting)
    assert "'content' was taken from the result of call 'read'" in question.reasons
    assert question.call_class is None


async def test_a_class_of_calls_does_not_cover_what_came_out_of_a_result(
    services: Services, store: SqliteStore, household: Household
) -> None:
    question = await ask(services, household, "first")
    await services.approvals.approve_tool(
        question.id, at_the("console", household), scope=Scope.CLASS
    )
    calls = [a_read(household, "read"), a_chained_write(household, "write", "${1.content}")]
    async with a_machine(services, store, household):
        parts = await services.batches.run_chain(calls, household.agent, wait_seconds=0.2)
    own = await services.executor.propose(a_chained_write(household, "own", "y"), household.agent)
    assert states(parts) == [Status.COMPLETED, Status.PENDING]
    assert own.status is Status.APPROVED


@pytest.mark.parametrize(
    "result", [{"success": False, "exit_code": 1}, {"content": "x"}], ids=["failed", "no-word"]
)
async def test_a_chain_ends_with_the_first_call_that_does_not_succeed(
    services: Services, store: SqliteStore, household: Household, result: dict[str, Any]
) -> None:
    calls = [a_read(household, "one"), a_read(household, "two"), a_read(household, "three")]
    async with a_machine(services, store, household, one=result):
        parts = await services.batches.run_chain(calls, household.agent, wait_seconds=10)
    assert states(parts) == [Status.COMPLETED, None, None]
    assert errors(parts) == [
        None,
        "not started, because call 'one' did not succeed",
        "not started, because call 'two' was not",
    ]


async def test_a_chain_ends_where_a_result_lacks_what_is_asked_for(
    services: Services, store: SqliteStore, household: Household
) -> None:
    calls = [a_read(household, "one"), a_read(household, "two", path="${1.nothing}")]
    async with a_machine(services, store, household):
        parts = await services.batches.run_chain(calls, household.agent, wait_seconds=10)
    assert states(parts) == [Status.COMPLETED, None]
    assert errors(parts)[1] == "${1.nothing}: the result of that call has no 'nothing' there"


async def test_a_reference_forward_is_refused_before_anything_is_done(
    services: Services, store: SqliteStore, household: Household
) -> None:
    calls = [a_read(household, "one", path="${2.content}"), a_read(household, "two")]
    with pytest.raises(
        BadInput, match=r"call 'one': \$\{2.content\} does not name an earlier call"
    ):
        await services.batches.run_chain(calls, household.agent, wait_seconds=10)
    assert (
        await store.list_executions(household.project.id, status=None, agent_id=None, limit=9) == []
    )


async def test_who_asks_again_takes_the_chain_further(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    """Also in another life of the server: the chain is nothing but its calls."""
    calls = [a_read(household, "one"), a_read(household, "two", path="${1.content}")]
    parts = await services.batches.run_chain(calls, household.agent, wait_seconds=0)
    assert states(parts) == [Status.APPROVED, None]
    assert errors(parts)[1] == "not started: call 'one' is approved; ask again to continue"
    async with another_process(tmp_path, clock) as revived:
        other_store = revived.store
        assert isinstance(other_store, SqliteStore)
        await revived.dispatcher.hand_over_forsaken()
        with connected(revived, household.client) as connection:
            await revived.dispatcher.offer_open_calls(connection)
        async with a_machine(revived, other_store, household):
            again = await revived.batches.run_chain(calls, household.agent, wait_seconds=10)
    assert states(again) == [Status.COMPLETED, Status.COMPLETED]
    assert again[0].execution is not None
    assert parts[0].execution is not None
    assert again[0].execution.id == parts[0].execution.id


async def test_a_literal_that_looks_like_a_reference_is_left_alone_outside_a_chain(
    services: Services, household: Household
) -> None:
    call = ToolCall(
        household.project.id,
        SessionId("session-1"),
        CallId("one"),
        "write_file",
        {"path": "a.txt", "content": "${1.content}"},
    )
    [part] = await services.batches.run([call], household.agent, wait_seconds=0)
    assert part.execution is not None
    assert part.execution.tool_params["content"] == "${1.content}"
    assert part.execution.origins is None


async def test_an_asker_who_loses_the_right_to_ask_gets_nothing_more(
    services: Services, store: SqliteStore, household: Household
) -> None:
    async def turned_away() -> None:
        raise Unauthenticated("this token is revoked")

    calls = [a_write(household, "one"), a_read(household, "two")]
    for run in (services.batches.run, services.batches.run_chain):
        with pytest.raises(Unauthenticated):
            await run(calls, household.agent, wait_seconds=5, check=turned_away)
    found = await store.find_call(household.project.id, SessionId("session-1"), CallId("two"))
    assert found is not None  # side by side, it had been asked for already

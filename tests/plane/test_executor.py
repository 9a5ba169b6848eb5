"""A call is judged, stored and waited for; asking again changes nothing."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from handrail.core.access import Principal
from handrail.core.audit import AuditEntry, canonical
from handrail.core.change import Add, Change, OpenSession
from handrail.core.digest import digest_call, digest_request
from handrail.core.errors import (
    Conflict,
    ConflictingCall,
    ErrorType,
    Forbidden,
    NotFound,
    TooLarge,
)
from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import CallId, ExecutionId, ProjectId, SessionId, mint
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site, ToolCall
from handrail.core.verdict import Plan
from handrail.plane.executor import ToolExecutor
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import TOOL_NAMES, Household, settle_in
from tests.contracts.conftest import a_session
from tests.plane.conftest import a_read, a_report, add_workspace


@pytest.fixture
def executor(services: Services) -> ToolExecutor:
    return services.executor


def approved(home: Household, execution_id: ExecutionId, path: str) -> ToolExecution:
    """What a harmless read looks like after judgement, while no client is there."""
    salt, at = home.project.digest_salt, home.project.created_at
    params = {"path": path}
    return ToolExecution(
        id=execution_id,
        user_id=home.project.user_id,
        project_id=home.project.id,
        workspace_id=home.workspace.id,
        session_id=SessionId("session-1"),
        call_id=CallId("call-1"),
        agent_id=home.agent.subject,
        tool_name="read_file",
        tool_params=params,
        request_digest=digest_request(salt, "read_file", canonical(params)),
        digest=digest_call(salt, "read_file", canonical(params), Plan(paths=(path,))),
        site=Site.CLIENT,
        effect=Effect.READ,
        autonomy=Autonomy.SUPERVISED,
        risk_level=RiskLevel.LOW,
        reasons=(),
        requires_approval=False,
        status=Status.APPROVED,
        created_at=at,
        reasoning="to know",
        approved_at=at,
        approved_by="policy",
        scope=Scope.ONCE,
    )


async def events_of(store: SqliteStore, home: Household) -> list[Event]:
    items = await store.read_stream(home.project.id, after=0, client_id=None, limit=1000)
    return [item.event for item in items]


async def lines_of(store: SqliteStore, home: Household) -> list[AuditEntry]:
    return await store.read_audit(home.project.id, after=0, limit=1000)


# Judgement


async def test_a_harmless_read_waits_approved_while_no_client_is_there(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    call = a_read(household, path="README.md", reasoning="to know")

    execution = await executor.propose(call, household.agent)

    assert execution == approved(household, execution.id, "README.md")
    assert await store.find_execution(execution.id) == execution
    assert await events_of(store, household) == [
        Event(
            household.project.id,
            1,
            execution.created_at,
            EventKind.STATUS,
            execution.id,
            Status.APPROVED,
            None,
            0,
        )
    ]
    (_, line) = await lines_of(store, household)
    assert (line.action, line.actor, line.subject) == (
        "call.proposed",
        household.agent.subject,
        execution.id,
    )


async def test_a_harmless_read_is_handed_at_once_to_a_client_that_is_there(
    services: Services, store: SqliteStore, household: Household
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        call = a_read(household, path="README.md", reasoning="to know")
        execution = await services.executor.propose(call, household.agent)

    at = household.project.created_at
    assert execution == approved(household, execution.id, "README.md")._replace(
        status=Status.EXECUTING, client_id=household.client_id, epoch=1, started_at=at
    )
    (event,) = await events_of(store, household)
    assert event[3:] == (
        EventKind.EXECUTION_SIGNAL,
        execution.id,
        Status.EXECUTING,
        household.client_id,
        1,
    )


async def test_what_policy_refuses_has_failed_with_its_reasons_and_reaches_no_client(
    services: Services, store: SqliteStore, household: Household
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        execution = await services.executor.propose(
            a_read(household, path="../etc/passwd"), household.agent
        )

    assert (execution.status, execution.error_type) == (Status.FAILED, ErrorType.DENIED)
    assert execution.risk_level is RiskLevel.FORBIDDEN
    (reason,) = execution.reasons
    assert reason.startswith("'../etc/passwd' climbs out of the workspace")
    assert execution.error == reason
    assert execution.completed_at == execution.created_at
    assert execution.client_id is None
    assert await store.find_execution(execution.id) == execution
    (event,) = await events_of(store, household)
    assert event[3:] == (EventKind.STATUS, execution.id, Status.FAILED, None, 0)
    (_, line) = await lines_of(store, household)
    assert "climbs out of the workspace" in line.details


async def test_a_refusal_is_logged_as_a_warning_with_its_reason(
    executor: ToolExecutor, household: Household
) -> None:
    with capture_logs() as lines:
        refused = await executor.propose(
            a_read(household, "call-1", path="/somewhere/else"), household.agent
        )
        await executor.propose(a_read(household, "call-2"), household.agent)

    assert lines == [
        {
            "event": "call.denied",
            "log_level": "warning",
            "execution": refused.id,
            "tool": "read_file",
            "agent": household.agent.subject,
            "reason": refused.reasons[0],
        }
    ]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        pytest.param({"limit": 3}, "path", id="missing"),
        pytest.param({"path": 3}, "path", id="wrong-type"),
        pytest.param({"path": "a", "colour": "red"}, "colour", id="extra"),
        pytest.param({"path": "a", "limit": 0}, "limit", id="out-of-range"),
        pytest.param({"path": "a", "encoding": "klingon"}, "encoding", id="impossible"),
    ],
)
async def test_bad_parameters_are_recorded_as_failed_and_name_the_field(
    services: Services,
    store: SqliteStore,
    household: Household,
    params: dict[str, Any],
    field: str,
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        execution = await services.executor.propose(a_read(household, **params), household.agent)

    assert (execution.status, execution.error_type) == (Status.FAILED, ErrorType.VALIDATION)
    assert execution.error is not None
    assert execution.error.startswith(f"{field}: ")
    assert execution.client_id is None
    assert execution.tool_params == params
    assert await store.find_execution(execution.id) == execution


async def test_a_tool_that_does_not_exist_is_recorded_as_failed(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    execution = await executor.propose(
        a_read(household, tool_name="launch_rocket"), household.agent
    )

    assert (execution.status, execution.error_type) == (Status.FAILED, ErrorType.VALIDATION)
    assert execution.error == (
        f"no tool is named 'launch_rocket'; there are: {', '.join(TOOL_NAMES)}"
    )
    assert execution.risk_level is RiskLevel.FORBIDDEN
    assert await store.find_execution(execution.id) == execution


async def test_an_error_is_as_long_as_it_takes_to_mend_a_call_and_no_longer(
    services: Services, household: Household
) -> None:
    params: dict[str, Any] = {"x" * 100_000: 1}

    execution = await services.executor.propose(a_read(household, **params), household.agent)

    assert execution.error_type is ErrorType.VALIDATION
    assert len(execution.error or "") <= 2_000


async def test_secrets_in_parameters_are_masked_in_the_record_and_kept_apart(
    services: Services, store: SqliteStore, household: Household
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        execution = await services.executor.propose(
            a_read(household, path="token=open-sesame"), household.agent
        )

    kept = await store.find_execution(execution.id)
    assert kept is not None
    assert kept.tool_params == {"path": "token=[masked]"}
    (item,) = await store.read_stream(
        household.project.id, after=0, client_id=household.client_id, limit=9
    )
    assert item.raw_params == '{"path":"token=open-sesame"}'
    assert "open-sesame" not in str(await lines_of(store, household))


async def test_the_digest_covers_what_was_really_asked_and_not_its_masked_form(
    executor: ToolExecutor, household: Household
) -> None:
    one = await executor.propose(
        a_read(household, "call-1", path="token=open-sesame"), household.agent
    )
    other = await executor.propose(
        a_read(household, "call-2", path="token=close-sesame"), household.agent
    )

    assert one.tool_params == other.tool_params
    assert one.digest != other.digest
    assert one.request_digest != other.request_digest


# Asking again


async def test_the_same_call_twice_is_one_execution(
    executor: ToolExecutor, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    first = await executor.propose(
        a_read(household, path="a", limit=1, reasoning="once"), household.agent
    )
    clock.advance(60)

    again = await executor.propose(
        a_read(household, limit=1, path="a", reasoning="and again"), household.agent
    )

    assert again == first
    assert len(await events_of(store, household)) == 1
    assert len(await lines_of(store, household)) == 2


async def test_the_same_call_asked_by_many_at_once_is_one_execution(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    answers = await asyncio.gather(
        *(executor.propose(a_read(household), household.agent) for _ in range(20))
    )

    assert {answer.id for answer in answers} == {answers[0].id}
    assert len(await events_of(store, household)) == 1


async def test_a_call_that_has_ended_is_answered_with_its_end(
    services: Services, household: Household
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        first = await services.executor.propose(a_read(household), household.agent)
        ended = await services.receiver.accept(
            a_report(first.id), household.client, household.project.id
        )

        again = await services.executor.propose(a_read(household), household.agent)

    assert again == ended
    assert again.result == {"success": True, "content": "hello"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"path": "b"}, id="other-value"),
        pytest.param({"path": "a", "limit": 1}, id="one-more"),
        pytest.param({"tool_name": "write_file", "path": "a"}, id="other-tool"),
    ],
)
async def test_the_same_call_id_with_another_body_is_a_conflict(
    executor: ToolExecutor, store: SqliteStore, household: Household, other: dict[str, Any]
) -> None:
    first = await executor.propose(a_read(household, path="a"), household.agent)

    with pytest.raises(ConflictingCall, match="use a new call_id"):
        await executor.propose(a_read(household, **other), household.agent)

    assert await store.find_execution(first.id) == first
    assert len(await events_of(store, household)) == 1


async def test_call_ids_are_apart_between_sessions(
    executor: ToolExecutor, household: Household
) -> None:
    one = await executor.propose(a_read(household, path="a"), household.agent)
    other = await executor.propose(
        a_read(household, path="b", session_id="session-2"), household.agent
    )

    assert one.id != other.id
    assert (one.session_id, other.session_id) == ("session-1", "session-2")


# Who may ask where


async def test_an_agent_cannot_enter_another_agents_session(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    await executor.propose(a_read(household, "call-1"), household.agent)
    stranger = replace(household.agent, subject="agt_stranger")

    for call in (a_read(household, "call-1"), a_read(household, "call-2")):
        with pytest.raises(Forbidden, match="'session-1' belongs to another agent or user"):
            await executor.propose(call, stranger)

    assert len(await events_of(store, household)) == 1


async def test_of_two_agents_that_open_the_same_session_at_once_one_has_it(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    stranger = replace(household.agent, subject="agt_stranger")

    outcomes = await asyncio.gather(
        executor.propose(a_read(household, "call-1"), household.agent),
        executor.propose(a_read(household, "call-2"), stranger),
        return_exceptions=True,
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Forbidden", "ToolExecution"]
    place = await store.find_place(household.project.id, SessionId("session-1"))
    (taken,) = await store.list_open(household.workspace.id)
    assert place is not None
    assert place.session.opened_by == taken.agent_id


async def test_a_person_may_ask_in_their_agents_session(
    executor: ToolExecutor, household: Household
) -> None:
    await executor.propose(a_read(household, "call-1"), household.agent)

    asked = await executor.propose(a_read(household, "call-2"), household.user)

    assert asked.agent_id == household.user.subject


async def test_an_unknown_project_is_not_found(
    executor: ToolExecutor, household: Household
) -> None:
    call = replace(a_read(household), project_id=ProjectId("prj_none"))

    with pytest.raises(NotFound, match="there is no project prj_none"):
        await executor.propose(call, household.user)


async def test_with_several_workspaces_only_an_agents_token_says_which_is_meant(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    await add_workspace(store, household, "/elsewhere")

    with pytest.raises(Conflict, match="several workspaces"):
        await executor.propose(a_read(household, "call-1"), household.user)
    execution = await executor.propose(a_read(household, "call-1"), household.agent)

    assert execution.workspace_id == household.workspace.id


async def test_a_session_stays_in_the_workspace_it_was_opened_in(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    await executor.propose(a_read(household, "call-1"), household.agent)
    await add_workspace(store, household, "/elsewhere")

    execution = await executor.propose(a_read(household, "call-2"), household.user)

    assert execution.workspace_id == household.workspace.id


async def test_without_a_workspace_there_is_nowhere_to_ask(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    bare = replace(household.project, id=ProjectId(mint("prj", at)), name="bare")
    await store.submit(Change(bare.id, at, (Add(bare),)))

    with pytest.raises(Conflict, match="no workspace yet"):
        await executor.propose(replace(a_read(household), project_id=bare.id), household.user)


async def test_a_stopped_session_takes_no_call(
    executor: ToolExecutor, store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    stopped = a_session(household, stopped_at=at)
    await store.submit(Change(household.project.id, at, (OpenSession(stopped),)))

    with pytest.raises(Conflict, match="'session-1' has been stopped"):
        await executor.propose(a_read(household), household.agent)

    assert await events_of(store, household) == []


async def test_households_do_not_see_each_others_sessions(
    executor: ToolExecutor, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")

    mine = await executor.propose(a_read(household), household.agent)
    theirs = await executor.propose(a_read(neighbour), neighbour.agent)

    assert mine.id != theirs.id
    assert mine.digest != theirs.digest  # The same words, salted by another project.


# Waiting


async def asked(executor: ToolExecutor, call: ToolCall, asker: Principal) -> ToolExecution:
    async with asyncio.timeout(10):
        return await executor.execute_tool(call, asker)


async def test_whoever_waits_is_woken_by_the_end(services: Services, household: Household) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        execution = await services.executor.propose(a_read(household), household.agent)
        async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
            waiting = [group.create_task(services.executor.settle(execution.id)) for _ in range(20)]
            await asyncio.sleep(0)
            ended = await services.receiver.accept(
                a_report(execution.id), household.client, household.project.id
            )

    assert ended.status is Status.COMPLETED
    assert [task.result() for task in waiting] == [ended] * 20


async def test_a_call_can_be_asked_for_and_waited_for_in_one(
    services: Services, household: Household
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(asked(services.executor, a_read(household), household.agent))
            async with asyncio.timeout(10):
                while not (open_calls := await services.store.list_open(household.workspace.id)):
                    await asyncio.sleep(0.001)
            await services.receiver.accept(
                a_report(open_calls[0].id), household.client, household.project.id
            )

    assert asking.result().result == {"success": True, "content": "hello"}


async def test_what_has_ended_is_not_waited_for(
    executor: ToolExecutor, household: Household
) -> None:
    execution = await asked(executor, a_read(household, path="../x"), household.agent)

    assert execution.status is Status.FAILED


@pytest.mark.parametrize("seconds", [0.0, 0.02])
async def test_after_the_time_given_the_present_state_is_told(
    executor: ToolExecutor, household: Household, seconds: float
) -> None:
    execution = await executor.propose(a_read(household), household.agent)

    async with asyncio.timeout(4):  # less than a poll
        assert await executor.settle(execution.id, wait_seconds=seconds) == execution


async def test_everyone_who_waits_is_let_go_when_the_server_ends(
    services: Services, executor: ToolExecutor, household: Household
) -> None:
    execution = await executor.propose(a_read(household), household.agent)
    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        waiting = [
            group.create_task(executor.settle(execution.id)),
            group.create_task(executor.settle(execution.id, wait_seconds=3600)),
        ]
        await asyncio.sleep(0)
        services.room.close()

    assert [task.result() for task in waiting] == [execution, execution]


async def test_an_unknown_execution_cannot_be_waited_for(executor: ToolExecutor) -> None:
    with pytest.raises(NotFound, match="exe_none"):
        await executor.settle(ExecutionId("exe_none"))


def test_the_tools_an_agent_may_ask_for_are_named(executor: ToolExecutor) -> None:
    assert [tool.name for tool in executor.tools] == TOOL_NAMES


async def test_no_secret_reaches_the_record_or_the_audit_by_a_side_door(
    services: Services, store: SqliteStore, household: Household
) -> None:
    secret = "sk-abcdefghijklmnop1234"
    refused = await services.executor.propose(
        a_read(household, path=f"../{secret}", call_id="1"), household.agent
    )
    unknown = await services.executor.propose(
        a_read(household, tool_name=secret, reasoning=f"my key is {secret}", call_id="2"),
        household.agent,
    )
    lines = await store.read_audit(household.project.id, after=0, limit=9)

    assert secret not in f"{refused} {unknown} {lines}"
    assert store._recent._raw_params == {}


async def test_parameters_past_a_megabyte_are_not_taken(
    services: Services, store: SqliteStore, household: Household
) -> None:
    with pytest.raises(TooLarge, match="1,000,000"):
        await services.executor.propose(a_read(household, path="x" * 1_000_000), household.agent)
    found = await store.list_executions(household.project.id, status=None, agent_id=None, limit=9)
    assert found == []

"""Two want something else of the same call at once: one of them has it, and both are told so."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.change import Change
from handrail.core.errors import Conflict, ErrorType
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import ApprovalId, SessionId
from handrail.core.survey import Survey
from handrail.plane.dispatch import Claim
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane import stages
from tests.plane.conftest import (
    KEY,
    a_read,
    a_report,
    a_write,
    add_client,
    ask,
    at_the,
    call_of,
    connected,
    find,
    handed_out,
    lines_of,
    news_of,
    question_of,
    signals_to,
)

# By how many commits the second is late; below zero it is the first who is.
LEADS = [-2, -1, 0, 1, 2]
SESSION = SessionId("session-1")


async def after_commits(
    services: Services, home: Household, commits: int, step: Coroutine[Any, Any, Any]
) -> Any:
    for _ in range(commits):
        await services.store.submit(Change(home.project.id, services.clock.now(), ()))
    return await step


async def race(
    services: Services,
    home: Household,
    lead: int,
    one: Coroutine[Any, Any, Any],
    other: Coroutine[Any, Any, Any],
) -> tuple[Any, Any]:
    """What became of both; with a lead of zero they are written in one go, in this order."""
    return await asyncio.gather(
        after_commits(services, home, max(0, -lead), one),
        after_commits(services, home, max(0, lead), other),
        return_exceptions=True,
    )


async def let_pass(services: Services, home: Household, question: Approval) -> ToolExecution:
    await services.approvals.approve_tool(question.id, at_the("console", home))
    return await call_of(services.store, question)


async def endings_of(store: SqliteStore, home: Household, call: ToolExecution) -> list[str]:
    lines = await lines_of(store, home, "call.ended")
    return [line.actor for line in lines if line.subject == call.id]


# People against each other


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("cancel_first", [True, False])
async def test_a_yes_and_a_cancel_at_once_end_the_call_and_leave_one_answer(
    services: Services, store: SqliteStore, household: Household, lead: int, cancel_first: bool
) -> None:
    question = await ask(services, household)
    yes = services.approvals.approve_tool(question.id, at_the("console", household))
    cancel = services.stopper.cancel(question.execution_id, at_the("phone", household))

    if cancel_first:
        ended, answered = await race(services, household, lead, cancel, yes)
    else:
        answered, ended = await race(services, household, lead, yes, cancel)

    kept, call = await store.find_approval(question.id), await call_of(store, question)
    assert ended == call
    assert (call.status, call.error_type) == (Status.FAILED, ErrorType.CANCELLED)
    assert kept is not None
    if isinstance(answered, Approval):
        assert kept == answered
    else:
        assert isinstance(answered, Conflict)
        assert answered.message == kept.how_it_ended
        assert kept.status is ApprovalStatus.WITHDRAWN
    kinds = [kind for kind, _ in await news_of(store, household)]
    assert kinds.count(EventKind.APPROVAL_RESOLVED) == 1


@pytest.mark.parametrize("lead", LEADS)
async def test_of_a_no_and_a_cancel_at_once_one_counts_and_the_other_learns_of_it(
    services: Services, store: SqliteStore, household: Household, lead: int
) -> None:
    question = await ask(services, household)

    refused, ended = await race(
        services,
        household,
        lead,
        services.approvals.reject_tool(question.id, at_the("console", household)),
        services.stopper.cancel(question.execution_id, at_the("phone", household)),
    )

    kept, call = await store.find_approval(question.id), await call_of(store, question)
    assert kept is not None
    if call.status is Status.REJECTED:
        assert refused == kept
        assert isinstance(ended, Conflict)
        assert ended.message == f"{call.id} has ended already, as rejected"
    else:
        assert ended == call
        assert isinstance(refused, Conflict)
        assert refused.message == "the call was cancelled by ada at 00:00:00 UTC"
        assert kept.status is ApprovalStatus.WITHDRAWN


@pytest.mark.parametrize("state", ["asked about", "offered", "begun"])
async def test_many_who_cancel_at_once_end_a_call_once(
    services: Services, store: SqliteStore, household: Household, state: str
) -> None:
    if state == "asked about":
        call = await call_of(store, await ask(services, household))
    else:
        call = await (stages.offered if state == "offered" else stages.begun)(services, household)
    before = len(await news_of(store, household))

    told = await asyncio.gather(
        *(
            services.stopper.cancel(call.id, at_the("console", household), reason=reason)
            for reason in ("no longer needed", "too slow", "too late", "no longer needed")
        )
    )

    assert told == [await find(store, call)] * 4
    assert len(await news_of(store, household)) == before + 1
    assert await endings_of(store, household, call) == [household.user.subject]


@pytest.mark.parametrize("lead", LEADS)
async def test_a_call_that_comes_while_its_session_is_stopped_is_refused_or_ended(
    services: Services, store: SqliteStore, household: Household, lead: int
) -> None:
    await ask(services, household, "earlier")

    stopped, asked = await race(
        services,
        household,
        lead,
        services.stopper.stop_session(SESSION, at_the("console", household)),
        services.executor.propose(a_write(household, "late"), household.agent),
    )

    assert stopped.session.stopped_at is not None
    calls = await store.list_executions(household.project.id, status=None, agent_id=None, limit=10)
    assert {call.error_type for call in calls} == {ErrorType.CANCELLED}
    if isinstance(asked, ToolExecution):
        assert {call.id for call in calls} >= {asked.id}
    else:
        assert isinstance(asked, Conflict)
        assert asked.message == "session 'session-1' has been stopped"
        assert len(calls) == 1


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("scope", [Scope.ONCE, Scope.SESSION])
async def test_a_yes_does_not_bring_back_a_session_that_is_being_stopped(
    services: Services,
    store: SqliteStore,
    household: Household,
    lead: int,
    scope: Scope,
) -> None:
    questions = [await ask(services, household, f"call-{number}") for number in range(3)]

    with connected(services, household.client):
        stopped, answered = await race(
            services,
            household,
            lead,
            services.stopper.stop_session(SESSION, at_the("console", household)),
            services.approvals.approve_tool(
                questions[-1].id, at_the("phone", household), scope=scope
            ),
        )
        await services.sweeper.sweep()

    calls = [await call_of(store, question) for question in questions]
    answer = (await question_of(store, calls[-1])).status
    assert stopped.session.stopped_at is not None
    assert {call.error_type for call in calls} == {ErrorType.CANCELLED}
    assert [call.started_at for call in calls] == [None] * 3
    assert answer in (ApprovalStatus.APPROVED, ApprovalStatus.WITHDRAWN)
    if isinstance(answered, Approval):
        assert answer is ApprovalStatus.APPROVED


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("stop", ["the call", "its session"])
async def test_a_result_that_meets_a_stop_is_the_end_or_is_kept_beside_it(
    services: Services, store: SqliteStore, household: Household, lead: int, stop: str
) -> None:
    begun = await stages.begun(services, household)
    person, report = at_the("console", household), a_report(begun.id)
    stopping = (
        services.stopper.cancel(begun.id, person)
        if stop == "the call"
        else services.stopper.stop_session(SESSION, person)
    )

    told, stopped = await race(
        services,
        household,
        lead,
        services.receiver.accept(report, household.client, household.project.id),
        stopping,
    )

    call = await find(store, begun)
    assert told == call
    if call.status is Status.COMPLETED:
        assert (call.result, call.late_result) == (report.result, None)
        assert isinstance(stopped, Conflict) is (stop == "the call")
    else:
        assert not isinstance(stopped, BaseException)
        assert (call.error_type, call.late_result) == (ErrorType.CANCELLED, report.as_late())
    assert len(await endings_of(store, household, begun)) == 1


# Machines against each other


async def test_of_two_machines_that_are_there_each_read_is_handed_to_one(
    services: Services, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)

    with connected(services, household.client) as here, connected(services, other) as there:
        calls = await asyncio.gather(
            *(
                services.executor.propose(a_read(household, f"call-{number}"), household.agent)
                for number in range(10)
            )
        )
        await asyncio.gather(
            services.sweeper.sweep(),
            services.dispatcher.hand_over(household.workspace.id),
            *(
                services.dispatcher.offer_open_calls(connection)
                for connection in (here, there)
                if connection.client_id != calls[0].client_id
            ),
        )

    signals = await signals_to(store, household, household.client)
    signals += await signals_to(store, household, other)
    assert sorted(one.execution_id for one in signals) == sorted(call.id for call in calls)
    assert [await find(store, call) for call in calls] == calls


@pytest.mark.parametrize("lead", LEADS)
async def test_of_two_machines_that_are_there_exactly_one_may_begin(
    services: Services, store: SqliteStore, household: Household, lead: int
) -> None:
    other = await add_client(store, household)
    question = await ask(services, household)
    with connected(services, household.client), connected(services, other):
        call = await let_pass(services, household, question)

        mine, theirs = await race(
            services,
            household,
            lead,
            services.dispatcher.claim(
                call.id, Claim(1, KEY), household.client, household.project.id
            ),
            services.dispatcher.claim(call.id, Claim(1, KEY), other, household.project.id),
        )

    begun = await find(store, call)
    winner, loser = (mine, theirs) if begun.client_id == household.client_id else (theirs, mine)
    assert winner == begun
    assert begun.status is Status.EXECUTING
    assert isinstance(loser, Conflict)


@pytest.mark.parametrize("lead", LEADS)
async def test_a_claim_and_a_handing_over_at_once_let_exactly_one_machine_begin(
    services: Services, store: SqliteStore, household: Household, lead: int
) -> None:
    other = await add_client(store, household)
    call = await stages.offered(services, household)

    async def come_and_claim() -> ToolExecution:
        with connected(services, other) as connection:
            await services.dispatcher.offer_open_calls(connection)
            return await services.dispatcher.claim(
                call.id, Claim(2, KEY), other, household.project.id
            )

    outcomes = await race(
        services,
        household,
        lead,
        services.dispatcher.claim(call.id, Claim(1, KEY), household.client, household.project.id),
        come_and_claim(),
    )

    begun = await find(store, call)
    assert sorted(type(one) is Conflict for one in outcomes) == [False, True]
    assert begun in outcomes
    assert begun.status is Status.EXECUTING


@pytest.mark.parametrize("tool", ["read", "write"])
async def test_an_agent_that_repeats_itself_twenty_times_at_once_has_it_done_once(
    services: Services, store: SqliteStore, household: Household, tool: str
) -> None:
    call = a_read(household) if tool == "read" else a_write(household)

    async def do_it() -> None:
        asked = await services.executor.propose(call, household.agent)
        if tool == "write":
            seen = await services.surveyor.accept(
                ApprovalId(str(asked.approval_id)), Survey(), household.client, call.project_id
            )
            asked = await let_pass(services, household, await question_of(store, seen))
            await services.dispatcher.claim(
                asked.id, Claim(1, KEY), household.client, household.project.id
            )
        await services.receiver.accept(a_report(asked.id), household.client, household.project.id)

    with connected(services, household.client):
        async with asyncio.timeout(10):
            *answers, _ = await asyncio.gather(
                *(services.executor.execute_tool(call, household.agent) for _ in range(20)),
                do_it(),
            )

    calls = await store.list_executions(household.project.id, status=None, agent_id=None, limit=99)
    assert [one.status for one in calls] == [Status.COMPLETED]
    assert answers == calls * 20
    assert len(await signals_to(store, household, household.client)) == 1
    assert len(await lines_of(store, household, "call.proposed")) == 1


# Machines against time


@pytest.mark.parametrize("lead", LEADS)
async def test_a_machine_that_wakes_as_it_is_given_up_tells_the_end_or_beside_it(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, lead: int
) -> None:
    begun = await stages.begun(services, household)
    report = a_report(begun.id)
    clock.advance(600)

    told, _ = await race(
        services,
        household,
        lead,
        services.receiver.accept(report, household.client, household.project.id),
        services.sweeper.sweep(),
    )

    call = await find(store, begun)
    assert told == call
    if call.status is Status.COMPLETED:
        assert (call.result, call.late_result) == (report.result, None)
    else:
        assert (call.error_type, call.late_result) == (
            ErrorType.OUTCOME_UNKNOWN,
            report.as_late(),
        )
    assert len(await endings_of(store, household, begun)) == 1


async def test_what_a_machine_tells_after_it_was_given_up_is_kept_once_and_changes_nothing(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    begun = await stages.begun(services, household)
    clock.advance(600)
    await services.sweeper.sweep()
    given_up = await find(store, begun)
    reports = [a_report(begun.id, words) for words in ("done", "done", "done otherwise")]

    with connected(services, household.client) as connection:
        told = await asyncio.gather(
            services.dispatcher.offer_open_calls(connection),
            *(
                services.receiver.accept(report, household.client, household.project.id)
                for report in reports
            ),
            return_exceptions=True,
        )

    call = await find(store, begun)
    assert given_up.error_type is ErrorType.OUTCOME_UNKNOWN
    assert call == given_up._replace(late_result=reports[0].as_late())
    assert told[:3] == [None, call, call]
    assert isinstance(told[3], Conflict)
    assert len(await lines_of(store, household, "call.late_result")) == 1
    assert len(await signals_to(store, household, household.client)) == 1


@pytest.mark.parametrize("lead", LEADS)
async def test_a_machine_that_comes_back_as_it_is_given_up_can_still_tell_the_outcome(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, lead: int
) -> None:
    begun = await stages.begun(services, household)
    clock.advance(600)

    async def come_back() -> None:
        with connected(services, household.client) as connection:
            await services.dispatcher.offer_open_calls(connection)

    await race(services, household, lead, come_back(), services.sweeper.sweep())
    now = await find(store, begun)
    told = await services.receiver.accept(
        a_report(begun.id, epoch=now.epoch), household.client, household.project.id
    )

    assert told == await find(store, begun)
    assert (told.result or told.late_result) is not None
    assert told.status is (Status.COMPLETED if now.status is Status.EXECUTING else Status.FAILED)


@pytest.mark.parametrize("lead", LEADS)
async def test_a_read_that_nobody_waits_for_any_longer_ends_once(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, lead: int
) -> None:
    handed = await handed_out(services, household)
    clock.advance(300)

    told, _ = await race(
        services,
        household,
        lead,
        services.receiver.accept(a_report(handed.id), household.client, household.project.id),
        services.sweeper.sweep(),
    )

    call = await find(store, handed)
    assert told == call
    assert (call.status, call.error_type, call.late_result is None) in (
        (Status.COMPLETED, None, True),
        (Status.FAILED, ErrorType.NO_CLIENT, False),
    )
    assert len(await endings_of(store, household, handed)) == 1


async def test_once_a_session_is_said_to_be_stopped_nothing_of_it_begins(
    services: Services, store: SqliteStore, household: Household
) -> None:
    for lead in range(5):
        session = f"stopped-{lead}"
        questions = [await ask(services, household, f"{n}", session_id=session) for n in range(3)]
        with connected(services, household.client):
            await race(
                services,
                household,
                lead,
                services.stopper.stop_session(SessionId(session), at_the("console", household)),
                services.approvals.approve_tool(questions[2].id, at_the("phone", household)),
            )
            call = await call_of(store, questions[2])
            with pytest.raises(Conflict):
                await services.dispatcher.claim(
                    call.id, Claim(call.epoch, KEY), household.client, household.project.id
                )


async def test_a_stopped_session_has_no_live_grant(
    services: Services, household: Household
) -> None:
    for lead in range(-1, 4):
        session = f"stopped-{lead}"
        question = await ask(services, household, session_id=session)
        await race(
            services,
            household,
            lead,
            services.stopper.stop_session(SessionId(session), at_the("console", household)),
            services.approvals.approve_tool(
                question.id, at_the("phone", household), scope=Scope.SESSION
            ),
        )

    assert await services.grants.list_live(household.project.id) == []


async def test_a_wide_yes_reaches_the_others_when_one_is_cancelled_meanwhile(
    services: Services, store: SqliteStore, household: Household
) -> None:
    # So many that the yes takes several commits to reach them all.
    first, *others = [await ask(services, household, f"call-{n}") for n in range(12)]
    cancelled = (await services.approvals.get_pending_approvals(household.project.id))[-2]
    decider = at_the("console", household)

    async def cancel_after_the_yes() -> None:
        await services.approvals.wait_for_tool_approval(first.id)
        await services.stopper.cancel(cancelled.execution_id, decider)

    async with asyncio.TaskGroup() as group:
        group.create_task(cancel_after_the_yes())
        await asyncio.sleep(0)
        answered = group.create_task(
            services.approvals.approve_tool(first.id, decider, scope=Scope.SESSION)
        )

    assert answered.result().status is ApprovalStatus.APPROVED
    for question in (first, *others):
        # The cancelled one may have been released a moment before.
        expected = {Status.APPROVED} | ({Status.FAILED} if question.id == cancelled.id else set())
        assert (await call_of(store, question)).status in expected

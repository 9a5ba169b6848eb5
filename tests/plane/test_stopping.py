"""A person can end a call wherever it is, and all of a session at once."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from handrail.core.approval import Answer, ApprovalStatus
from handrail.core.change import Change, StopSession
from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import CallId, ExecutionId, SessionId
from handrail.core.project import Session
from handrail.core.survey import Survey
from handrail.plane.assessment import Assessment
from handrail.plane.decider import Decider
from handrail.plane.dispatch import Claim
from handrail.plane.move import Move
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.test_store_approvals import state_of
from tests.plane.conftest import (
    KEY,
    a_read,
    a_report,
    a_write,
    all_tables,
    another_process,
    ask,
    ask_unseen,
    at_the,
    call_of,
    connected,
    find,
    handed_out,
    lines_of,
    look,
    now_of,
    question_of,
    signals_to,
)
from tests.plane.stages import approved, begun, offered

SESSION = SessionId("session-1")
SECRET = "token=open-sesame"
BEGUN = "; it had started, and how far it got is unknown"

Build = Callable[..., Awaitable[ToolExecution]]


async def waiting_for_an_answer(
    services: Services, home: Household, call_id: str = "call-1", **words: Any
) -> ToolExecution:
    return await call_of(services.store, await ask_unseen(services, home, call_id, **words))


async def waiting_read(
    services: Services, home: Household, call_id: str = "call-1", *, content: str = "README.md"
) -> ToolExecution:
    """A read that no client was there to take; what would be written is what it looks for."""
    return await services.executor.propose(a_read(home, call_id, path=content), home.agent)


async def read_under_way(
    services: Services, home: Household, call_id: str = "call-1", *, content: str = "README.md"
) -> ToolExecution:
    with connected(services, home.client):
        return await waiting_read(services, home, call_id, content=content)


class Stage(NamedTuple):
    """Where a call is, the news its end becomes, and what is said besides who ended it."""

    build: Build
    news: EventKind
    besides: str = ""
    is_checked: bool = False


STAGES = {
    "being-looked-at": Stage(look, EventKind.STATUS, is_checked=True),
    "asked-about": Stage(waiting_for_an_answer, EventKind.APPROVAL_RESOLVED),
    "read-waiting": Stage(waiting_read, EventKind.STATUS),
    "change-waiting": Stage(approved, EventKind.STATUS),
    "change-offered": Stage(offered, EventKind.CANCEL),
    "read-under-way": Stage(read_under_way, EventKind.CANCEL),
    "change-begun": Stage(begun, EventKind.CANCEL, BEGUN),
}
every_stage = pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)


async def one_of_each(services: Services, home: Household) -> dict[str, ToolExecution]:
    """Calls of one session, one at each stage."""
    return {name: await stage.build(services, home, name) for name, stage in STAGES.items()}


async def cancel(
    services: Services, home: Household, call: ToolExecution, reason: str | None = None
) -> ToolExecution:
    return await services.stopper.cancel(call.id, at_the("console", home), reason=reason)


async def stop(services: Services, home: Household, session_id: str = SESSION) -> Session:
    """Gives the session as it is after that."""
    stopped = await services.stopper.stop_session(SessionId(session_id), at_the("console", home))
    return stopped.session


def cancelled(call: ToolExecution, words: str, clock: FakeClock) -> ToolExecution:
    """The call as it ends now; neither a question never put nor who looked is named any more."""
    ended = call.fail(ErrorType.CANCELLED, words, clock.now())
    if call.status is not Status.PENDING:
        return ended
    return ended._replace(approval_id=None, client_id=None)


# One call


@every_stage
async def test_a_call_can_be_cancelled_wherever_it_is(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    stage: Stage,
) -> None:
    call = await stage.build(services, household)
    told = (await store.event_range(household.project.id)).last
    clock.advance(7)

    ended = await cancel(services, household, call, "not now")

    words = f"ada cancelled this call: not now{stage.besides}"
    assert ended == cancelled(call, words, clock)
    assert await find(store, call) == ended
    items = await store.read_stream(household.project.id, after=told, client_id=None, limit=9)
    for_one = stage.news is EventKind.CANCEL
    addressed = (household.client_id, call.epoch) if for_one else (None, 0)
    expected = [NewEvent(stage.news, call.id, Status.FAILED, *addressed)]
    if stage.is_checked:
        # A machine may be rehearsing it.
        to_machine = (household.client_id, call.epoch)
        expected.append(NewEvent(EventKind.CANCEL, call.id, Status.FAILED, *to_machine))
    assert [item.event[3:] for item in items] == expected
    (line,) = await lines_of(store, household, "call.ended")
    assert (line.actor, line.subject, line.at) == (household.user.subject, call.id, clock.now())
    assert json.loads(line.details) == {
        "status": "failed",
        "error": words,
        "error_type": "cancelled",
        "execution_time_ms": None,
    }


@every_stage
async def test_a_reason_is_not_needed(
    services: Services, household: Household, stage: Stage
) -> None:
    call = await stage.build(services, household)

    ended = await cancel(services, household, call)

    assert ended.error == f"ada cancelled this call{stage.besides}"


@every_stage
async def test_no_table_keeps_a_secret_of_what_was_cancelled_nor_of_why(
    services: Services, household: Household, tmp_path: Path, stage: Stage
) -> None:
    call = await stage.build(services, household, content=SECRET)
    before = all_tables(tmp_path)

    ended = await cancel(services, household, call, "it shows password=open-sesame to all")

    assert "open-sesame" in before
    assert ended.error is not None
    assert ended.error.startswith("ada cancelled this call: it shows password=[masked] to all")
    assert "open-sesame" not in all_tables(tmp_path)


@every_stage
async def test_whoever_waits_for_a_call_learns_that_it_was_cancelled(
    services: Services, household: Household, stage: Stage
) -> None:
    call = await stage.build(services, household)

    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        asker = group.create_task(services.executor.settle(call.id))
        await asyncio.sleep(0)
        ended = await cancel(services, household, call)

    assert asker.result() == ended


@every_stage
async def test_cancelling_twice_is_cancelling_once(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, stage: Stage
) -> None:
    call = await stage.build(services, household)
    ended = await cancel(services, household, call, "not now")
    before = await state_of(store, household)
    clock.advance(9)

    again = await cancel(services, household, call, "really not")

    assert again == ended
    assert await state_of(store, household) == before


@every_stage
async def test_many_who_cancel_at_once_end_a_call_once(
    services: Services, store: SqliteStore, household: Household, stage: Stage
) -> None:
    call = await stage.build(services, household)

    outcomes = await asyncio.gather(*(cancel(services, household, call) for _ in range(5)))

    assert outcomes == [await find(store, call)] * 5
    assert len(await lines_of(store, household, "call.ended")) == 1


async def test_what_another_process_has_moved_on_is_cancelled_where_it_is_now(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    tmp_path: Path,
) -> None:
    call = await offered(services, household)
    async with another_process(tmp_path, clock) as other:
        claimed = await other.dispatcher.claim(
            call.id, Claim(call.epoch, KEY), household.client, household.project.id
        )

    ended = await cancel(services, household, call)

    assert ended == cancelled(claimed, f"ada cancelled this call{BEGUN}", clock)
    assert await find(store, call) == ended


async def test_a_call_that_has_ended_otherwise_cannot_be_cancelled(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    here = at_the("console", household)
    completed = await handed_out(services, household, "completed")
    await services.receiver.accept(a_report(completed.id), household.client, household.project.id)
    rejected = await waiting_for_an_answer(services, household, "rejected")
    await services.approvals.reject_tool((await question_of(store, rejected)).id, here)
    denied = await services.executor.propose(
        a_read(household, "failed", path=".env"), household.agent
    )
    overdue = await waiting_for_an_answer(services, household, "timeout")
    clock.advance(301)
    await services.approvals.expire_overdue()
    before = await state_of(store, household)

    for call, status in [
        (completed, Status.COMPLETED),
        (rejected, Status.REJECTED),
        (denied, Status.FAILED),
        (overdue, Status.TIMEOUT),
    ]:
        with pytest.raises(Conflict, match=f"^{call.id} has ended already, as {status}$"):
            await cancel(services, household, call)

    assert await state_of(store, household) == before


async def test_only_the_projects_own_calls_can_be_cancelled(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    call = await begun(services, household)

    with pytest.raises(NotFound, match=f"^there is no execution '{call.id}'$"):
        await cancel(services, neighbour, call)
    with pytest.raises(NotFound, match=r"^there is no execution 'exe_none'$"):
        await services.stopper.cancel(ExecutionId("exe_none"), at_the("console", household))

    assert await find(store, call) == call


# The question goes with its call


@pytest.mark.parametrize("asked", [ask, ask_unseen], ids=["looked at", "unseen"])
async def test_a_question_is_withdrawn_together_with_its_call(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    asked: Callable[..., Awaitable[Any]],
) -> None:
    question = await asked(services, household)
    clock.advance(7)

    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        screen = group.create_task(services.approvals.wait_for_tool_approval(question.id))
        await asyncio.sleep(0)
        await services.stopper.cancel(
            question.execution_id, at_the("phone", household), reason="not now"
        )

    said = Answer(
        by="ada", channel="phone", at=clock.now(), reason="ada cancelled this call: not now"
    )
    assert screen.result() == replace(question, status=ApprovalStatus.WITHDRAWN, answer=said)
    assert await services.approvals.get_pending_approvals(household.project.id) == []


@pytest.mark.parametrize("yes", [True, False])
async def test_whoever_answers_after_a_cancel_is_told_who_cancelled_and_when(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    yes: bool,
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    question = await ask(services, household)
    clock.advance(67)
    ben = Decider(neighbour.user, household.project.id, "phone")
    await services.stopper.cancel(question.execution_id, ben)
    before = await state_of(store, household)
    clock.advance(5)

    answer = services.approvals.approve_tool if yes else services.approvals.reject_tool
    with pytest.raises(Conflict, match=r"^the call was cancelled by ben at 00:01:07 UTC$"):
        await answer(question.id, at_the("console", household))

    assert await state_of(store, household) == before


async def test_a_withdrawn_question_does_not_expire_later(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    question = await ask(services, household)
    await services.stopper.cancel(question.execution_id, at_the("console", household))
    before = await state_of(store, household)
    clock.advance(1_000)

    await services.sweeper.sweep()

    assert await state_of(store, household) == before


@pytest.mark.parametrize("answers_first", [True, False])
async def test_an_answer_and_a_cancel_at_once_end_the_call_and_the_answer_is_told_apart(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    answers_first: bool,
) -> None:
    question = await ask(services, household)
    call = await call_of(store, question)
    answer = services.approvals.approve_tool(question.id, at_the("phone", household))
    both = [answer, cancel(services, household, call)]

    outcomes = await asyncio.gather(
        *(both if answers_first else reversed(both)), return_exceptions=True
    )

    resolved = await store.find_approval(question.id)
    assert resolved is not None
    assert (await find(store, call)).error_type is ErrorType.CANCELLED
    if answers_first:
        assert resolved.status is ApprovalStatus.APPROVED
        assert [type(outcome).__name__ for outcome in outcomes] == ["Approval", "ToolExecution"]
    else:
        assert resolved.status is ApprovalStatus.WITHDRAWN
        assert str(outcomes[1]) == "the call was cancelled by ada at 00:00:00 UTC"


@pytest.mark.parametrize("answers_first", [True, False])
async def test_a_no_and_a_cancel_at_once_have_one_outcome(
    services: Services, store: SqliteStore, household: Household, answers_first: bool
) -> None:
    question = await ask(services, household)
    call = await call_of(store, question)
    answer = services.approvals.reject_tool(question.id, at_the("phone", household))
    both = [answer, cancel(services, household, call)]

    outcomes = await asyncio.gather(
        *(both if answers_first else reversed(both)), return_exceptions=True
    )

    resolved, found = await store.find_approval(question.id), await find(store, call)
    assert resolved is not None
    assert isinstance(outcomes[1], Conflict)
    if answers_first:
        assert (found.status, resolved.status) == (Status.REJECTED, ApprovalStatus.REJECTED)
        assert str(outcomes[1]) == f"{call.id} has ended already, as rejected"
    else:
        assert (found.status, resolved.status) == (Status.FAILED, ApprovalStatus.WITHDRAWN)
        assert str(outcomes[1]) == "the call was cancelled by ada at 00:00:00 UTC"


# What a machine can still do with a cancelled call


async def test_what_was_seen_after_a_cancel_becomes_no_question(
    services: Services, store: SqliteStore, household: Household
) -> None:
    pending = await look(services, household)
    assert pending.approval_id is not None
    await cancel(services, household, pending)
    before = await state_of(store, household)

    with pytest.raises(NotFound, match=f"^there is no approval '{pending.approval_id}'$"):
        await services.surveyor.accept(
            pending.approval_id, Survey(), household.client, household.project.id
        )
    await services.surveyor.ask_without_facts()

    assert await state_of(store, household) == before


async def test_a_cancelled_call_cannot_be_begun_nor_is_it_offered_again(
    services: Services, store: SqliteStore, household: Household
) -> None:
    call = await offered(services, household)
    ended = await cancel(services, household, call)

    with pytest.raises(Conflict):
        await services.dispatcher.claim(
            call.id, Claim(call.epoch, KEY), household.client, household.project.id
        )
    with connected(services, household.client) as connection:
        await services.dispatcher.offer_open_calls(connection)
        await services.dispatcher.hand_over_forsaken()

    assert await find(store, call) == ended
    assert len(await signals_to(store, household, household.client)) == 1


@pytest.mark.parametrize("claims_first", [True, False])
async def test_a_claim_and_a_cancel_at_once_end_the_call_and_say_whether_it_had_begun(
    services: Services, store: SqliteStore, household: Household, claims_first: bool
) -> None:
    call = await offered(services, household)
    claim = services.dispatcher.claim(
        call.id, Claim(call.epoch, KEY), household.client, household.project.id
    )
    both = [claim, cancel(services, household, call)]

    outcomes = await asyncio.gather(
        *(both if claims_first else reversed(both)), return_exceptions=True
    )

    found = await find(store, call)
    assert found.error_type is ErrorType.CANCELLED
    assert found.error == f"ada cancelled this call{BEGUN if claims_first else ''}"
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == (0 if claims_first else 1)


# A whole session


async def test_a_stopped_session_has_nothing_left_and_the_others_have_everything(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    calls = await one_of_each(services, household)
    done = await handed_out(services, household, "done")
    done = await services.receiver.accept(a_report(done.id), household.client, household.project.id)
    untouched = [
        await call_of(store, await ask_unseen(services, household, session_id="session-2")),
        await call_of(store, await ask_unseen(services, neighbour)),
        await begun(services, neighbour, "begun"),
        done,
    ]
    clock.advance(7)

    stopped = await stop(services, household)

    assert stopped.stopped_at == clock.now()
    for name, call in calls.items():
        ended = cancelled(call, f"ada stopped this session{STAGES[name].besides}", clock)
        assert await find(store, call) == ended
    for call in untouched:
        assert await find(store, call) == call
    open_questions = await services.approvals.get_pending_approvals(household.project.id)
    assert [question.session_id for question in open_questions] == ["session-2"]
    (line,) = await lines_of(store, household, "session.stopped")
    assert (line.actor, line.subject, line.at) == (household.user.subject, SESSION, clock.now())


async def test_each_client_is_told_what_is_to_end_when_a_session_is_stopped(
    services: Services, store: SqliteStore, household: Household
) -> None:
    calls = await one_of_each(services, household)
    told = (await store.event_range(household.project.id)).last

    await stop(services, household)

    items = await store.read_stream(household.project.id, after=told, client_id=None, limit=99)
    expected = [(call.id, STAGES[name].news) for name, call in calls.items()]
    expected += [
        (call.id, EventKind.CANCEL) for name, call in calls.items() if STAGES[name].is_checked
    ]
    found = [(item.event.execution_id, item.event.kind) for item in items]
    assert sorted(found) == sorted(expected)


async def test_nothing_enters_by_a_stopped_session_but_an_earlier_call_is_still_known(
    services: Services, store: SqliteStore, household: Household
) -> None:
    earlier = await waiting_read(services, household, "earlier")
    await stop(services, household)
    before = await state_of(store, household)

    again = await services.executor.propose(a_read(household, "earlier"), household.agent)
    for new in (a_read(household, "new"), a_write(household, "newer")):
        with pytest.raises(Conflict, match=r"^session 'session-1' has been stopped$"):
            await services.executor.propose(new, household.agent)

    assert (again.id, again.error) == (earlier.id, "ada stopped this session")
    assert await state_of(store, household) == before
    elsewhere = a_read(household, "new", session_id="session-2")
    assert (await services.executor.propose(elsewhere, household.agent)).status is Status.APPROVED


async def test_a_persons_own_call_enters_a_stopped_session(
    services: Services, household: Household
) -> None:
    await waiting_read(services, household)
    await stop(services, household)

    own = await services.executor.propose(a_read(household, "own"), household.user)

    assert own.status is Status.APPROVED


async def test_a_stopped_session_stays_stopped_after_a_restart(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    await waiting_read(services, household)
    await stop(services, household)
    await store.close()

    async with another_process(tmp_path, clock) as later:
        with pytest.raises(Conflict, match=r"^session 'session-1' has been stopped$"):
            await later.executor.propose(a_read(household, "new"), household.agent)


async def test_a_session_is_stopped_for_processes_that_knew_it_running(
    services: Services, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    async with another_process(tmp_path, clock) as other:
        await waiting_read(other, household)

        await stop(services, household)

        with pytest.raises(Conflict, match=r"^session 'session-1' has been stopped$"):
            await other.executor.propose(a_read(household, "new"), household.agent)


async def test_the_grants_of_a_stopped_session_cover_nothing_any_more(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    for session_id in ("session-1", "session-2"):
        question = await ask(services, household, session_id=session_id)
        await services.approvals.approve_tool(
            question.id, at_the("console", household), scope=Scope.SESSION
        )
    clock.advance(7)

    await stop(services, household)

    live = await services.grants.list_live(household.project.id)
    given = await store.list_grants(household.project.id, session_id=SESSION)
    assert [grant.session_id for grant in live] == ["session-2"]
    assert [grant.revoked_at for grant in given] == [clock.now()]


async def test_stopping_twice_is_stopping_once(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    await begun(services, household)
    first = await stop(services, household)
    before = await state_of(store, household)
    clock.advance(9)

    second = await stop(services, household)

    assert second == first
    assert await state_of(store, household) == before


async def test_only_the_projects_own_sessions_can_be_stopped(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    call = await begun(services, household)

    with pytest.raises(NotFound, match=r"^there is no session 'session-1'$"):
        await stop(services, neighbour)
    with pytest.raises(NotFound, match=r"^there is no session 'session-9'$"):
        await stop(services, household, "session-9")

    assert await find(store, call) == call
    assert await lines_of(store, household, "session.stopped") == []


@pytest.mark.parametrize("stops_first", [True, False])
async def test_a_call_that_enters_just_when_its_session_is_stopped_does_not_stay(
    services: Services, store: SqliteStore, household: Household, stops_first: bool
) -> None:
    await waiting_read(services, household, "first")
    entering = services.executor.propose(a_read(household, "second"), household.agent)
    both = [stop(services, household), entering]

    outcomes = await asyncio.gather(
        *(both if stops_first else reversed(both)), return_exceptions=True
    )
    await services.stopper.end_left_behind()

    calls = await store.list_executions(household.project.id, status=None, agent_id=None, limit=9)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == (1 if stops_first else 0)
    assert len(calls) == (1 if stops_first else 2)
    assert {call.error_type for call in calls} == {ErrorType.CANCELLED}


async def test_a_session_whose_first_call_is_still_judged_can_be_stopped_and_the_call_never_runs(
    services: Services, store: SqliteStore, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = services.approvals.rule

    async def stop_meanwhile(pending: ToolExecution, assessment: Assessment) -> Move:
        await stop(services, household)
        return await rule(pending, assessment)

    monkeypatch.setattr(services.approvals, "rule", stop_meanwhile)
    with connected(services, household.client), pytest.raises(Conflict, match="has been stopped"):
        await services.executor.propose(a_read(household), household.agent)

    assert await store.find_call(household.project.id, SESSION, CallId("call-1")) is None
    assert (await store.event_range(household.project.id)).last == 0


async def test_a_result_that_comes_just_when_its_session_is_stopped_is_the_end(
    services: Services, store: SqliteStore, household: Household
) -> None:
    call = await handed_out(services, household)

    ended, _ = await asyncio.gather(
        services.receiver.accept(a_report(call.id), household.client, household.project.id),
        stop(services, household),
    )

    assert ended.status is Status.COMPLETED
    assert await find(store, call) == ended


# What a crash has left behind


async def half_stop(store: SqliteStore, home: Household, clock: FakeClock) -> None:
    """Stop the session and get no further, as somebody does who dies between the halves."""
    place = await store.find_place(home.project.id, SESSION)
    assert place is not None
    await store.submit(Change(home.project.id, clock.now(), (StopSession(place.session),)))


async def test_what_a_stopped_session_still_has_is_ended_after_a_restart(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    calls = await one_of_each(services, household)
    question = await question_of(store, calls["asked-about"])
    elsewhere = await call_of(store, await ask_unseen(services, household, session_id="session-2"))
    await half_stop(store, household, clock)
    await store.close()

    async with another_process(tmp_path, clock) as later:
        await later.sweeper.sweep()

        for name, call in calls.items():
            words = f"this session has been stopped{STAGES[name].besides}"
            ended = cancelled(call, words, clock)
            assert await now_of(later.store, call.id) == ended
        withdrawn = await later.store.find_approval(question.id)
        assert withdrawn is not None
        assert withdrawn.how_it_ended == "the call was cancelled by handrail at 00:00:00 UTC"
        assert await now_of(later.store, elsewhere.id) == elsewhere
        lines = await lines_of(later.store, household, "call.ended")
        assert {line.subject for line in lines} == {call.id for call in calls.values()}
        assert {line.actor for line in lines} == {"handrail"}


async def test_looking_again_for_what_was_left_behind_changes_nothing(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    await begun(services, household)
    await half_stop(store, household, clock)
    await services.stopper.end_left_behind()
    before = await state_of(store, household)

    await services.stopper.end_left_behind()

    assert await state_of(store, household) == before


async def test_who_stops_a_session_that_was_half_stopped_ends_the_rest_by_name(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    call = await waiting_read(services, household)
    await half_stop(store, household, clock)

    await stop(services, household)

    assert await find(store, call) == cancelled(call, "ada stopped this session", clock)


@pytest.mark.timeout(20)
async def test_a_cancel_that_comes_just_when_another_reaches_the_disk_ends(
    services: Services, store: SqliteStore, household: Household
) -> None:
    question = await ask_unseen(services, household)
    decider = at_the("console", household)
    first = asyncio.create_task(services.stopper.cancel(question.execution_id, decider))
    # Until the first one is on disk, but nobody here has heard of it yet.
    while store._idle.is_set():
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    while await store.find_approval(question.id) == question:
        pass

    ended = await services.stopper.cancel(question.execution_id, decider)

    assert ended.error_type is ErrorType.CANCELLED
    assert await first == await now_of(store, question.execution_id)


@pytest.mark.timeout(20)
async def test_cancelling_what_another_process_has_answered_is_a_conflict(
    services: Services, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    question = await ask_unseen(services, household)
    decider = at_the("console", household)
    async with another_process(tmp_path, clock) as other:
        await other.approvals.reject_tool(question.id, decider)

    with pytest.raises(Conflict, match="has ended already, as rejected"):
        await services.stopper.cancel(question.execution_id, decider)


async def test_who_is_second_to_stop_is_told_when_it_was_stopped(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    await waiting_read(services, household)
    assert await store.find_place(household.project.id, SessionId(SESSION)) is not None
    async with another_process(tmp_path, clock) as other:
        first = await stop(other, household)
    clock.advance(60)

    second = await stop(services, household)

    assert second.stopped_at == first.stopped_at


async def test_calls_that_the_sweeper_ends_first_are_counted_as_ended(
    services: Services, household: Household
) -> None:
    await waiting_for_an_answer(services, household)
    submit = services.store.submit

    async def submit_and_sweep(change: Change) -> Any:
        told = await submit(change)
        if any(isinstance(step, StopSession) for step in change.steps):
            await services.stopper.end_left_behind()
        return told

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(services.store), "submit", lambda _, change: submit_and_sweep(change))
        stopped = await services.stopper.stop_session(SESSION, at_the("console", household))

    assert stopped.ended == 1

"""A person is asked, the first answer counts, and the call goes where the answer sends it."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.card import NOT_SURVEYED, Card
from handrail.core.change import Add, Advance, Change
from handrail.core.errors import BadInput, Conflict, ErrorType, NotFound
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import CallClass, PastCalls, Scope
from handrail.core.ids import ApprovalId
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.verdict import Ruling, Verdict
from handrail.plane import approvals as manager
from handrail.plane import waiting as waiting_room
from handrail.plane.approvals import ApprovalManager
from handrail.plane.assessment import Assessment
from handrail.plane.decider import Decider
from handrail.plane.dispatch import Claim
from handrail.policy.redaction import KEPT_CHARS
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.builtin.read_file import ReadFile
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_call
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
    lines_of,
    look,
    news_of,
    now_of,
    question_of,
    with_autonomy,
)

CANARY = "sk-canarycanarycanary1234"

# The state of a call for each state of the question about it.
MATCHING = {
    ApprovalStatus.PENDING: Status.AWAITING_APPROVAL,
    ApprovalStatus.APPROVED: Status.APPROVED,
    ApprovalStatus.REJECTED: Status.REJECTED,
    ApprovalStatus.EXPIRED: Status.TIMEOUT,
}


@pytest.fixture
def approvals(services: Services) -> ApprovalManager:
    return services.approvals


async def found(store: SqliteStore, approval: Approval) -> Approval:
    kept = await store.find_approval(approval.id)
    assert kept is not None
    return kept


async def critical(services: Services, home: Household, call_id: str = "call-1") -> Approval:
    """A question about a call that a look at the machine has shown to be CRITICAL."""
    pending = await look(services, home, call_id)
    assert pending.approval_id is not None
    seen = Survey({}, (Finding("some.rule", "it is grave", RiskLevel.CRITICAL),))
    waiting = await services.surveyor.accept(
        pending.approval_id, seen, home.client, home.project.id
    )
    return await question_of(services.store, waiting)


# Asking


async def test_what_would_be_rehearsed_is_put_to_a_person_until_a_client_can_rehearse(
    services: Services, household: Household
) -> None:
    rehearsed = Verdict(Ruling.REHEARSE, RiskLevel.HIGH, timeout_seconds=600)
    assessment = Assessment(ReadFile(), rehearsed, "judged", "Read README.md", None, None)
    pending = a_call(household, status=Status.PENDING, approved_at=None)

    move = await services.approvals.rule(pending, assessment)

    assert (move.after.status, move.after.requires_approval) == (Status.AWAITING_APPROVAL, True)
    assert [event.kind for event in move.events] == [EventKind.APPROVAL_REQUEST]
    [asked] = [step.row for step in move.steps if isinstance(step, Add)]
    assert isinstance(asked, Approval)
    assert asked.expires_at - asked.created_at == timedelta(seconds=600)


async def test_a_risky_call_is_put_to_a_person_with_all_they_need_to_know(
    services: Services, store: SqliteStore, household: Household
) -> None:
    call = a_write(household, reasoning="to mend it")

    execution = await services.executor.propose(call, household.agent)

    question = await question_of(store, execution)
    at = household.project.created_at
    assert question == Approval(
        id=question.id,
        project_id=household.project.id,
        user_id=household.user.user_id,
        execution_id=execution.id,
        session_id=call.session_id,
        agent_id=household.agent.subject,
        tool_name="write_file",
        tool_params={"path": "src/a.py", "content": "x = 1\n"},
        reasoning="to mend it",
        description="Write 1 line to src/a.py",
        risk_level=RiskLevel.MEDIUM,
        reasons=("changes a file in the workspace",),
        digest=execution.digest,
        surveyed=False,
        evidence="",
        call_class=CallClass("write_file:src/**/*.py", "writes to src/**/*.py"),
        timeout_seconds=300,
        created_at=at,
        expires_at=at + timedelta(seconds=300),
        past=PastCalls(0, 0),
        editable=("content",),
    )
    assert execution.status is Status.AWAITING_APPROVAL
    assert (execution.requires_approval, execution.approved_by) == (True, None)
    assert await now_of(store, execution.id) == execution
    assert Card.of(question).notes == (NOT_SURVEYED,)
    assert await news_of(store, household) == [
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL)
    ]
    (line,) = await lines_of(store, household, "call.proposed")
    assert json.loads(line.details)["approval"] == question.id


@pytest.mark.parametrize(
    ("path", "everywhere", "seconds"),
    [("src/a.py", None, 300), ("src/run.sh", None, 600), ("src/a.py", 3600, 3600)],
)
async def test_the_time_to_answer_goes_with_the_risk_unless_one_is_set_for_all(
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    path: str,
    everywhere: int | None,
    seconds: int,
) -> None:
    services = build_services(store, bus, clock, everywhere)

    question = await ask(services, household, path=path)

    assert question.timeout_seconds == seconds
    assert question.expires_at == clock.now() + timedelta(seconds=seconds)


async def test_what_is_critical_has_ten_minutes(services: Services, household: Household) -> None:
    assert (await critical(services, household)).timeout_seconds == 600


@pytest.mark.parametrize(
    ("autonomy", "path", "status", "approved_by"),
    [
        (Autonomy.READ_ONLY, "src/a.py", Status.FAILED, None),
        (Autonomy.READ_ONLY, "src/run.sh", Status.FAILED, None),
        (Autonomy.SUPERVISED, "src/a.py", Status.AWAITING_APPROVAL, None),
        (Autonomy.SUPERVISED, "src/run.sh", Status.AWAITING_APPROVAL, None),
        (Autonomy.FULL, "src/a.py", Status.APPROVED, "policy"),
        (Autonomy.FULL, "src/run.sh", Status.AWAITING_APPROVAL, None),
        (Autonomy.FULL, "x.exe", Status.FAILED, None),
    ],
)
async def test_freedom_and_risk_decide_whether_somebody_is_asked(
    services: Services,
    store: SqliteStore,
    household: Household,
    autonomy: Autonomy,
    path: str,
    status: Status,
    approved_by: str | None,
) -> None:
    home = await with_autonomy(store, household, autonomy)

    execution = await services.executor.propose(a_write(home, path=path), home.agent)

    assert (execution.status, execution.approved_by) == (status, approved_by)
    asked = await store.list_approvals(home.project.id, status=None, limit=9)
    assert len(asked) == (1 if status is Status.AWAITING_APPROVAL else 0)
    if status is Status.FAILED:
        assert execution.error_type is ErrorType.DENIED
        assert execution.error


async def test_a_long_text_is_cut_alike_on_the_card_and_in_the_record(
    services: Services, store: SqliteStore, household: Household
) -> None:
    text = "x" * (KEPT_CHARS + 5)

    question = await ask(services, household, content=text)

    assert question.tool_params["content"] == text[:-5] + "… [5 more characters]"
    assert (await call_of(store, question)).tool_params == question.tool_params


async def test_an_agent_that_asks_too_much_is_turned_away_and_others_are_heard(
    services: Services, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "MOST_QUESTIONS", 3)
    for number in range(3):
        await ask(services, household, f"call-{number}")

    refused = await services.executor.propose(a_write(household, "call-3"), household.agent)
    other = await services.executor.propose(
        a_write(household, "call-4", session_id="mine"), household.user
    )

    assert (refused.status, refused.error_type) == (Status.FAILED, ErrorType.TOO_MANY_QUESTIONS)
    assert refused.error == "3 questions of this agent are open; wait until some are answered"
    assert other.status is Status.AWAITING_APPROVAL


async def test_the_same_call_twice_is_one_question(
    services: Services, store: SqliteStore, household: Household
) -> None:
    answers = await asyncio.gather(
        *(services.executor.propose(a_write(household), household.agent) for _ in range(10))
    )

    assert {answer.approval_id for answer in answers} == {answers[0].approval_id}
    assert len(await store.list_approvals(household.project.id, status=None, limit=99)) == 1


async def test_the_open_questions_are_listed_most_urgent_first(
    services: Services, approvals: ApprovalManager, clock: FakeClock, household: Household
) -> None:
    patient = await ask(services, household, "1", path="run.sh")
    urgent = await ask(services, household, "2")
    clock.advance(1)
    later = await ask(services, household, "3")
    answered = await ask(services, household, "4")
    await approvals.reject_tool(answered.id, at_the("console", household))

    assert await approvals.get_pending_approvals(household.project.id) == [urgent, later, patient]


# A yes


async def test_a_yes_lets_the_call_pass_and_names_who_said_it(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
) -> None:
    question = await ask(services, household)
    waiting = await call_of(store, question)
    clock.advance(7)

    answered = await approvals.approve_tool(question.id, at_the("console", household))

    answer = Answer(by="ada", channel="console", at=clock.now(), scope=Scope.ONCE)
    assert answered == replace(question, status=ApprovalStatus.APPROVED, answer=answer)
    assert await found(store, question) == answered
    assert await call_of(store, question) == waiting._replace(
        status=Status.APPROVED, approved_by="ada", scope=Scope.ONCE, approved_at=clock.now()
    )
    assert await store.list_grants(household.project.id, session_id=None) == []
    (line,) = await lines_of(store, household, "approval.approved")
    assert (line.actor, line.subject) == (household.user.subject, question.id)
    assert json.loads(line.details) == {
        "by": "ada",
        "execution": waiting.id,
        "status": "approved",
        "digest": question.digest,
        "channel": "console",
        "scope": "once",
        "reason": None,
        "grant": None,
    }


async def test_a_yes_is_told_before_the_call_is_handed_out(
    services: Services, approvals: ApprovalManager, store: SqliteStore, household: Household
) -> None:
    question = await ask_unseen(services, household)

    with services.connections.open(household.client_id, household.workspace.id):
        await approvals.approve_tool(question.id, at_the("console", household))

    assert await news_of(store, household) == [
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL),
        (EventKind.APPROVAL_RESOLVED, Status.APPROVED),
        (EventKind.EXECUTION_SIGNAL, Status.APPROVED),
    ]
    call = await call_of(store, question)
    assert (call.client_id, call.epoch) == (household.client_id, 1)


async def test_without_a_client_a_yes_is_kept_until_one_comes(
    services: Services, approvals: ApprovalManager, store: SqliteStore, household: Household
) -> None:
    question = await ask(services, household)
    await approvals.approve_tool(question.id, at_the("console", household))
    assert (await call_of(store, question)).client_id is None

    with services.connections.open(household.client_id, household.workspace.id) as connection:
        await services.dispatcher.offer_open_calls(connection)

    call = await call_of(store, question)
    assert (call.status, call.client_id, call.epoch) == (Status.APPROVED, household.client_id, 1)


async def test_the_digest_that_was_shown_may_be_sent_along(
    services: Services, approvals: ApprovalManager, household: Household
) -> None:
    question = await ask(services, household)

    answered = await approvals.approve_tool(
        question.id, at_the("console", household), digest=question.digest
    )

    assert answered.status is ApprovalStatus.APPROVED


@pytest.mark.parametrize("digest", ["", "another"])
async def test_a_yes_to_something_else_than_was_shown_changes_nothing(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    household: Household,
    digest: str,
) -> None:
    question = await ask(services, household)
    waiting, news = await call_of(store, question), await news_of(store, household)

    with pytest.raises(Conflict, match="not the call that you were shown"):
        await approvals.approve_tool(question.id, at_the("console", household), digest=digest)

    assert await found(store, question) == question
    assert await call_of(store, question) == waiting
    assert await news_of(store, household) == news


@pytest.mark.parametrize(
    ("risk", "scope"),
    [
        (RiskLevel.HIGH, Scope.CLASS),  # a script is of no class
        (RiskLevel.CRITICAL, Scope.CLASS),
        (RiskLevel.CRITICAL, Scope.SESSION),
    ],
)
async def test_a_scope_that_was_not_offered_is_refused_and_nothing_changes(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    household: Household,
    risk: RiskLevel,
    scope: Scope,
) -> None:
    if risk is RiskLevel.CRITICAL:
        question = await critical(services, household)
    else:
        question = await ask(services, household, path="src/run.sh")
    assert question.risk_level is risk
    waiting = await call_of(store, question)

    with pytest.raises(BadInput, match=f"approved for once.*, not for {scope}"):
        await approvals.approve_tool(question.id, at_the("console", household), scope=scope)

    assert await found(store, question) == question
    assert await call_of(store, question) == waiting
    assert await store.list_grants(household.project.id, session_id=None) == []


async def test_what_is_critical_can_be_approved_for_once(
    services: Services, approvals: ApprovalManager, store: SqliteStore, household: Household
) -> None:
    question = await critical(services, household)

    await approvals.approve_tool(question.id, at_the("console", household))

    assert (await call_of(store, question)).status is Status.APPROVED


# A no


@pytest.mark.parametrize(
    ("reason", "error", "kept"),
    [
        (None, "ada refused this call", None),
        ("", "ada refused this call", ""),
        ("not today", "ada refused this call: not today", "not today"),
        (
            f"the key {CANARY} leaks",
            "ada refused this call: the key [masked] leaks",
            "the key [masked] leaks",
        ),
    ],
)
async def test_a_no_reaches_the_agent_with_its_reason(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    household: Household,
    reason: str | None,
    error: str,
    kept: str | None,
) -> None:
    question = await ask_unseen(services, household)
    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        waiting = group.create_task(services.executor.settle(question.execution_id))
        await asyncio.sleep(0)
        answered = await approvals.reject_tool(
            question.id, at_the("phone", household), reason=reason
        )

    assert (waiting.result().status, waiting.result().error) == (Status.REJECTED, error)
    assert answered.answer is not None
    assert (answered.answer.channel, answered.answer.reason) == ("phone", kept)
    assert await found(store, question) == answered
    assert await news_of(store, household) == [
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL),
        (EventKind.APPROVAL_RESOLVED, Status.REJECTED),
    ]
    (line,) = await lines_of(store, household, "approval.rejected")
    assert json.loads(line.details)["reason"] == kept


# Who was first


@pytest.mark.parametrize("first_says_yes", [True, False])
@pytest.mark.parametrize("second_says_yes", [True, False])
async def test_the_second_is_told_who_was_first_and_when_and_where(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    first_says_yes: bool,
    second_says_yes: bool,
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    ben = Decider(neighbour.user, household.project.id, "phone")
    question = await ask(services, household)
    clock.advance(61)

    async def decide(decider: Decider, yes: bool) -> Approval:
        answer = approvals.approve_tool if yes else approvals.reject_tool
        return await answer(question.id, decider)

    first = await decide(ben, first_says_yes)
    clock.advance(5)
    word = "approved" if first_says_yes else "rejected"
    with pytest.raises(Conflict, match=f"^ben answered first: {word} at 00:01:01 UTC from phone$"):
        await decide(at_the("console", household), second_says_yes)

    assert await found(store, question) == first


@pytest.mark.parametrize("processes", [1, 2])
async def test_of_two_who_decide_at_once_exactly_one_wins(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    tmp_path: Path,
    processes: int,
) -> None:
    async with another_process(tmp_path, clock) as other:
        second = services if processes == 1 else other
        for number in range(5):
            question = await ask(services, household, f"call-{number}")
            yes, no = await asyncio.gather(
                services.approvals.approve_tool(question.id, at_the("console", household)),
                second.approvals.reject_tool(question.id, at_the("phone", household)),
                return_exceptions=True,
            )

            winner, loser = (yes, no) if isinstance(yes, Approval) else (no, yes)
            assert isinstance(winner, Approval)
            assert isinstance(loser, Conflict)
            assert winner.how_it_ended == loser.message
            kept = await other.store.find_approval(question.id)
            call = await other.store.find_execution(question.execution_id)
            assert kept == winner
            assert call is not None
            assert call.status is MATCHING[winner.status]
    lines = await lines_of(store, household, "approval.approved", "approval.rejected")
    assert len({line.subject for line in lines}) == len(lines) == 5


async def test_only_the_projects_own_questions_can_be_answered(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    question = await ask(services, household)

    for approval_id, decider in (
        (question.id, at_the("console", neighbour)),
        (ApprovalId("apr_none"), at_the("console", household)),
    ):
        with pytest.raises(NotFound, match=f"there is no approval '{approval_id}'"):
            await approvals.approve_tool(approval_id, decider)
        with pytest.raises(NotFound, match=f"there is no approval '{approval_id}'"):
            await approvals.reject_tool(approval_id, decider)

    assert await found(store, question) == question


# Deadlines


async def test_nobody_can_answer_after_the_deadline(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
) -> None:
    question = await ask_unseen(services, household)
    clock.advance(300)

    for answer in (approvals.approve_tool, approvals.reject_tool):
        with pytest.raises(Conflict, match=r"^the time to answer ran out at 00:05:00 UTC$"):
            await answer(question.id, at_the("console", household))

    expired = await found(store, question)
    call = await call_of(store, question)
    assert expired.answer == Answer(by="handrail", channel="deadline", at=clock.now())
    assert (expired.status, call.status) == (ApprovalStatus.EXPIRED, Status.TIMEOUT)
    assert (call.error, call.completed_at) == ("Approval timeout", clock.now())
    assert await news_of(store, household) == [
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL),
        (EventKind.APPROVAL_RESOLVED, Status.TIMEOUT),
    ]
    (line,) = await lines_of(store, household, "approval.expired")
    assert (line.actor, line.subject) == ("handrail", question.id)


async def test_until_the_deadline_an_answer_counts(
    services: Services, approvals: ApprovalManager, clock: FakeClock, household: Household
) -> None:
    question = await ask(services, household)
    clock.advance(299.999_999)

    await approvals.expire_overdue()
    answered = await approvals.approve_tool(question.id, at_the("console", household))

    assert answered.status is ApprovalStatus.APPROVED


@pytest.mark.parametrize("answer_first", [True, False])
@pytest.mark.parametrize("yes", [True, False])
async def test_an_answer_and_the_deadline_at_once_have_one_outcome(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    answer_first: bool,
    yes: bool,
) -> None:
    question = await ask(services, household)
    clock.advance(299)
    # Somebody looks at the clock just before the deadline, and the sweeper just after.
    late = build_services(store, bus, FakeClock(clock.now() + timedelta(seconds=1)))
    decide = approvals.approve_tool if yes else approvals.reject_tool
    racers = [decide(question.id, at_the("console", household)), late.approvals.expire_overdue()]

    outcomes = await asyncio.gather(
        *(racers if answer_first else reversed(racers)), return_exceptions=True
    )

    ended, call = await found(store, question), await call_of(store, question)
    answered = next((one for one in outcomes if isinstance(one, Approval)), None)
    refused = [one for one in outcomes if isinstance(one, BaseException)]
    assert ended.status is not ApprovalStatus.PENDING
    assert call.status is MATCHING[ended.status]
    assert (answered is None) == (ended.status is ApprovalStatus.EXPIRED)
    assert answered in (None, ended)
    assert [type(one) for one in refused] == ([Conflict] if answered is None else [])
    kinds = [kind for kind, _ in await news_of(store, household)]
    assert kinds.count(EventKind.APPROVAL_RESOLVED) == 1
    lines = await lines_of(store, household)
    assert len([line for line in lines if line.subject == question.id]) == 1


async def test_a_new_grant_does_not_answer_what_is_overdue(
    services: Services,
    approvals: ApprovalManager,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
) -> None:
    overdue = await ask(services, household, "1")
    clock.advance(200)
    current = await ask(services, household, "2")
    clock.advance(150)

    await approvals.approve_tool(current.id, at_the("console", household), scope=Scope.SESSION)
    await approvals.expire_overdue()

    assert (await found(store, overdue)).status is ApprovalStatus.EXPIRED
    assert (await call_of(store, overdue)).status is Status.TIMEOUT


# Calls that have ended otherwise


async def end(store: SqliteStore, call: ToolExecution) -> ToolExecution:
    failed = call.fail(ErrorType.CANCELLED, "stopped", call.created_at)
    await store.submit(Change(call.project_id, call.created_at, (Advance(call, failed),)))
    return failed


async def test_a_call_that_has_ended_is_not_brought_back_by_an_answer(
    services: Services, approvals: ApprovalManager, store: SqliteStore, household: Household
) -> None:
    question = await ask(services, household)
    ended = await end(store, await call_of(store, question))

    for answer in (approvals.approve_tool, approvals.reject_tool):
        with pytest.raises(Conflict):
            await answer(question.id, at_the("console", household))

    assert await call_of(store, question) == ended
    assert await found(store, question) == question


# Waiting for an answer


@pytest.mark.parametrize("how", ["yes", "no", "deadline"])
async def test_whoever_waits_for_an_answer_is_woken_by_it(
    services: Services,
    approvals: ApprovalManager,
    clock: FakeClock,
    household: Household,
    how: str,
) -> None:
    question = await ask(services, household)
    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        waiting = [
            group.create_task(approvals.wait_for_tool_approval(question.id)) for _ in range(5)
        ]
        await asyncio.sleep(0)
        if how == "yes":
            await approvals.approve_tool(question.id, at_the("console", household))
        elif how == "no":
            await approvals.reject_tool(question.id, at_the("console", household))
        else:
            clock.advance(300)
            await approvals.expire_overdue()

    status = {"yes": "approved", "no": "rejected", "deadline": "expired"}[how]
    assert [task.result().status for task in waiting] == [status] * 5


async def test_an_answer_whose_ring_was_not_heard_is_noticed_all_the_same(
    services: Services,
    clock: FakeClock,
    household: Household,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting_room, "_POLL_SECONDS", 0.01)
    question = await ask(services, household)
    async with (
        another_process(tmp_path, clock) as other,
        asyncio.timeout(4),
        asyncio.TaskGroup() as group,
    ):
        waiting = group.create_task(services.approvals.wait_for_tool_approval(question.id))
        await asyncio.sleep(0)
        answered = await other.approvals.reject_tool(question.id, at_the("phone", household))

    assert waiting.result() == answered


async def test_who_waits_for_an_answer_is_let_go_when_the_server_ends(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        waiting = group.create_task(services.approvals.wait_for_tool_approval(question.id))
        await asyncio.sleep(0)
        services.room.close()

    assert waiting.result() == question


async def test_what_is_answered_is_not_waited_for(
    services: Services, approvals: ApprovalManager, household: Household
) -> None:
    question = await ask(services, household)
    answered = await approvals.reject_tool(question.id, at_the("console", household))

    async with asyncio.timeout(1):
        assert await approvals.wait_for_tool_approval(question.id) == answered
    with pytest.raises(NotFound, match="apr_none"):
        await approvals.wait_for_tool_approval(ApprovalId("apr_none"))


# Secrets


@pytest.mark.parametrize("how", ["no", "deadline"])
@pytest.mark.parametrize(
    "path",
    [
        "src/a.py",
        f"{CANARY}/a.py",
    ],
    ids=["plain path", "secret path"],
)
async def test_no_table_keeps_a_secret_beyond_the_end_of_its_call(
    services: Services,
    approvals: ApprovalManager,
    clock: FakeClock,
    household: Household,
    tmp_path: Path,
    how: str,
    path: str,
) -> None:
    question = await ask(
        services,
        household,
        path=path,
        content=f"key = '{CANARY}'\n",
        reasoning=f"the key is {CANARY}",
    )
    assert CANARY in all_tables(tmp_path)  # The client will need it.

    if how == "no":
        await approvals.reject_tool(
            question.id, at_the("console", household), reason=f"{CANARY} leaks"
        )
    else:
        clock.advance(300)
        await approvals.expire_overdue()

    assert CANARY not in all_tables(tmp_path)


# Whatever happens in whatever order

_sessions = count()
_MOVES = st.sampled_from(
    ["yes, once", "yes, the class", "yes, everything", "no", "deadline", "revoke", "use"]
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(_MOVES, max_size=8))
async def test_a_question_has_one_answer_at_most_and_its_call_the_state_to_match(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    moves: list[str],
) -> None:
    session = f"session-{next(_sessions)}"
    question = await ask(services, household, "asked", session_id=session)
    history = [question]

    for number, move in enumerate(moves):
        with suppress(Conflict):
            await make_move(services, clock, household, question, move, f"call-{number}")
        history.append(await found(store, question))
        assert (await call_of(store, question)).status is MATCHING[history[-1].status]

    answers = [kept for kept in history if kept.status is not ApprovalStatus.PENDING]
    assert answers in ([], [history[-1]] * len(answers))
    lines = await lines_of(store, household)
    assert len([line for line in lines if line.subject == question.id]) == min(1, len(answers))
    calls = await store.list_executions(
        household.project.id, status=None, agent_id=None, limit=10_000
    )
    for grant in await store.list_grants(household.project.id, session_id=question.session_id):
        used = [call for call in calls if call.approved_by == grant.id]
        assert grant.uses_left == 2 - len(used) >= 0


async def make_move(
    services: Services,
    clock: FakeClock,
    home: Household,
    question: Approval,
    move: str,
    call_id: str,
) -> None:
    decider = at_the("console", home)
    match move:
        case "yes, once":
            await services.approvals.approve_tool(question.id, decider)
        case "yes, the class":
            await services.approvals.approve_tool(question.id, decider, scope=Scope.CLASS, uses=2)
        case "yes, everything":
            await services.approvals.approve_tool(question.id, decider, scope=Scope.SESSION, uses=2)
        case "no":
            await services.approvals.reject_tool(question.id, decider)
        case "deadline":
            clock.advance(300)
            await services.approvals.expire_overdue()
        case "revoke":
            for grant in await services.grants.list_live(home.project.id):
                await services.grants.revoke(grant.id, home.user, home.project.id)
        case _:
            call = a_write(home, call_id, session_id=question.session_id)
            await services.executor.propose(call, home.agent)


@pytest.mark.parametrize("how", ["asked", "granted"])
async def test_a_read_that_is_asked_about_begins_when_it_is_approved_and_a_client_is_there(
    services: Services,
    store: SqliteStore,
    household: Household,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    monkeypatch.setattr(ReadFile, "safety_level", RiskLevel.MEDIUM)

    async def read(call_id: str) -> ToolExecution:
        pending = await services.executor.propose(a_read(household, call_id), household.agent)
        assert pending.approval_id is not None
        return await services.surveyor.accept(
            pending.approval_id, Survey(), household.client, household.project.id
        )

    with connected(services, household.client):
        call = await read("call-1")
        assert call.approval_id is not None
        scope = Scope.ONCE if how == "asked" else Scope.SESSION
        await services.approvals.approve_tool(
            call.approval_id, at_the("console", household), scope=scope
        )
        if how == "granted":
            call = await read("call-2")

    handed = await now_of(store, call.id)
    assert (handed.status, handed.client_id) == (Status.EXECUTING, household.client_id)
    assert (handed.approved_at, handed.started_at) == (handed.created_at, handed.created_at)


@pytest.mark.parametrize(
    ("earlier", "usual"), [([], None), ([30], 30), ([10, 500, 20], 20), ([10, 20], 15)]
)
async def test_a_question_says_how_long_calls_of_its_class_have_taken(
    services: Services, household: Household, earlier: list[int], usual: int | None
) -> None:
    for number, taken in enumerate(earlier):
        question = await ask(services, household, f"earlier-{number}", path=f"src/{number}.py")
        await services.approvals.approve_tool(question.id, at_the("console", household))
        with connected(services, household.client) as connection:
            await services.dispatcher.offer_open_calls(connection)
        offered = await call_of(services.store, question)
        claim = Claim(offered.epoch, KEY)
        await services.dispatcher.claim(offered.id, claim, household.client, household.project.id)
        report = replace(a_report(offered.id, epoch=None), execution_time_ms=taken)
        await services.receiver.accept(report, household.client, household.project.id)
    other = await ask(services, household, "other", path="docs/a.md")
    asked = await ask(services, household, "asked")
    assert asked.estimated_duration_ms == usual
    assert other.estimated_duration_ms is None


async def test_the_offer_of_a_class_says_how_many_earlier_calls_it_would_have_covered(
    services: Services, household: Household
) -> None:
    """Also those that were refused, and those that a grant has let pass."""
    alone = await ask(services, household, "call-1")
    refused = await ask(services, household, "call-2", path="src/b.py")
    await services.approvals.reject_tool(refused.id, at_the("console", household))
    await ask(services, household, "call-3", path="docs/a.md")
    third = await ask(services, household, "call-4", path="src/c.py")

    assert alone.past == PastCalls(0, 0)
    assert third.past == PastCalls(2, 1)
    (offer,) = (one for one in Card.of(third).offers if one.scope is Scope.CLASS)
    assert offer.past == (
        "it would have covered 2 earlier calls of this agent in this project, 1 of which you"
        " refused"
    )
    assert offer.past_calls == 2


async def test_calls_that_passed_on_a_grant_count_as_covered(
    services: Services, household: Household
) -> None:
    first = await ask(services, household, "call-1")
    approve = services.approvals.approve_tool
    await approve(first.id, at_the("console", household), scope=Scope.CLASS, uses=1)
    pending = await look(services, household, "call-2", path="src/b.py")
    assert pending.approval_id is not None
    passed = await services.surveyor.accept(
        pending.approval_id, Survey(), household.client, household.project.id
    )
    again = await ask(services, household, "call-3", path="src/c.py")

    assert passed.approved_by is not None
    assert passed.approved_by.startswith("grt_")
    assert again.past == PastCalls(2, 0)

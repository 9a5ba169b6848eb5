"""The machine is looked at before a person is asked, and what is seen binds the answer."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.audit import canonical
from handrail.core.card import NOT_SURVEYED, Card
from handrail.core.digest import digest_call
from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import ApprovalId
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.verdict import Plan
from handrail.plane.dispatch import Claim
from handrail.plane.survey import Refusal
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_waiting_call, opening
from tests.plane import stages
from tests.plane.conftest import (
    KEY,
    a_read,
    add_client,
    all_tables,
    another_process,
    ask,
    at_the,
    connected,
    lines_of,
    look,
    news_of,
    now_of,
    question_of,
    signals_to,
    with_autonomy,
)

CANARY = "sk-canarycanarycanary1234"
NOTHING_NEW = Survey({"exists": False})
Accept = Callable[..., Coroutine[Any, Any, ToolExecution]]


def saw(risk: RiskLevel, reason: str = "it can be executed") -> Survey:
    return Survey({"exists": True}, (Finding("some.rule", reason, risk),))


@pytest.fixture
def accept(services: Services, household: Household) -> Accept:
    """The household's client answers what it was asked to look at."""

    async def answer(
        pending: ToolExecution, seen: Survey | Refusal = NOTHING_NEW, home: Household = household
    ) -> ToolExecution:
        assert pending.approval_id is not None
        return await services.surveyor.accept(
            pending.approval_id, seen, home.client, home.project.id
        )

    return answer


# Looking


async def test_a_client_that_is_there_looks_before_anybody_is_asked(
    services: Services, store: SqliteStore, household: Household
) -> None:
    pending = await look(services, household)

    assert (pending.client_id, pending.epoch) == (household.client_id, 0)
    assert not pending.surveyed
    assert await now_of(store, pending.id) == pending
    assert pending.approval_id is not None
    assert await store.find_approval(pending.approval_id) is None
    (item,) = await store.read_stream(
        household.project.id, after=0, client_id=household.client_id, limit=9
    )
    assert item.event[3:] == (
        EventKind.SURVEY_REQUEST,
        pending.id,
        Status.PENDING,
        household.client_id,
        0,
    )


async def test_a_client_that_looks_is_told_the_parameters_as_they_were_sent(
    services: Services, store: SqliteStore, household: Household
) -> None:
    await look(services, household, content="token=open-sesame")

    (item,) = await store.read_stream(
        household.project.id, after=0, client_id=household.client_id, limit=9
    )

    assert item.raw_params is not None
    assert item.execution is not None
    assert json.loads(item.raw_params)["content"] == "token=open-sesame"
    assert item.execution.tool_params["content"] == "token=[masked]"


@pytest.mark.parametrize(
    ("autonomy", "tool_name", "params", "status"),
    [
        (Autonomy.SUPERVISED, "read_file", {"path": "a"}, Status.EXECUTING),
        (Autonomy.SUPERVISED, "write_file", {"path": "x.exe", "content": ""}, Status.FAILED),
        (Autonomy.READ_ONLY, "write_file", {"path": "a.py", "content": ""}, Status.FAILED),
    ],
    ids=["harmless", "forbidden", "denied"],
)
async def test_what_is_decided_by_its_words_is_not_looked_at(
    services: Services,
    store: SqliteStore,
    household: Household,
    autonomy: Autonomy,
    tool_name: str,
    params: dict[str, Any],
    status: Status,
) -> None:
    home = await with_autonomy(store, household, autonomy)
    with services.connections.open(home.client_id, home.workspace.id):
        execution = await services.executor.propose(
            a_read(home, tool_name=tool_name, **params), home.agent
        )

    assert (execution.status, execution.approval_id) == (status, None)


async def test_a_look_that_is_under_way_is_not_taken_for_an_offer(
    services: Services, store: SqliteStore, household: Household
) -> None:
    pending = await look(services, household)

    with services.connections.open(household.client_id, household.workspace.id) as connection:
        await services.dispatcher.offer_open_calls(connection)
        with pytest.raises(Conflict):
            await services.dispatcher.claim(
                pending.id, Claim(0, KEY), household.client, household.project.id
            )

    assert await now_of(store, pending.id) == pending


# What was seen


async def test_what_was_seen_is_shown_to_the_person_and_bound_to_the_answer(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    accept: Accept,
) -> None:
    pending = await look(services, household)
    seen = Survey({"exists": False}, (), "--- src/a.py\n+x = 1")
    clock.advance(1)

    waiting = await accept(pending, seen)

    words = canonical({"path": "src/a.py", "content": "x = 1\n"})
    salt, plan = household.project.digest_salt, Plan(paths=("src/a.py",))
    digest = digest_call(salt, "write_file", words, plan, seen.facts)
    assert digest != pending.digest
    assert waiting == pending._replace(
        status=Status.AWAITING_APPROVAL, digest=digest, surveyed=True, client_id=None
    )
    assert await now_of(store, pending.id) == waiting
    question = await question_of(store, waiting)
    assert (question.id, question.digest) == (pending.approval_id, digest)
    assert (question.surveyed, question.evidence) == (True, "--- src/a.py\n+x = 1")
    assert (question.created_at, question.timeout_seconds) == (clock.now(), 300)
    assert Card.of(question).notes == ()
    (line,) = await lines_of(store, household, "call.surveyed")
    assert (line.actor, line.subject) == (household.client_id, pending.id)
    assert json.loads(line.details)["digest"] == digest


async def test_the_digest_covers_the_words_as_they_were_sent_and_not_as_they_are_masked(
    services: Services, household: Household, accept: Accept
) -> None:
    pending = await look(services, household, content="token=open-sesame")

    waiting = await accept(pending)

    words = canonical({"path": "src/a.py", "content": "token=open-sesame"})
    salt, plan = household.project.digest_salt, Plan(paths=("src/a.py",))
    assert waiting.digest == digest_call(salt, "write_file", words, plan, NOTHING_NEW.facts)


async def test_the_road_from_look_to_offer_is_told_in_order(
    services: Services, store: SqliteStore, household: Household, accept: Accept
) -> None:
    waiting = await accept(await look(services, household))
    question = await question_of(store, waiting)
    with services.connections.open(household.client_id, household.workspace.id):
        await services.approvals.approve_tool(
            question.id, at_the("console", household), digest=question.digest
        )

    assert await news_of(store, household) == [
        (EventKind.SURVEY_REQUEST, Status.PENDING),
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL),
        (EventKind.APPROVAL_RESOLVED, Status.APPROVED),
        (EventKind.EXECUTION_SIGNAL, Status.APPROVED),
    ]


@pytest.mark.parametrize(
    ("path", "seen", "risk", "status"),
    [
        ("src/a.py", RiskLevel.LOW, RiskLevel.MEDIUM, Status.AWAITING_APPROVAL),
        ("src/a.py", RiskLevel.HIGH, RiskLevel.HIGH, Status.AWAITING_APPROVAL),
        ("src/a.py", RiskLevel.CRITICAL, RiskLevel.CRITICAL, Status.AWAITING_APPROVAL),
        ("src/a.py", RiskLevel.FORBIDDEN, RiskLevel.FORBIDDEN, Status.FAILED),
        ("src/run.sh", RiskLevel.LOW, RiskLevel.HIGH, Status.AWAITING_APPROVAL),
        ("src/run.sh", RiskLevel.MEDIUM, RiskLevel.HIGH, Status.AWAITING_APPROVAL),
    ],
)
async def test_what_was_seen_raises_the_risk_and_never_lowers_it(
    services: Services,
    store: SqliteStore,
    household: Household,
    accept: Accept,
    path: str,
    seen: RiskLevel,
    risk: RiskLevel,
    status: Status,
) -> None:
    pending = await look(services, household, path=path)

    judged = await accept(pending, saw(seen))

    assert (judged.status, judged.risk_level) == (status, risk)
    assert "it can be executed" in judged.reasons
    if status is Status.FAILED:
        assert (judged.error_type, judged.approval_id) == (ErrorType.DENIED, None)
        assert judged.error == "it can be executed"
        assert await store.list_approvals(household.project.id, status=None, limit=9) == []
    else:
        question = await question_of(store, judged)
        assert (question.risk_level, question.reasons) == (risk, judged.reasons)


@pytest.mark.parametrize(
    ("seen", "status", "approved_by"),
    [
        (RiskLevel.LOW, Status.APPROVED, "policy"),
        (RiskLevel.HIGH, Status.AWAITING_APPROVAL, None),
        (RiskLevel.FORBIDDEN, Status.FAILED, None),
    ],
)
async def test_even_with_full_autonomy_what_was_seen_can_bring_in_a_person(
    services: Services,
    store: SqliteStore,
    household: Household,
    accept: Accept,
    seen: RiskLevel,
    status: Status,
    approved_by: str | None,
) -> None:
    home = await with_autonomy(store, household, Autonomy.FULL)
    pending = await look(services, home)

    judged = await accept(pending, saw(seen), home)

    assert (judged.status, judged.approved_by) == (status, approved_by)
    asked = await store.list_approvals(home.project.id, status=None, limit=9)
    assert len(asked) == (1 if status is Status.AWAITING_APPROVAL else 0)


# A client that will not


async def test_what_the_client_refuses_has_failed_with_its_reason_and_nobody_is_asked(
    services: Services, store: SqliteStore, household: Household, accept: Accept
) -> None:
    pending = await look(services, household)

    failed = await accept(pending, Refusal(f"no: key {CANARY}", ErrorType.VALIDATION))

    assert (failed.status, failed.error_type) == (Status.FAILED, ErrorType.VALIDATION)
    assert failed.error == "no: key [masked]"
    assert await now_of(store, pending.id) == failed
    assert await store.list_approvals(household.project.id, status=None, limit=9) == []
    assert await news_of(store, household) == [
        (EventKind.SURVEY_REQUEST, Status.PENDING),
        (EventKind.STATUS, Status.FAILED),
    ]


async def test_the_record_of_what_nobody_was_asked_about_names_no_question(
    services: Services, household: Household, accept: Accept
) -> None:
    failed = await accept(await look(services, household), Refusal("no", ErrorType.DENIED))

    assert failed.approval_id is None


# Who may answer, and when


async def test_only_the_client_that_was_asked_may_answer(
    services: Services, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    pending = await look(services, household)
    assert pending.approval_id is not None

    for stranger in (other, household.user, household.agent):
        with pytest.raises(Conflict, match="was not given to this client"):
            await services.surveyor.accept(
                pending.approval_id, NOTHING_NEW, stranger, household.project.id
            )

    assert await now_of(store, pending.id) == pending


async def test_a_survey_is_answered_in_its_own_project(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    pending = await look(services, household)
    assert pending.approval_id is not None

    for approval_id, home in (
        (pending.approval_id, neighbour),
        (ApprovalId("apr_none"), household),
    ):
        with pytest.raises(NotFound, match=f"there is no approval '{approval_id}'"):
            await services.surveyor.accept(approval_id, NOTHING_NEW, home.client, home.project.id)


@pytest.mark.parametrize("again", [saw(RiskLevel.HIGH), Refusal("no", ErrorType.DENIED)])
async def test_what_has_been_asked_about_is_not_judged_anew(
    services: Services,
    store: SqliteStore,
    household: Household,
    accept: Accept,
    again: Survey | Refusal,
) -> None:
    pending = await look(services, household)
    waiting = await accept(pending)
    question = await question_of(store, waiting)

    with pytest.raises(Conflict, match="is awaiting_approval: the survey comes too late"):
        await accept(pending, again)

    assert await now_of(store, pending.id) == waiting
    assert await store.find_approval(question.id) == question


async def test_of_two_answers_at_once_one_counts(
    services: Services, store: SqliteStore, household: Household, accept: Accept
) -> None:
    pending = await look(services, household)

    outcomes = await asyncio.gather(
        accept(pending, NOTHING_NEW), accept(pending, saw(RiskLevel.HIGH)), return_exceptions=True
    )

    (waiting,) = (one for one in outcomes if isinstance(one, ToolExecution))
    (refused,) = (one for one in outcomes if isinstance(one, BaseException))
    assert isinstance(refused, Conflict)
    assert await now_of(store, pending.id) == waiting
    (question,) = await store.list_approvals(household.project.id, status=None, limit=9)
    assert question.digest == waiting.digest


# Without facts


async def test_after_two_seconds_a_person_is_asked_without_facts_and_told_so(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, accept: Accept
) -> None:
    pending = await look(services, household)
    clock.advance(1.999)
    await services.sweeper.sweep()
    assert await now_of(store, pending.id) == pending

    clock.advance(0.001)
    await services.sweeper.sweep()

    waiting = await now_of(store, pending.id)
    assert waiting == pending._replace(status=Status.AWAITING_APPROVAL, client_id=None)
    question = await question_of(store, waiting)
    assert (question.surveyed, question.evidence) == (False, "")
    assert question.digest == pending.digest
    assert Card.of(question).notes == (NOT_SURVEYED,)
    with pytest.raises(Conflict, match="was not given to this client"):
        await accept(pending)
    (line,) = await lines_of(store, household, "call.surveyed")
    assert line.actor == "handrail"
    assert not json.loads(line.details)["surveyed"]


async def test_a_look_that_was_under_way_when_everything_stopped_is_not_forgotten(
    services: Services, clock: FakeClock, household: Household, tmp_path: Path
) -> None:
    pending = await look(services, household, content="token=open-sesame")
    clock.advance(3600)

    async with another_process(tmp_path, clock) as other:
        await other.sweeper.sweep()

        waiting = await now_of(other.store, pending.id)
        question = await question_of(other.store, waiting)
        assert waiting.status is Status.AWAITING_APPROVAL
        assert (question.digest, question.surveyed) == (pending.digest, False)
        # The time to answer begins when somebody can.
        assert (question.created_at, question.timeout_seconds) == (clock.now(), 300)


@pytest.mark.parametrize("facts_first", [True, False])
async def test_facts_that_come_just_when_the_time_is_up_make_one_question(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    accept: Accept,
    facts_first: bool,
) -> None:
    pending = await look(services, household)
    clock.advance(2)
    racers = [accept(pending), services.surveyor.ask_without_facts()]

    outcomes = await asyncio.gather(
        *(racers if facts_first else reversed(racers)), return_exceptions=True
    )

    waiting = await now_of(store, pending.id)
    (question,) = await store.list_approvals(household.project.id, status=None, limit=9)
    refused = [one for one in outcomes if isinstance(one, BaseException)]
    assert (waiting.surveyed, waiting.digest) == (question.surveyed, question.digest)
    assert [type(one) for one in refused] == ([] if waiting.surveyed else [Conflict])
    assert len(await lines_of(store, household, "call.surveyed")) == 1


async def test_a_call_that_cannot_be_judged_any_more_keeps_nobody_from_being_asked(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    lost = a_waiting_call(household, "lost", status=Status.PENDING, tool_name="no_longer_there")
    await store.submit(opening(lost, household))
    pending = await look(services, household)
    clock.advance(2)

    await services.sweeper.sweep()

    assert (await now_of(store, pending.id)).status is Status.AWAITING_APPROVAL


async def test_a_call_that_cannot_be_judged_any_more_does_not_wait_for_ever(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    lost = a_waiting_call(household, "lost", status=Status.PENDING, tool_name="no_longer_there")
    await store.submit(opening(lost, household))
    clock.advance(3600)

    await services.sweeper.sweep()

    assert (await now_of(store, lost.id)).status is Status.FAILED


# Grants


async def say_yes(
    services: Services, home: Household, scope: Scope, call_id: str, uses: int | None = None
) -> Approval:
    question = await ask(services, home, call_id)
    return await services.approvals.approve_tool(
        question.id, at_the("console", home), scope=scope, uses=uses
    )


def grant_of(answered: Approval) -> str:
    assert answered.answer is not None
    assert answered.answer.grant_id is not None
    return answered.answer.grant_id


@pytest.mark.parametrize("given", ["before the look", "during the look"])
async def test_a_grant_found_after_the_look_lets_the_call_pass(
    services: Services, store: SqliteStore, household: Household, accept: Accept, given: str
) -> None:
    if given == "before the look":
        answered = await say_yes(services, household, Scope.CLASS, "granted")
        pending = await look(services, household)
    else:
        pending = await look(services, household)
        answered = await say_yes(services, household, Scope.CLASS, "granted")

    passed = await accept(pending)

    assert (passed.status, passed.approved_by) == (Status.APPROVED, grant_of(answered))
    assert (passed.scope, passed.surveyed) == (Scope.CLASS, True)
    assert passed.approval_id is None
    assert await now_of(store, pending.id) == passed
    *_, line = await lines_of(store, household, "call.surveyed")
    assert json.loads(line.details)["approved_by"] == grant_of(answered)


@pytest.mark.parametrize(
    ("scope", "seen", "passes"),
    [
        (Scope.CLASS, RiskLevel.MEDIUM, True),
        (Scope.CLASS, RiskLevel.HIGH, False),
        (Scope.CLASS, RiskLevel.CRITICAL, False),
        (Scope.PROJECT, RiskLevel.MEDIUM, True),
        (Scope.PROJECT, RiskLevel.HIGH, False),
        (Scope.PROJECT, RiskLevel.CRITICAL, False),
        (Scope.SESSION, RiskLevel.HIGH, True),
        (Scope.SESSION, RiskLevel.CRITICAL, False),
    ],
)
async def test_no_grant_covers_what_turns_out_to_be_riskier(
    services: Services,
    household: Household,
    accept: Accept,
    scope: Scope,
    seen: RiskLevel,
    passes: bool,
) -> None:
    await say_yes(services, household, scope, "granted")

    judged = await accept(await look(services, household), saw(seen))

    assert judged.status is (Status.APPROVED if passes else Status.AWAITING_APPROVAL)


@pytest.mark.parametrize(
    ("seen", "offers"),
    [
        (RiskLevel.MEDIUM, (Scope.ONCE, Scope.CLASS, Scope.PROJECT, Scope.SESSION)),
        (RiskLevel.HIGH, (Scope.ONCE, Scope.SESSION)),
        (RiskLevel.CRITICAL, (Scope.ONCE,)),
    ],
)
async def test_no_class_is_offered_for_what_only_the_machine_could_tell(
    services: Services,
    store: SqliteStore,
    household: Household,
    accept: Accept,
    seen: RiskLevel,
    offers: tuple[Scope, ...],
) -> None:
    waiting = await accept(await look(services, household), saw(seen))

    assert (await question_of(store, waiting)).offers == offers


async def test_when_a_grant_runs_out_meanwhile_a_person_is_asked_with_what_was_seen(
    services: Services, store: SqliteStore, household: Household, accept: Accept
) -> None:
    looks = [await look(services, household, str(number)) for number in range(3)]
    await say_yes(services, household, Scope.CLASS, "granted", uses=1)

    judged = await asyncio.gather(*(accept(pending) for pending in looks))

    assert sorted(call.status for call in judged) == [
        Status.APPROVED,
        Status.AWAITING_APPROVAL,
        Status.AWAITING_APPROVAL,
    ]
    assert all(call.surveyed for call in judged)


# Secrets


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(
            Survey(
                {"sha256": CANARY},
                (Finding("some.rule", f"saw {CANARY}", RiskLevel.FORBIDDEN),),
                f"+{CANARY}",
            ),
            id="denied",
        ),
        pytest.param(Refusal(f"{CANARY} is no good", ErrorType.DENIED), id="refused"),
        pytest.param(
            Survey(
                {"sha256": CANARY},
                (Finding("some.rule", f"saw {CANARY}", RiskLevel.HIGH),),
                f"-old\n+key = '{CANARY}'",
            ),
            id="asked",
        ),
    ],
)
async def test_no_table_keeps_a_secret_that_was_seen(
    services: Services,
    household: Household,
    accept: Accept,
    tmp_path: Path,
    seen: Survey | Refusal,
) -> None:
    pending = await look(services, household, content=CANARY, reasoning=f"for {CANARY}")
    assert CANARY in all_tables(tmp_path)  # The client needs it.

    judged = await accept(pending, seen)
    if judged.status is Status.AWAITING_APPROVAL:
        question = await question_of(services.store, judged)
        await services.approvals.reject_tool(question.id, at_the("console", household))

    assert CANARY not in all_tables(tmp_path)


async def test_what_was_seen_is_answered_like_any_other_question(
    services: Services, store: SqliteStore, household: Household, accept: Accept
) -> None:
    pending = await look(services, household)
    waiting = await accept(pending)
    question = await question_of(store, waiting)

    with pytest.raises(Conflict, match="not the call that you were shown"):
        # The digest of the words alone is no longer what is asked about.
        await services.approvals.approve_tool(
            question.id, at_the("console", household), digest=pending.digest
        )
    answered = await services.approvals.approve_tool(
        question.id, at_the("console", household), digest=waiting.digest
    )

    assert answered.status is ApprovalStatus.APPROVED
    assert replace(answered, status=ApprovalStatus.PENDING, answer=None) == question


# Judging again what was approved


async def test_an_approved_call_that_would_do_something_else_is_asked_about_again(
    services: Services, store: SqliteStore, household: Household
) -> None:
    offer = await stages.offered(services, household)

    waiting = await judge_again(services, household, offer, saw(RiskLevel.HIGH))

    assert (waiting.status, waiting.risk_level) == (Status.AWAITING_APPROVAL, RiskLevel.HIGH)
    assert (waiting.approved_by, waiting.scope, waiting.approved_at) == (None, None, None)
    assert await now_of(store, offer.id) == waiting
    question = await question_of(store, waiting)
    assert question.id != offer.approval_id
    assert (question.status, question.surveyed) == (ApprovalStatus.PENDING, True)
    assert "it can be executed" in question.reasons
    assert offer.approval_id is not None
    first = await store.find_approval(offer.approval_id)
    assert first is not None
    assert first.status is ApprovalStatus.APPROVED
    (line,) = await lines_of(store, household, "call.judged_again")
    assert (line.actor, line.subject) == (household.client_id, offer.id)


async def test_a_second_no_ends_a_call_that_was_asked_about_again(
    services: Services, store: SqliteStore, household: Household
) -> None:
    offer = await stages.offered(services, household)
    waiting = await judge_again(services, household, offer, saw(RiskLevel.HIGH))
    question = await question_of(store, waiting)

    await services.approvals.reject_tool(question.id, at_the("console", household))

    ended = await now_of(store, offer.id)
    assert (ended.status, ended.approved_by) == (Status.REJECTED, None)


async def test_an_approved_call_that_needs_no_question_any_more_is_offered_again(
    services: Services, store: SqliteStore, household: Household
) -> None:
    offer = await stages.offered(services, household)

    with connected(services, household.client):
        again = await judge_again(services, household, offer, Survey({}, changes_nothing=True))

    assert (again.status, again.approved_by) == (Status.APPROVED, "policy")
    assert again.epoch > offer.epoch
    assert await now_of(store, offer.id) == again
    signals = await signals_to(store, household, household.client)
    assert [signal.epoch for signal in signals] == [offer.epoch, again.epoch]


async def test_only_the_offer_that_a_call_has_now_can_be_judged_again(
    services: Services, store: SqliteStore, household: Household
) -> None:
    offer = await stages.offered(services, household)
    stranger = await add_client(store, household)
    begun = await stages.begun(services, household, "call-2", path="b.py")

    for call, client, epoch in (
        (offer, household.client, offer.epoch - 1),
        (offer, stranger, offer.epoch),
        (begun, household.client, begun.epoch),
    ):
        with pytest.raises(Conflict, match="not offered to this client under epoch"):
            await services.surveyor.accept_again(
                call.id, epoch, NOTHING_NEW, client, household.project.id
            )
    assert await now_of(store, offer.id) == offer
    assert await now_of(store, begun.id) == begun


async def judge_again(
    services: Services, home: Household, offer: ToolExecution, seen: Survey
) -> ToolExecution:
    return await services.surveyor.accept_again(
        offer.id, offer.epoch, seen, home.client, home.project.id
    )

"""What every store promises about questions, answers and grants."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from handrail.bus.local import LocalBus
from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.audit import AuditRecord, find_break
from handrail.core.change import (
    Add,
    Advance,
    Change,
    Rejudge,
    Resolve,
    Step,
)
from handrail.core.errors import ChangeRefused, ErrorType, NotFound
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import CallClass, Grant, PastCalls, Scope
from handrail.core.grant_steps import RevokeGrant, UseGrant
from handrail.core.ids import ApprovalId, ExecutionId, GrantId, ProjectId, SessionId
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect
from handrail.store.schema import raw_params
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import (
    OpenStore,
    a_call,
    a_grant,
    a_question,
    a_waiting_call,
    answering,
    asking,
    moving,
    opening,
    tell,
)

RAW = '{"content":"token=open-sesame","path":"src/a.py"}'
WHATEVER = Answer(by="ada", channel="console", at=FakeClock().now())


async def ask(
    store: SqliteStore, home: Household, call_id: str = "call-1", **fields: Any
) -> tuple[ToolExecution, Approval]:
    call = a_waiting_call(home, call_id)
    question = a_question(call, **fields)
    await store.submit(asking(call, question, home))
    return call, question


async def give(store: SqliteStore, home: Household, **fields: Any) -> Grant:
    grant = a_grant(home, **fields)
    await store.submit(Change(home.project.id, home.project.created_at, (Add(grant),)))
    return grant


async def refused(
    store: SqliteStore, home: Household, *steps: Step, after_seconds: int = 0
) -> None:
    at = home.project.created_at + timedelta(seconds=after_seconds)
    line = AuditRecord("it.happened", "somebody", "something")
    with pytest.raises(ChangeRefused):
        await store.submit(Change(home.project.id, at, steps, audit=(line,)))


async def state_of(store: SqliteStore, home: Household) -> list[Any]:
    """All that a change about questions can leave behind, for comparing before and after."""
    project_id = home.project.id
    return [
        await store.list_approvals(project_id, status=None, limit=1000),
        await store.list_executions(project_id, status=None, agent_id=None, limit=1000),
        await store.list_grants(project_id, session_id=None),
        await store.read_stream(project_id, after=0, client_id=None, limit=1000),
        await store.read_audit(project_id, after=0, limit=1000),
    ]


# Coming back


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="plain"),
        pytest.param(
            {
                "tool_params": {"path": "ü", "deep": [1, 2.5, None, {"x": True}]},
                "reasons": ("one", "zwei: ß\n"),
                "reasoning": "because\nof \x00 this",
                "description": "Write 3 lines to ü",
                "evidence": "--- a\n+++ b\n+\x1b[31m\u202e",
                "risk_level": RiskLevel.CRITICAL,
                "surveyed": True,
                "timeout_seconds": 3600,
            },
            id="full",
        ),
        pytest.param({"call_class": None, "reasoning": None, "reasons": ()}, id="bare"),
        pytest.param({"call_class": CallClass("", "")}, id="a-class-of-few-words"),
    ],
)
async def test_a_question_comes_back_as_it_was_stored(
    store: SqliteStore, household: Household, open_store: OpenStore, fields: dict[str, Any]
) -> None:
    _, question = await ask(store, household, **fields)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_approval(question.id) == question


@pytest.mark.parametrize("status", [s for s in ApprovalStatus if s is not ApprovalStatus.PENDING])
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="plain"),
        pytest.param(
            {"scope": Scope.CLASS, "reason": "nein: ß", "grant_id": GrantId("grt_1")}, id="full"
        ),
    ],
)
async def test_an_answer_comes_back_as_it_was_given(
    store: SqliteStore,
    household: Household,
    open_store: OpenStore,
    status: ApprovalStatus,
    fields: dict[str, Any],
) -> None:
    _, question = await ask(store, household)
    answer = replace(WHATEVER, at=question.created_at + timedelta(microseconds=1), **fields)
    resolved = question.resolve(status, answer)

    await store.submit(Change(household.project.id, answer.at, (Resolve(resolved),)))

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_approval(question.id) == resolved


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="class"),
        pytest.param({"class_key": None, "max_risk": RiskLevel.HIGH}, id="session"),
        pytest.param({"uses_left": 3, "words": "Schriften: ß"}, id="with-uses"),
    ],
)
async def test_a_grant_comes_back_as_it_was_stored(
    store: SqliteStore, household: Household, open_store: OpenStore, fields: dict[str, Any]
) -> None:
    at = household.project.created_at
    grant = await give(store, household, expires_at=at + timedelta(days=20_000), **fields)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_grant(grant.id) == grant
        assert await reader.list_grants(household.project.id, session_id=None) == [grant]


async def test_a_call_comes_back_with_who_let_it_pass(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call, question = await ask(store, household)
    await store.submit(answering(question, call, approved=True))

    for reader in (store, await open_store(LocalBus())):
        found = await reader.find_execution(call.id)
        assert found is not None
        assert (found.status, found.approved_by, found.scope) == (
            Status.APPROVED,
            "ada",
            Scope.ONCE,
        )


async def test_what_is_not_there_is_not_found(store: SqliteStore, household: Household) -> None:
    nowhere = ProjectId("prj_none")

    assert await store.find_approval(ApprovalId("apr_none")) is None
    assert await store.find_grant(GrantId("grt_none")) is None
    assert await store.find_execution_of(ApprovalId("apr_none")) is None
    assert await store.list_approvals(nowhere, status=None, limit=9) == []
    assert await store.list_grants(nowhere, session_id=None) == []
    assert await store.list_overdue(household.project.created_at) == []
    assert await store.list_unsurveyed(household.project.created_at) == []
    with pytest.raises(NotFound, match="there is no execution exe_none"):
        await store.read_raw_params(a_call(household, id=ExecutionId("exe_none")))


@pytest.mark.parametrize("kind", ["question", "grant"])
async def test_what_is_there_already_cannot_be_added_again(
    store: SqliteStore, household: Household, kind: str
) -> None:
    _, question = await ask(store, household)
    grant = await give(store, household)
    before = await state_of(store, household)
    again = {
        "question": replace(question, description="something else"),
        "grant": replace(grant, uses_left=99),
    }[kind]

    await refused(store, household, Add(again))

    assert await state_of(store, household) == before


# The first answer


async def test_of_two_answers_the_first_counts(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call, question = await ask(store, household)
    await store.submit(answering(question, call, approved=False, by="ada"))
    before = await state_of(store, household)

    with pytest.raises(ChangeRefused):
        await store.submit(answering(question, call, approved=True, by="ben"))

    assert await state_of(store, household) == before
    assert await state_of(await open_store(LocalBus()), household) == before


@pytest.mark.parametrize("stores", [1, 2], ids=["one process", "two processes"])
async def test_of_many_answers_at_once_exactly_one_counts(
    store: SqliteStore, household: Household, open_store: OpenStore, stores: int
) -> None:
    call, question = await ask(store, household)
    writers = [store, *[await open_store(LocalBus()) for _ in range(stores - 1)]]
    changes = [
        answering(question, call, approved=number % 2 == 0, by=f"person-{number}")
        for number in range(10)
    ]

    outcomes = await asyncio.gather(
        *(writers[number % stores].submit(change) for number, change in enumerate(changes)),
        return_exceptions=True,
    )

    assert outcomes.count(None) == 1
    assert [type(outcome) for outcome in outcomes].count(ChangeRefused) == 9
    winner = changes[outcomes.index(None)]
    (resolve, advance) = winner.steps
    assert isinstance(resolve, Resolve)
    assert isinstance(advance, Advance)
    reader = await open_store(LocalBus())
    assert await reader.find_approval(question.id) == resolve.approval
    assert await reader.find_execution(call.id) == advance.after
    lines = await reader.read_audit(household.project.id, after=0, limit=100)
    assert [line.action for line in lines].count(winner.audit[0].action) == 1
    assert find_break(lines) is None


async def test_an_answer_to_a_question_nobody_asked_is_refused(
    store: SqliteStore, household: Household
) -> None:
    question = a_question(a_waiting_call(household))

    await refused(store, household, Resolve(question.resolve(ApprovalStatus.APPROVED, WHATEVER)))


# Whole or not at all


async def test_an_answer_is_not_stored_when_its_call_has_moved_on(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call, question = await ask(store, household)
    failed = call.fail(ErrorType.CANCELLED, "stopped", call.created_at)
    await store.submit(moving(Advance(call, failed)))
    before = await state_of(store, household)

    with pytest.raises(ChangeRefused):
        await store.submit(answering(question, call, approved=True))

    for reader in (store, await open_store(LocalBus())):
        assert await state_of(reader, household) == before
        assert await reader.find_approval(question.id) == question
        assert await reader.find_execution(call.id) == failed


async def test_a_call_does_not_move_when_its_question_was_answered(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    gone = question.resolve(ApprovalStatus.WITHDRAWN, WHATEVER)
    await store.submit(Change(household.project.id, WHATEVER.at, (Resolve(gone),)))
    before = await state_of(store, household)

    with pytest.raises(ChangeRefused):
        await store.submit(answering(question, call, approved=True))

    assert await state_of(store, household) == before
    assert await store.find_execution(call.id) == call


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"uses_left": 0}, id="used-up"),
        pytest.param({"revoked_at": FakeClock().now()}, id="revoked"),
        pytest.param({"expires_at": FakeClock().now()}, id="expired"),
    ],
)
async def test_nothing_of_a_change_is_stored_when_its_grant_is_dead(
    store: SqliteStore, household: Household, spoilt: dict[str, Any]
) -> None:
    call, question = await ask(store, household)
    dead = await give(store, household, **spoilt)
    fresh = a_grant(household)
    before = await state_of(store, household)
    change = answering(question, call, approved=True)

    with pytest.raises(ChangeRefused):
        await store.submit(
            replace(change, steps=(*change.steps, Add(fresh), UseGrant(dead, dead.session_id)))
        )

    assert await state_of(store, household) == before


async def test_a_question_is_not_stored_when_its_call_cannot_be(
    store: SqliteStore, household: Household
) -> None:
    call, _ = await ask(store, household)
    twin = a_waiting_call(household, call.call_id)
    question = a_question(twin)
    before = await state_of(store, household)

    with pytest.raises(ChangeRefused):
        await store.submit(asking(twin, question, household))

    assert await store.find_approval(question.id) is None
    assert await state_of(store, household) == before


# Grants


@pytest.mark.parametrize(("uses", "left"), [(None, None), (3, 2), (1, 0)])
async def test_each_use_is_counted_down_unless_there_is_no_end_to_them(
    store: SqliteStore,
    household: Household,
    open_store: OpenStore,
    uses: int | None,
    left: int | None,
) -> None:
    grant = await give(store, household, uses_left=uses)

    await store.submit(
        Change(household.project.id, grant.created_at, (UseGrant(grant, grant.session_id),))
    )

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_grant(grant.id) == replace(grant, uses_left=left)


@pytest.mark.parametrize("stores", [1, 2], ids=["one process", "two processes"])
async def test_a_grant_is_never_used_more_often_than_it_says(
    store: SqliteStore, household: Household, open_store: OpenStore, stores: int
) -> None:
    grant = await give(store, household, uses_left=3)
    writers = [store, *[await open_store(LocalBus()) for _ in range(stores - 1)]]
    use = Change(household.project.id, grant.created_at, (UseGrant(grant, grant.session_id),))

    outcomes = await asyncio.gather(
        *(writers[number % stores].submit(use) for number in range(10)), return_exceptions=True
    )

    assert outcomes.count(None) == 3
    assert await store.find_grant(grant.id) == replace(grant, uses_left=0)


@pytest.mark.parametrize(
    ("fields", "after_seconds"),
    [
        pytest.param({"uses_left": 0}, 0, id="used-up"),
        pytest.param({"revoked_at": FakeClock().now()}, 0, id="revoked"),
        pytest.param({"expires_at": FakeClock().now() + timedelta(seconds=5)}, 5, id="expired"),
    ],
)
async def test_a_dead_grant_cannot_be_used(
    store: SqliteStore, household: Household, fields: dict[str, Any], after_seconds: int
) -> None:
    grant = await give(store, household, **fields)

    await refused(store, household, UseGrant(grant, grant.session_id), after_seconds=after_seconds)

    assert await store.find_grant(grant.id) == grant


async def test_a_grant_may_be_used_until_the_moment_it_expires(
    store: SqliteStore, household: Household
) -> None:
    end = household.project.created_at + timedelta(seconds=5)
    grant = await give(store, household, expires_at=end)
    just_before = end - timedelta(microseconds=1)

    await store.submit(
        Change(household.project.id, just_before, (UseGrant(grant, grant.session_id),))
    )


async def test_a_grant_is_revoked_once_and_covers_nothing_since(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    grant = await give(store, household, uses_left=5)
    at = grant.created_at + timedelta(seconds=9)
    await store.submit(Change(household.project.id, at, (RevokeGrant(grant),)))

    await refused(store, household, RevokeGrant(grant), after_seconds=20)
    await refused(store, household, UseGrant(grant, grant.session_id), after_seconds=20)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_grant(grant.id) == grant.revoke(at)


async def test_grants_are_listed_by_session_oldest_first_and_never_for_others(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    later = await give(store, household, created_at=at + timedelta(seconds=2))
    first = await give(store, household)
    other = await give(
        store, household, session_id=SessionId("other"), created_at=at + timedelta(seconds=1)
    )
    foreign = await give(store, neighbour)

    async def listed(home: Household, session_id: str | None) -> list[Grant]:
        session = None if session_id is None else SessionId(session_id)
        return await store.list_grants(home.project.id, session_id=session)

    assert await listed(household, "session-1") == [first, later]
    assert await listed(household, "other") == [other]
    assert await listed(household, None) == [first, other, later]
    assert await listed(neighbour, None) == [foreign]


async def test_lasting_answers_are_listed_for_their_agent_until_they_are_revoked(
    store: SqliteStore, clock: FakeClock, household: Household, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    project_id, at = household.project.id, household.project.created_at
    lasting = await give(store, household, agent_id="agt_1")
    later = await give(
        store,
        household,
        agent_id="agt_1",
        created_at=at + timedelta(seconds=1),
        session_id=SessionId("o"),
    )
    revoked = await give(store, household, agent_id="agt_1")
    await store.submit(Change(project_id, at, (RevokeGrant(revoked),)))
    await give(store, household, agent_id="agt_2")
    await give(store, household)
    await give(store, neighbour, agent_id="agt_1")

    for reader in (store, await open_store(LocalBus())):
        assert await reader.list_lasting(project_id, "agt_1") == [lasting, later]
        assert await reader.list_lasting(project_id, "agt_3") == []


# Looking for questions


async def test_questions_are_listed_newest_first_by_status_and_project(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    await ask(store, neighbour)
    at = household.project.created_at
    asked = [
        await ask(store, household, f"call-{number}", created_at=at + timedelta(seconds=number))
        for number in range(4)
    ]
    call, first = asked[0]
    change = answering(first, call, approved=True)
    await store.submit(change)
    (resolve, _) = change.steps
    assert isinstance(resolve, Resolve)

    async def listed(status: ApprovalStatus | None, limit: int = 10) -> list[Approval]:
        return await store.list_approvals(household.project.id, status=status, limit=limit)

    still_open = [asked[3][1], asked[2][1], asked[1][1]]
    assert await listed(None) == [*still_open, resolve.approval]
    assert await listed(ApprovalStatus.PENDING) == still_open
    assert await listed(ApprovalStatus.APPROVED) == [resolve.approval]
    assert await listed(ApprovalStatus.REJECTED) == []
    assert await listed(None, 2) == still_open[:2]


async def test_overdue_are_the_open_questions_of_all_whose_time_has_passed(
    store: SqliteStore, clock: FakeClock, household: Household, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    _, later = await ask(store, household, "later", expires_at=at + timedelta(seconds=20))
    _, sooner = await ask(store, neighbour, "sooner", expires_at=at + timedelta(seconds=10))
    answered_call, answered = await ask(
        store, household, "answered", expires_at=at + timedelta(seconds=1)
    )
    await store.submit(answering(answered, answered_call, approved=False))

    for reader in (store, await open_store(LocalBus())):
        overdue = [
            [question.id for question in await reader.list_overdue(at + timedelta(seconds=after))]
            for after in (9, 10, 19, 20)
        ]
        assert overdue == [[], [sooner.id], [sooner.id], [sooner.id, later.id]]


async def test_unsurveyed_are_the_pending_calls_of_all_since_before_a_moment(
    store: SqliteStore, clock: FakeClock, household: Household, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    young = a_waiting_call(
        household, "young", status=Status.PENDING, created_at=at + timedelta(seconds=5)
    )
    old = a_waiting_call(neighbour, "old", status=Status.PENDING)
    await store.submit(opening(young, household))
    await store.submit(opening(old, neighbour))
    await ask(store, household, "asked")

    for reader in (store, await open_store(LocalBus())):
        assert await reader.list_unsurveyed(at - timedelta(microseconds=1)) == []
        assert await reader.list_unsurveyed(at) == [old]
        assert await reader.list_unsurveyed(at + timedelta(seconds=5)) == [old, young]


async def test_the_call_of_a_question_is_found_also_before_it_is_asked(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    pending = a_waiting_call(household, "pending", status=Status.PENDING)
    await store.submit(opening(pending, household))
    call, question = await ask(store, household, "asked")

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_execution_of(question.id) == call
        assert pending.approval_id is not None
        assert await reader.find_execution_of(pending.approval_id) == pending


# A new judgement


async def test_a_new_judgement_replaces_risk_reasons_and_digest(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    pending = a_waiting_call(household, status=Status.PENDING, client_id=household.client_id)
    await store.submit(opening(pending, household))
    after = pending.advance(Status.AWAITING_APPROVAL, pending.created_at)._replace(
        risk_level=RiskLevel.HIGH,
        reasons=("it can be executed",),
        digest="judged anew",
        surveyed=True,
        client_id=None,
    )
    question = a_question(after)

    await store.submit(
        Change(after.project_id, after.created_at, (Rejudge(pending, after), Add(question)))
    )

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_execution(pending.id) == after
        assert await reader.find_approval(question.id) == question


@pytest.mark.parametrize(
    "otherwise",
    [{"status": Status.AWAITING_APPROVAL}, {"epoch": 1}],
    ids=["moved on", "offered anew"],
)
async def test_a_new_judgement_of_what_has_moved_on_is_refused(
    store: SqliteStore, household: Household, otherwise: dict[str, Any]
) -> None:
    pending = a_waiting_call(household, status=Status.PENDING)
    after = pending.advance(Status.AWAITING_APPROVAL, pending.created_at)
    found = pending._replace(**otherwise)
    await store.submit(opening(found, household))

    await refused(store, household, Rejudge(pending, after), Add(a_question(after)))

    assert await store.find_execution(pending.id) == found
    assert await store.find_approval(a_question(after).id) is None


# Raw parameters


@pytest.mark.parametrize(
    "end",
    [Status.REJECTED, Status.TIMEOUT, Status.FAILED],
)
async def test_raw_parameters_are_readable_until_the_end_and_gone_after(
    store: SqliteStore, household: Household, open_store: OpenStore, end: Status
) -> None:
    call = a_waiting_call(household, tool_params={"path": "src/a.py", "content": "token=…"})
    question = a_question(call)
    await store.submit(asking(call, question, household, RAW))
    for reader in (store, await open_store(LocalBus())):
        assert await reader.read_raw_params(call) == RAW

    over = call.advance(end, call.created_at)
    await store.submit(moving(Advance(call, over)))

    for reader in (store, await open_store(LocalBus())):
        assert "open-sesame" not in await reader.read_raw_params(over)
        assert await reader._fetch(select(raw_params)) == []


async def test_a_judgement_that_ends_a_call_erases_its_raw_parameters(
    store: SqliteStore, household: Household
) -> None:
    pending = a_waiting_call(household, status=Status.PENDING)
    await store.submit(opening(pending, household, RAW))
    failed = pending.fail(ErrorType.DENIED, "no", pending.created_at)

    await store.submit(Change(failed.project_id, failed.created_at, (Rejudge(pending, failed),)))

    assert "open-sesame" not in await store.read_raw_params(failed)
    assert store._recent._raw_params == {}


async def test_where_nothing_was_masked_the_record_is_raw(
    store: SqliteStore, household: Household
) -> None:
    call, _ = await ask(store, household)

    assert json.loads(await store.read_raw_params(call)) == call.tool_params


async def test_a_yes_keeps_the_raw_parameters_for_whoever_executes(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call = a_waiting_call(household, effect=Effect.CHANGE)
    question = a_question(call)
    await store.submit(asking(call, question, household, RAW))

    await store.submit(answering(question, call, approved=True))

    for reader in (store, await open_store(LocalBus())):
        assert await reader.read_raw_params(call) == RAW


# Memory


async def test_memory_and_disk_tell_the_same_story_of_a_question(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    pending = a_waiting_call(household, status=Status.PENDING, client_id=household.client_id)
    looking = replace(
        opening(pending, household, RAW), events=(tell(pending, EventKind.SURVEY_REQUEST),)
    )
    waiting = pending.advance(Status.AWAITING_APPROVAL, pending.created_at)._replace(
        client_id=None, digest="judged anew", surveyed=True
    )
    question = a_question(waiting)
    judged = Change(
        waiting.project_id,
        waiting.created_at,
        (Rejudge(pending, waiting), Add(question)),
        (tell(waiting, EventKind.APPROVAL_REQUEST),),
    )

    for change in (looking, judged, answering(question, waiting, approved=False)):
        await store.submit(change)
        fresh = await open_store(LocalBus())
        assert await state_of(store, household) == await state_of(fresh, household)
        assert await store.find_execution(pending.id) == await fresh.find_execution(pending.id)


async def test_calls_of_a_class_are_counted_in_their_project_and_up_to_their_risk(
    store: SqliteStore, household: Household
) -> None:
    for number, (kind, risk) in enumerate(
        [
            ("command:write:git add", RiskLevel.LOW),
            ("command:write:git add", RiskLevel.MEDIUM),
            ("command:write:git add", RiskLevel.HIGH),
            ("command:write:git add", RiskLevel.CRITICAL),
            ("command:net:git add", RiskLevel.MEDIUM),
            (None, RiskLevel.MEDIUM),
        ]
    ):
        call = a_waiting_call(household, f"call-{number}", class_key=kind, risk_level=risk)
        await store.submit(asking(call, a_question(call), household))
    counted = {
        risk: await store.count_of_class(
            a_waiting_call(household, "asked", risk_level=risk), "command:write:git add"
        )
        for risk in RiskLevel
    }
    assert [past.calls for past in counted.values()] == [1, 2, 3, 3, 3]
    assert {past.refused for past in counted.values()} == {0}

    other = a_waiting_call(household, "asked")._replace(agent_id="agt_other")
    assert await store.count_of_class(other, "command:write:git add") == PastCalls(0, 0)
    stranger = await settle_in(store, FakeClock(), "ben", "/ben")
    elsewhere = a_waiting_call(stranger, "asked")
    assert await store.count_of_class(elsewhere, "command:write:git add") == PastCalls(0, 0)


async def test_a_call_is_not_counted_for_itself_and_a_refusal_is_told_apart(
    store: SqliteStore, household: Household
) -> None:
    kind = "command:write:git add"
    call = a_waiting_call(household, "call-1", class_key=kind)
    question = a_question(call)
    await store.submit(asking(call, question, household))
    assert await store.count_of_class(call, kind) == PastCalls(0, 0)

    await store.submit(answering(question, call, approved=False))
    other = a_waiting_call(household, "call-2")
    assert await store.count_of_class(other, kind) == PastCalls(1, 1)


async def test_what_was_counted_stays_with_the_question(
    store: SqliteStore, household: Household
) -> None:
    _, question = await ask(store, household, past=PastCalls(12, 3))
    assert await store.find_approval(question.id) == question

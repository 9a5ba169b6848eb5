"""A grant lets pass exactly what it names, as often as it says, until it is taken back."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.audit import find_break
from handrail.core.errors import BadInput, Conflict, NotFound
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Grant, Scope
from handrail.core.ids import CallId, GrantId, SessionId
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolCall
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane.conftest import (
    a_write,
    another_process,
    ask,
    at_the,
    call_of,
    lines_of,
    look,
    news_of,
    now_of,
    question_of,
)


async def grant(
    services: Services, home: Household, scope: Scope = Scope.CLASS, **limits: Any
) -> Grant:
    """What a person gives who is asked about `src/a.py` and says yes to more than that."""
    question = await ask(services, home, "granted")
    answered = await services.approvals.approve_tool(
        question.id, at_the("console", home), scope=scope, **limits
    )
    assert answered.answer is not None
    assert answered.answer.grant_id is not None
    given = await services.store.find_grant(answered.answer.grant_id)
    assert given is not None
    return given


async def propose(
    services: Services, home: Household, call_id: str = "next", **words: Any
) -> ToolExecution:
    return await services.executor.propose(a_write(home, call_id, **words), home.agent)


async def used(store: SqliteStore, given: Grant) -> Grant:
    found = await store.find_grant(given.id)
    assert found is not None
    return found


# Giving


@pytest.mark.parametrize(
    ("scope", "class_key", "words", "most"),
    [
        (Scope.CLASS, "write_file:src/**/*.py", "writes to src/**/*.py", RiskLevel.MEDIUM),
        (Scope.SESSION, None, "every call in this session, except network access", RiskLevel.HIGH),
    ],
)
async def test_a_wider_yes_leaves_a_grant_behind(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    scope: Scope,
    class_key: str | None,
    words: str,
    most: RiskLevel,
) -> None:
    given = await grant(services, household, scope, uses=5, expires_in_seconds=60)

    question = await store.find_approval(given.approval_id)
    assert question is not None
    assert given == Grant(
        id=given.id,
        project_id=household.project.id,
        session_id=question.session_id,
        class_key=class_key,
        words=words,
        max_risk=most,
        uses_left=5,  # The call that was asked about passes on the answer itself.
        expires_at=clock.now() + timedelta(seconds=60),
        approval_id=question.id,
        granted_by=household.user.user_id,
        created_at=clock.now(),
    )
    call = await call_of(store, question)
    assert (call.approved_by, call.scope) == ("ada", scope)
    (line,) = await lines_of(store, household, "approval.approved")
    assert json.loads(line.details)["grant"] == given.id


# Passing


@pytest.mark.parametrize("scope", [Scope.CLASS, Scope.SESSION])
async def test_a_call_that_a_grant_covers_passes_and_its_record_names_the_grant(
    services: Services, store: SqliteStore, household: Household, scope: Scope
) -> None:
    given = await grant(services, household, scope)

    passed = await propose(services, household, path="src/deep/b.py")

    assert (passed.status, passed.approval_id) == (Status.APPROVED, None)
    assert (passed.approved_by, passed.scope) == (given.id, scope)
    assert (passed.risk_level, passed.requires_approval) == (RiskLevel.MEDIUM, True)
    assert await now_of(store, passed.id) == passed
    assert await services.approvals.get_pending_approvals(household.project.id) == []
    assert (await news_of(store, household))[-1] == (EventKind.STATUS, Status.APPROVED)
    line = (await lines_of(store, household, "call.proposed"))[-1]
    assert line.subject == passed.id
    assert json.loads(line.details)["approved_by"] == given.id


@pytest.mark.parametrize(
    ("words", "by_class", "by_session"),
    [
        pytest.param({"path": "src/a.py"}, True, True, id="the-very-same"),
        pytest.param({"path": "src/b/c.py"}, True, True, id="same-class"),
        pytest.param({"path": "src/a.md"}, False, True, id="other-kind"),
        pytest.param({"path": "docs/a.py"}, False, True, id="other-folder"),
        pytest.param({"path": "a.py"}, False, True, id="top-folder"),
        pytest.param({"path": "src/run.sh"}, False, True, id="riskier"),
        pytest.param({"path": "src/conftest.py"}, False, True, id="riskier-of-that-kind"),
        pytest.param({"session_id": "other"}, False, False, id="other-session"),
    ],
)
@pytest.mark.parametrize("scope", [Scope.CLASS, Scope.SESSION])
async def test_a_grant_covers_what_it_names_and_nothing_else(
    services: Services,
    household: Household,
    words: dict[str, Any],
    by_class: bool,
    by_session: bool,
    scope: Scope,
) -> None:
    await grant(services, household, scope)

    execution = await propose(services, household, **words)

    passes = by_class if scope is Scope.CLASS else by_session
    assert execution.status is (Status.APPROVED if passes else Status.AWAITING_APPROVAL)


@pytest.mark.parametrize("scope", [Scope.CLASS, Scope.SESSION])
async def test_no_grant_lets_pass_what_is_forbidden(
    services: Services, household: Household, scope: Scope
) -> None:
    await grant(services, household, scope)

    assert (await propose(services, household, path="src/x.exe")).status is Status.FAILED


async def test_the_same_session_name_in_another_project_is_another_session(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    await grant(services, household, Scope.SESSION)

    assert (await propose(services, neighbour)).status is Status.AWAITING_APPROVAL


async def test_of_two_grants_the_narrower_is_used(
    services: Services, store: SqliteStore, household: Household
) -> None:
    script = await ask(services, household, "script", path="src/run.sh")
    source = await ask(services, household, "source")
    narrow = await services.approvals.approve_tool(
        source.id, at_the("console", household), scope=Scope.CLASS
    )
    wide = await services.approvals.approve_tool(
        script.id, at_the("console", household), scope=Scope.SESSION
    )
    assert narrow.answer is not None
    assert wide.answer is not None

    by_class = await propose(services, household, "1", path="src/b.py")
    by_session = await propose(services, household, "2", path="docs/b.md")

    assert by_class.approved_by == narrow.answer.grant_id
    assert by_session.approved_by == wide.answer.grant_id


async def test_a_grant_outlives_the_process_that_gave_it(
    services: Services, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    given = await grant(services, household, uses=1)

    async with another_process(tmp_path, clock) as other:
        passed = await propose(other, household, "1")
        asked = await propose(other, household, "2")

    assert passed.approved_by == given.id
    assert asked.status is Status.AWAITING_APPROVAL


# Limits


async def test_a_grant_that_has_expired_covers_nothing(
    services: Services, clock: FakeClock, household: Household
) -> None:
    await grant(services, household, expires_in_seconds=60)
    clock.advance(59)
    in_time = await propose(services, household, "1")
    clock.advance(1)
    too_late = await propose(services, household, "2")

    assert (in_time.status, too_late.status) == (Status.APPROVED, Status.AWAITING_APPROVAL)
    assert await services.grants.list_live(household.project.id) == []


async def test_a_grant_is_used_once_for_each_call_and_no_more_often_than_it_says(
    services: Services, store: SqliteStore, household: Household
) -> None:
    given = await grant(services, household, uses=2)

    statuses = [(await propose(services, household, str(n))).status for n in (1, 1, 2, 2, 3, 4)]

    # Asking again is the same call, not another use.
    assert statuses == [Status.APPROVED] * 4 + [Status.AWAITING_APPROVAL] * 2
    assert (await used(store, given)).uses_left == 0


@pytest.mark.parametrize("processes", [1, 2])
async def test_of_ten_calls_at_once_exactly_as_many_pass_as_the_grant_has_uses(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    tmp_path: Path,
    processes: int,
) -> None:
    given = await grant(services, household, uses=3)

    async with another_process(tmp_path, clock) as other:
        planes = [services, services if processes == 1 else other]
        calls = await asyncio.gather(
            *(propose(planes[number % 2], household, f"call-{number}") for number in range(10))
        )

    statuses = [call.status for call in calls]
    assert statuses.count(Status.APPROVED) == 3
    assert statuses.count(Status.AWAITING_APPROVAL) == 7
    assert [call.approved_by for call in calls].count(given.id) == 3
    assert (await used(store, given)).uses_left == 0
    lines = await lines_of(store, household)
    assert find_break(lines) is None
    proposed = [line.subject for line in lines if line.action == "call.proposed"]
    assert sorted(proposed[1:]) == sorted(call.id for call in calls)


# What waits already


async def test_a_new_grant_releases_what_waits_and_falls_under_it(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    waiting = {
        name: await ask(services, household, name, **words)
        for name, words in {
            "same": {"path": "src/b.py"},
            "other kind": {"path": "src/b.md"},
            "riskier": {"path": "src/run.sh"},
            "other session": {"session_id": "other"},
        }.items()
    }
    clock.advance(9)

    given = await grant(services, household)

    released = await store.find_approval(waiting.pop("same").id)
    assert released is not None
    assert released.answer is not None
    assert (released.status, released.answer.by) == (ApprovalStatus.APPROVED, "ada")
    assert (released.answer.grant_id, released.answer.scope) == (given.id, Scope.CLASS)
    call = await call_of(store, released)
    assert (call.status, call.approved_by, call.scope) == (
        Status.APPROVED,
        given.id,
        Scope.CLASS,
    )
    line = (await lines_of(store, household, "approval.approved"))[-1]
    assert line.subject == released.id
    assert json.loads(line.details)["grant"] == given.id
    for question in waiting.values():
        assert await store.find_approval(question.id) == question


def a_command(home: Household, call_id: str, *words: str) -> ToolCall:
    params = {"command": words[0], "args": list(words[1:])}
    session = SessionId("session-1")
    return ToolCall(home.project.id, session, CallId(call_id), "execute_command", params)


async def test_a_grant_for_the_session_covers_no_call_that_reaches_a_network(
    services: Services, store: SqliteStore, household: Household
) -> None:
    waits = await services.executor.propose(
        a_command(household, "waits", "npm", "install"), household.agent
    )

    await grant(services, household, Scope.SESSION)
    comes = await services.executor.propose(
        a_command(household, "comes", "npm", "install", "left-pad"), household.agent
    )
    works = await services.executor.propose(
        a_command(household, "works", "npm", "test"), household.agent
    )

    assert comes.status is Status.AWAITING_APPROVAL
    assert (await now_of(store, waits.id)).status is Status.AWAITING_APPROVAL
    assert works.status is Status.APPROVED


async def test_what_is_released_counts_as_a_use_and_the_most_urgent_comes_first(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    waiting: list[Approval] = []
    for number in range(4):
        waiting.append(await ask(services, household, f"call-{number}"))
        clock.advance(1)

    given = await grant(services, household, uses=2)

    statuses = [(await call_of(store, question)).status for question in waiting]
    assert statuses == [Status.APPROVED] * 2 + [Status.AWAITING_APPROVAL] * 2
    assert (await used(store, given)).uses_left == 0
    for question in waiting[2:]:
        assert await store.find_approval(question.id) == question


async def test_each_release_is_told(
    services: Services, store: SqliteStore, household: Household
) -> None:
    await ask(services, household, "waiting")

    await grant(services, household, Scope.SESSION)

    news = await news_of(store, household)
    assert [event for event in news if event[1] is not Status.PENDING] == [
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL),
        (EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL),
        *[(EventKind.APPROVAL_RESOLVED, Status.APPROVED), (EventKind.STATUS, Status.APPROVED)] * 2,
    ]


# Taking back


async def test_a_revoked_grant_covers_nothing_from_then_on(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    given = await grant(services, household)
    before = await propose(services, household, "1")
    clock.advance(5)

    revoked = await services.grants.revoke(given.id, household.user, household.project.id)
    after = await propose(services, household, "2")

    assert (before.status, after.status) == (Status.APPROVED, Status.AWAITING_APPROVAL)
    assert revoked == given.revoke(clock.now())
    assert await used(store, given) == revoked
    assert await now_of(store, before.id) == before
    (line,) = await lines_of(store, household, "grant.revoked")
    assert (line.actor, line.subject) == (household.user.subject, given.id)


async def test_a_grant_is_revoked_once_and_only_in_its_own_project(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    given = await grant(services, household)

    with pytest.raises(NotFound, match="there is no grant"):
        await services.grants.revoke(given.id, neighbour.user, neighbour.project.id)
    with pytest.raises(NotFound, match="there is no grant 'grt_none'"):
        await services.grants.revoke(GrantId("grt_none"), household.user, household.project.id)
    outcomes = await asyncio.gather(
        *(services.grants.revoke(given.id, household.user, household.project.id) for _ in range(3)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [Grant, Conflict, Conflict]
    assert len(await lines_of(store, household, "grant.revoked")) == 1


async def test_of_calls_that_come_while_a_grant_is_revoked_none_passes_after(
    services: Services, store: SqliteStore, household: Household
) -> None:
    given = await grant(services, household)

    async def revoke() -> None:
        await services.grants.revoke(given.id, household.user, household.project.id)

    calls = [propose(services, household, f"call-{number}") for number in range(10)]
    await asyncio.gather(*calls[:5], revoke(), *calls[5:])

    lines = await lines_of(store, household)
    (revoked,) = (line.seq for line in lines if line.action == "grant.revoked")
    passed = [
        line.seq
        for line in lines
        if line.action == "call.proposed" and json.loads(line.details)["approved_by"] == given.id
    ]
    assert all(seq < revoked for seq in passed)
    asked = await services.approvals.get_pending_approvals(household.project.id)
    assert len(passed) + len(asked) == 10


async def test_only_grants_that_still_cover_something_are_listed(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    limits: list[dict[str, Any]] = [
        {},
        {"expires_in_seconds": 60},
        {"uses": 1},
        {"uses": 2},
        {},
    ]
    given: list[Grant] = []
    for number, limit in enumerate(limits):
        clock.advance(1)
        session = f"session-{number}"
        question = await ask(services, household, session_id=session)
        answered = await services.approvals.approve_tool(
            question.id, at_the("console", household), scope=Scope.CLASS, **limit
        )
        assert answered.answer is not None
        given += [
            one
            for one in await store.list_grants(household.project.id, session_id=None)
            if one.id == answered.answer.grant_id
        ]
    for number in (2, 3):
        await propose(services, household, session_id=f"session-{number}")
    await services.grants.revoke(given[4].id, household.user, household.project.id)
    clock.advance(60)

    live = await services.grants.list_live(household.project.id)

    assert [one.id for one in live] == [given[0].id, given[3].id]
    assert live[1].uses_left == 1


async def test_what_was_asked_because_of_a_used_up_grant_can_be_answered_as_ever(
    services: Services, store: SqliteStore, household: Household
) -> None:
    await grant(services, household, uses=1)
    await propose(services, household, "1")
    asked = await propose(services, household, "2")

    question = await question_of(store, asked)
    await services.approvals.reject_tool(question.id, at_the("console", household))

    assert (await call_of(store, question)).status is Status.REJECTED


# Lasting answers


def another_agent(home: Household) -> Household:
    """The same project, worked on by another agent."""
    return replace(home, agent=replace(home.agent, subject="agt_other"))


async def test_a_lasting_answer_covers_its_class_in_every_session_of_that_agent_and_names_itself(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    given = await grant(services, household, Scope.PROJECT)

    passed = await propose(services, household, session_id="another", path="src/deep/b.py")
    other = await propose(
        services, another_agent(household), "theirs", session_id="theirs", path="src/b.py"
    )
    kind = await propose(services, household, "kind", session_id="another", path="src/b.md")

    assert (given.scope, given.agent_id) == (Scope.PROJECT, household.agent.subject)
    assert given.expires_at == clock.now() + timedelta(days=30)
    assert (passed.status, passed.approved_by) == (Status.APPROVED, given.id)
    assert passed.scope is Scope.PROJECT
    assert other.status is Status.AWAITING_APPROVAL
    assert kind.status is Status.AWAITING_APPROVAL
    (line,) = await lines_of(store, household, "grant.given")
    assert (line.actor, line.subject) == (household.user.subject, given.id)
    assert json.loads(line.details) == {
        "scope": "project",
        "words": "writes to src/**/*.py",
        "session": "session-1",
        "agent": household.agent.subject,
        "max_risk": "MEDIUM",
        "uses": None,
        "until": "2026-01-31T00:00:00+00:00",
    }


@pytest.mark.parametrize("how", ["expired", "revoked", "used up"])
async def test_a_lasting_answer_ends(
    services: Services, clock: FakeClock, household: Household, how: str
) -> None:
    given = await grant(services, household, Scope.PROJECT, uses=1)
    match how:
        case "expired":
            clock.advance(30 * 24 * 3600)
        case "revoked":
            await services.grants.revoke(given.id, household.user, household.project.id)
        case _:
            await propose(services, household, "using", session_id="second")

    asked = await propose(services, household, session_id="third")

    assert asked.status is Status.AWAITING_APPROVAL


async def test_no_lasting_answer_is_given_for_everything_or_for_what_is_critical(
    services: Services, store: SqliteStore, household: Household
) -> None:
    script = await ask(services, household, "script", path="src/run.sh")
    pending = await look(services, household, "critical", path="src/c.py")
    assert pending.approval_id is not None
    worst = Survey(findings=(Finding("x", "is dangerous", RiskLevel.CRITICAL),))
    critical = await question_of(
        store,
        await services.surveyor.accept(
            pending.approval_id, worst, household.client, household.project.id
        ),
    )

    for question in (script, critical):
        with pytest.raises(BadInput, match="not for project"):
            await services.approvals.approve_tool(
                question.id, at_the("console", household), scope=Scope.PROJECT
            )


async def test_a_lasting_answer_releases_what_waits_in_other_sessions_of_that_agent(
    services: Services, store: SqliteStore, household: Household
) -> None:
    mine = await ask(services, household, "mine", session_id="another", path="src/b.py")
    theirs = await ask(
        services, another_agent(household), "theirs", session_id="theirs", path="src/b.py"
    )

    given = await grant(services, household, Scope.PROJECT)

    call = await call_of(store, mine)
    assert (call.status, call.approved_by) == (Status.APPROVED, given.id)
    assert await store.find_approval(theirs.id) == theirs


async def test_of_a_grant_for_the_session_and_a_lasting_one_the_narrower_is_used(
    services: Services, household: Household
) -> None:
    first = await ask(services, household, "first")
    second = await ask(services, household, "second", session_id="another")
    for question, scope in ((first, Scope.CLASS), (second, Scope.PROJECT)):
        answered = await services.approvals.approve_tool(
            question.id, at_the("console", household), scope=scope
        )
        assert answered.answer is not None

    here = await propose(services, household, "here")
    elsewhere = await propose(services, household, "elsewhere", session_id="third")

    assert (here.scope, elsewhere.scope) == (Scope.CLASS, Scope.PROJECT)


# What is shown of them


async def test_a_grant_of_a_session_without_calls_for_half_a_day_is_idle(
    services: Services, clock: FakeClock, household: Household
) -> None:
    used = await grant(services, household)
    question = await ask(services, household, "other", session_id="left")
    await services.approvals.approve_tool(
        question.id, at_the("console", household), scope=Scope.CLASS
    )
    lasting = await ask(services, household, "lasting", session_id="left", path="docs/a.md")
    await services.approvals.approve_tool(
        lasting.id, at_the("console", household), scope=Scope.PROJECT
    )
    clock.advance(13 * 3600)
    call = await propose(services, household, path="src/b.py")

    live = await services.grants.list_live(household.project.id)
    shown = {one.id: await services.grants.describe(one) for one in live}

    (left,) = [one.grant for one in shown.values() if one.is_idle]
    assert (left.scope, left.session_id) == (Scope.CLASS, "left")
    assert shown[used.id].last_call_at == call.created_at
    assert {one.agent_id for one in shown.values()} == {household.agent.subject}
    assert len(shown) == 3

"""A question is answered once, and says how far an answer may reach."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.errors import IllegalTransition
from handrail.core.grant import CallClass, Grant, Scope
from handrail.core.ids import ApprovalId, ExecutionId, GrantId, ProjectId, SessionId, UserId
from handrail.core.risk import RiskLevel

ASKED = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)
DEADLINE = ASKED + timedelta(minutes=5)
LATER = ASKED + timedelta(seconds=7)
ADA = UserId("usr_ada")
SOURCES = CallClass("write_file:src/**/*.py", "writes to src/**/*.py")
YES = Answer(by="ada", channel="console", at=LATER, scope=Scope.ONCE)


def question(**fields: Any) -> Approval:
    asked = Approval(
        id=ApprovalId("apr_1"),
        project_id=ProjectId("prj_1"),
        user_id=ADA,
        execution_id=ExecutionId("exe_1"),
        session_id=SessionId("talk"),
        agent_id="agt_1",
        tool_name="write_file",
        tool_params={"path": "src/a.py"},
        reasoning="to mend it",
        description="Write 1 line to src/a.py",
        risk_level=RiskLevel.MEDIUM,
        reasons=("changes a file in the workspace",),
        digest="judged",
        surveyed=True,
        evidence="+x = 1",
        call_class=SOURCES,
        timeout_seconds=300,
        created_at=ASKED,
        expires_at=DEADLINE,
    )
    return replace(asked, **fields)


# One answer


@pytest.mark.parametrize("status", [s for s in ApprovalStatus if s is not ApprovalStatus.PENDING])
def test_an_answer_changes_nothing_but_the_status_and_itself(status: ApprovalStatus) -> None:
    asked = question()

    assert asked.resolve(status, YES) == question(status=status, answer=YES)
    assert asked == question()


@pytest.mark.parametrize("first", [s for s in ApprovalStatus if s is not ApprovalStatus.PENDING])
@pytest.mark.parametrize("second", [ApprovalStatus.APPROVED, ApprovalStatus.REJECTED])
def test_what_is_answered_cannot_be_answered_again(
    first: ApprovalStatus, second: ApprovalStatus
) -> None:
    answered = question().resolve(first, YES)

    with pytest.raises(IllegalTransition, match=f"^apr_1 is {first} already$"):
        answered.resolve(second, YES)


# How far it reaches


@pytest.mark.parametrize(
    ("risk", "kind", "offers"),
    [
        (RiskLevel.MEDIUM, SOURCES, (Scope.ONCE, Scope.CLASS, Scope.PROJECT, Scope.SESSION)),
        (RiskLevel.HIGH, SOURCES, (Scope.ONCE, Scope.CLASS, Scope.PROJECT, Scope.SESSION)),
        (RiskLevel.CRITICAL, SOURCES, (Scope.ONCE,)),
        (RiskLevel.MEDIUM, None, (Scope.ONCE, Scope.SESSION)),
        (RiskLevel.HIGH, None, (Scope.ONCE, Scope.SESSION)),
        (RiskLevel.CRITICAL, None, (Scope.ONCE,)),
    ],
)
def test_what_is_offered_follows_from_risk_and_class(
    risk: RiskLevel, kind: CallClass | None, offers: tuple[Scope, ...]
) -> None:
    assert question(risk_level=risk, call_class=kind).offers == offers


def test_what_is_doubted_is_offered_for_once_alone() -> None:
    assert question(risk_level=RiskLevel.MEDIUM, call_class=SOURCES, doubted=True).offers == (
        Scope.ONCE,
    )


def test_what_is_reserved_is_not_offered_with_the_whole_session() -> None:
    for kind, offers in (
        (None, (Scope.ONCE,)),
        (SOURCES, (Scope.ONCE, Scope.CLASS, Scope.PROJECT)),
    ):
        asked = question(risk_level=RiskLevel.MEDIUM, call_class=kind, reserved=True)
        assert asked.offers == offers


def test_a_yes_for_once_leaves_no_grant() -> None:
    assert question().grant(Scope.ONCE, ADA, LATER, 3, 60) is None


@pytest.mark.parametrize("risk", [RiskLevel.MEDIUM, RiskLevel.HIGH])
def test_a_yes_for_the_class_grants_the_class_up_to_the_risk_that_was_seen(
    risk: RiskLevel,
) -> None:
    grant = question(risk_level=risk).grant(Scope.CLASS, ADA, LATER, uses=3, lasts_seconds=60)

    assert grant is not None
    assert grant == Grant(
        id=grant.id,
        project_id=ProjectId("prj_1"),
        session_id=SessionId("talk"),
        class_key=SOURCES.key,
        words=SOURCES.words,
        max_risk=risk,
        uses_left=3,
        expires_at=LATER + timedelta(seconds=60),
        approval_id=ApprovalId("apr_1"),
        granted_by=ADA,
        created_at=LATER,
    )
    assert grant.id.startswith("grt_")
    assert grant.scope is Scope.CLASS


@pytest.mark.parametrize("kind", [SOURCES, None], ids=["a class", "no class"])
def test_a_yes_for_the_session_grants_everything_below_critical(kind: CallClass | None) -> None:
    grant = question(call_class=kind).grant(Scope.SESSION, ADA, LATER)

    assert grant is not None
    assert (grant.class_key, grant.words) == (
        None,
        "every call in this session, except network access",
    )
    assert (grant.max_risk, grant.scope) == (RiskLevel.HIGH, Scope.SESSION)
    assert (grant.uses_left, grant.expires_at) == (None, None)


@pytest.mark.parametrize(
    ("lasts_seconds", "lasts"),
    [(None, timedelta(days=30)), (7 * 24 * 3600, timedelta(days=7))],
    ids=["unless said", "as said"],
)
def test_a_yes_for_the_project_grants_the_class_to_that_agent_until_a_date(
    lasts_seconds: int | None, lasts: timedelta
) -> None:
    given = question().grant(Scope.PROJECT, ADA, LATER, uses=3, lasts_seconds=lasts_seconds)

    assert given is not None
    assert (given.scope, given.class_key) == (Scope.PROJECT, SOURCES.key)
    assert (given.agent_id, given.max_risk) == ("agt_1", RiskLevel.MEDIUM)
    assert (given.uses_left, given.expires_at) == (3, LATER + lasts)


def test_every_grant_has_a_name_of_its_own() -> None:
    grants = [question().grant(Scope.SESSION, ADA, LATER) for _ in range(50)]

    assert len({grant.id for grant in grants if grant is not None}) == 50


# Words for whoever comes too late


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (ApprovalStatus.APPROVED, "ada answered first: approved at 09:00:07 UTC from console"),
        (ApprovalStatus.REJECTED, "ada answered first: rejected at 09:00:07 UTC from console"),
    ],
)
def test_whoever_is_second_is_told_who_was_first_and_when_and_where(
    status: ApprovalStatus, words: str
) -> None:
    assert question().resolve(status, YES).how_it_ended == words


@pytest.mark.parametrize(
    "noticed",
    [
        pytest.param(DEADLINE, id="at once"),
        pytest.param(DEADLINE + timedelta(hours=3), id="after a time away"),
    ],
)
def test_whoever_misses_the_deadline_is_told_when_it_was(noticed: datetime) -> None:
    nobody = Answer(by="handrail", channel="deadline", at=noticed)

    ended = question().resolve(ApprovalStatus.EXPIRED, nobody)

    assert ended.how_it_ended == "the time to answer ran out at 09:05:00 UTC"


@pytest.mark.parametrize("by", ["ada", "handrail"])
def test_whoever_answers_after_the_call_was_cancelled_is_told_by_whom_and_when(by: str) -> None:
    word = Answer(by=by, channel="phone", at=LATER, reason=f"{by} cancelled this call: not now")

    withdrawn = question().resolve(ApprovalStatus.WITHDRAWN, word)

    assert withdrawn.how_it_ended == f"the call was cancelled by {by} at 09:00:07 UTC"


def test_without_an_answer_only_the_call_can_have_moved_on() -> None:
    assert question().how_it_ended == "the call of apr_1 has changed its state"


def test_an_answer_is_for_nothing_in_particular_unless_it_says_so() -> None:
    bare = Answer(by="ada", channel="console", at=LATER)

    assert (bare.scope, bare.reason, bare.grant_id) == (None, None, None)
    assert replace(bare, grant_id=GrantId("grt_1")) != bare

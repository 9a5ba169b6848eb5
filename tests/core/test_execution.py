from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from handrail.core.errors import ErrorType, IllegalTransition
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import (
    CallId,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site

CREATED = datetime(2026, 1, 1, tzinfo=UTC)
LATER = CREATED + timedelta(seconds=7)
ADAS = ClientId("cli_ada")
BOBS = ClientId("cli_bob")

LEGAL = {
    ("pending", "awaiting_approval"),
    ("pending", "approved"),
    ("pending", "failed"),
    ("awaiting_approval", "approved"),
    ("awaiting_approval", "rejected"),
    ("awaiting_approval", "timeout"),
    ("awaiting_approval", "failed"),
    ("approved", "executing"),
    ("approved", "awaiting_approval"),
    ("approved", "timeout"),
    ("approved", "failed"),
    ("executing", "completed"),
    ("executing", "failed"),
}
ALL_PAIRS = list(product(Status, Status))
LEGAL_PAIRS = [pair for pair in ALL_PAIRS if pair in LEGAL]
ILLEGAL_PAIRS = [pair for pair in ALL_PAIRS if pair not in LEGAL]


def execution(status: Status = Status.PENDING) -> ToolExecution:
    return ToolExecution(
        id=ExecutionId("exe_1"),
        user_id=UserId("usr_1"),
        project_id=ProjectId("prj_1"),
        workspace_id=WorkspaceId("wsp_1"),
        session_id=SessionId("talk"),
        call_id=CallId("call-1"),
        agent_id="agt_1",
        tool_name="read_file",
        tool_params={"path": "README.md"},
        request_digest="asked",
        digest="judged",
        site=Site.CLIENT,
        effect=Effect.READ,
        autonomy=Autonomy.SUPERVISED,
        risk_level=RiskLevel.LOW,
        reasons=(),
        requires_approval=False,
        status=status,
        created_at=CREATED,
    )


def pair_name(pair: tuple[Status, Status]) -> str:
    return f"{pair[0]}-to-{pair[1]}"


def test_there_are_sixty_four_pairs_and_thirteen_of_them_are_legal() -> None:
    assert (len(ALL_PAIRS), len(LEGAL_PAIRS), len(ILLEGAL_PAIRS)) == (64, 13, 51)


@pytest.mark.parametrize("pair", LEGAL_PAIRS, ids=pair_name)
def test_legal_step_changes_nothing_but_status_and_moment(pair: tuple[Status, Status]) -> None:
    before, after = pair
    moments: dict[Status, dict[str, datetime]] = {
        Status.AWAITING_APPROVAL: {},
        Status.APPROVED: {"approved_at": LATER},
        Status.EXECUTING: {"started_at": LATER},
        Status.COMPLETED: {"completed_at": LATER},
        Status.REJECTED: {"completed_at": LATER},
        Status.TIMEOUT: {"completed_at": LATER},
        Status.FAILED: {"completed_at": LATER},
    }
    start = execution(before)
    expected = {**start._asdict(), "status": after, **moments[after]}
    assert start.advance(after, LATER)._asdict() == expected


@pytest.mark.parametrize("pair", ILLEGAL_PAIRS, ids=pair_name)
def test_illegal_step_is_refused(pair: tuple[Status, Status]) -> None:
    before, after = pair
    with pytest.raises(IllegalTransition, match=f"^exe_1 is {before} and cannot become {after}$"):
        execution(before).advance(after, LATER)


@pytest.mark.parametrize("status", Status)
def test_status_is_final_when_no_road_leads_on(status: Status) -> None:
    assert status.is_final == (status in {"completed", "rejected", "timeout", "failed"})


def test_earlier_moments_are_kept_along_the_way() -> None:
    moments = [CREATED + timedelta(seconds=n) for n in (1, 2, 3, 4)]
    done = (
        execution()
        .advance(Status.AWAITING_APPROVAL, moments[0])
        .advance(Status.APPROVED, moments[1])
        .advance(Status.EXECUTING, moments[2])
        .advance(Status.COMPLETED, moments[3], result={"success": True})
    )
    assert (done.created_at, done.approved_at, done.started_at, done.completed_at) == (
        CREATED,
        moments[1],
        moments[2],
        moments[3],
    )
    assert done.result == {"success": True}


def test_advancing_leaves_the_earlier_value_alone() -> None:
    before = execution()
    before.advance(Status.APPROVED, LATER)
    assert before == execution()


@pytest.mark.parametrize(
    "status", [Status.PENDING, Status.AWAITING_APPROVAL, Status.APPROVED, Status.EXECUTING]
)
def test_failing_records_why_and_when(status: Status) -> None:
    failed = execution(status).fail(ErrorType.DENIED, "not today", LATER)
    assert failed == execution(Status.FAILED)._replace(
        error="not today", error_type=ErrorType.DENIED, completed_at=LATER
    )


def test_what_has_ended_cannot_fail_any_more() -> None:
    with pytest.raises(IllegalTransition):
        execution(Status.COMPLETED).fail(ErrorType.INTERNAL, "too late", LATER)


def test_assigning_is_the_claim_and_raises_the_epoch() -> None:
    assigned = execution(Status.APPROVED).assign(ADAS, LATER)
    assert assigned == execution(Status.EXECUTING)._replace(
        client_id=ADAS, epoch=1, started_at=LATER
    )


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.APPROVED])
def test_only_an_approved_call_can_be_assigned(status: Status) -> None:
    with pytest.raises(IllegalTransition):
        execution(status).assign(ADAS, LATER)


def test_every_reoffer_raises_the_epoch_and_changes_hands() -> None:
    assigned = execution(Status.APPROVED).assign(ADAS, LATER)
    again = assigned.reoffer(BOBS)
    assert again == assigned._replace(client_id=BOBS, epoch=2)
    assert again.reoffer(BOBS).epoch == 3

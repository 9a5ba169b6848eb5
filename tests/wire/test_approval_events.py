"""Questions on the stream: whole and masked for everyone, raw only for who must look or act."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import (
    ApprovalId,
    CallId,
    ClientId,
    ExecutionId,
    GrantId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)
from handrail.core.ports import StreamItem
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site
from handrail.wire.events import ABOUT_APPROVALS, ApprovalRequest, ApprovalResolved
from handrail.wire.rendering import render

HERE, THERE = ClientId("cli_here"), ClientId("cli_there")
AT = datetime(2026, 1, 1, tzinfo=UTC)
RAW = '{"path":"a.md","content":"open-sesame"}'

CALL = ToolExecution(
    id=ExecutionId("exe_1"),
    user_id=UserId("usr_1"),
    project_id=ProjectId("prj_1"),
    workspace_id=WorkspaceId("wsp_1"),
    session_id=SessionId("session-1"),
    call_id=CallId("call-1"),
    agent_id="agt_1",
    tool_name="write_file",
    tool_params={"path": "a.md", "content": "[masked]"},
    request_digest="asked",
    digest="judged",
    site=Site.CLIENT,
    effect=Effect.CHANGE,
    autonomy=Autonomy.SUPERVISED,
    risk_level=RiskLevel.MEDIUM,
    reasons=("changes a file in the workspace",),
    requires_approval=True,
    status=Status.AWAITING_APPROVAL,
    created_at=AT,
    approval_id=ApprovalId("apr_1"),
)
QUESTION = Approval(
    id=ApprovalId("apr_1"),
    project_id=CALL.project_id,
    user_id=CALL.user_id,
    execution_id=CALL.id,
    session_id=CALL.session_id,
    agent_id=CALL.agent_id,
    tool_name=CALL.tool_name,
    tool_params=CALL.tool_params,
    reasoning="because",
    description="Write 1 line to a.md",
    risk_level=RiskLevel.MEDIUM,
    reasons=CALL.reasons,
    digest="judged",
    surveyed=True,
    evidence="+hello\n",
    call_class=None,
    timeout_seconds=300,
    created_at=AT,
    expires_at=AT + timedelta(seconds=300),
)
ANSWERS = {
    ApprovalStatus.APPROVED: Answer(
        by="ada", channel="terminal", at=AT, scope=Scope.SESSION, grant_id=GrantId("grt_1")
    ),
    ApprovalStatus.REJECTED: Answer(by="ada", channel="console", at=AT, reason="not now"),
    ApprovalStatus.EXPIRED: Answer(by="handrail", channel="deadline", at=AT),
}
# What every listener is promised of a question.
PROMISED = {
    "approval_id": "apr_1",
    "tool_id": "exe_1",
    "tool_name": "write_file",
    "tool_params": {"path": "a.md", "content": "[masked]"},
    "risk_level": "MEDIUM",
    "reasons": ["changes a file in the workspace"],
    "reasoning": "because",
    "agent_id": "agt_1",
    "session_id": "session-1",
    "timeout_seconds": 300,
    "expires_at": "2026-01-01T00:05:00Z",
    "description": "Write 1 line to a.md",
    "estimated_duration_ms": None,
    "digest": "judged",
    "timestamp": "2026-01-01T00:00:07Z",
}


def an_item(
    kind: EventKind, execution: ToolExecution = CALL, raw_params: str | None = RAW
) -> StreamItem:
    client_id = None if kind in ABOUT_APPROVALS else HERE
    at = AT + timedelta(seconds=7)
    event = Event(
        CALL.project_id, 7, at, kind, CALL.id, execution.status, client_id, execution.epoch
    )
    return StreamItem(event, execution, raw_params)


def rendered(
    item: StreamItem,
    listener: ClientId | None = None,
    *,
    replayed: bool = False,
    approval: Approval | None = None,
) -> tuple[str, dict[str, Any]]:
    """What a listener reads, after it went over the wire."""
    name, payload = render(
        item, listener=listener, salt="salt", replayed=replayed, names={}, approval=approval
    )
    return name, msgspec.json.decode(msgspec.json.encode(payload))


@pytest.mark.parametrize("listener", [None, HERE, THERE])
@pytest.mark.parametrize("replayed", [False, True])
def test_a_question_reads_the_same_to_everyone_and_every_time(
    listener: ClientId | None, replayed: bool
) -> None:
    item = an_item(EventKind.APPROVAL_REQUEST)

    name, payload = rendered(item, listener, replayed=replayed, approval=QUESTION)

    assert name == "tool.approval_request"
    assert {field: payload[field] for field in PROMISED} == PROMISED
    assert set(payload) - set(PROMISED) == {
        "agent_name",
        "client_name",
        "editable",
        "revised_by",
        "revised_at",
        "revision",
        "notes",
        "evidence",
        "offers",
        "needs_second_step",
        "masked",
        "status",
        "decided_by",
        "decided_at",
        "channel",
        "scope",
        "reason",
        "grant_id",
    }
    assert "open-sesame" not in str(payload)


def test_a_question_without_the_agents_word_says_that_there_is_none() -> None:
    item = an_item(EventKind.APPROVAL_REQUEST)

    _, payload = rendered(item, approval=replace(QUESTION, reasoning=None))

    assert payload["reasoning"] is None


def test_a_question_that_was_answered_meanwhile_says_so() -> None:
    answered = QUESTION.resolve(ApprovalStatus.APPROVED, ANSWERS[ApprovalStatus.APPROVED])

    name, payload = rendered(an_item(EventKind.APPROVAL_REQUEST), approval=answered)

    assert (name, payload["status"]) == ("tool.approval_request", "approved")


@pytest.mark.parametrize("listener", [None, HERE, THERE])
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            ApprovalStatus.APPROVED,
            {"decided_by": "ada", "channel": "terminal", "scope": "session", "reason": None},
        ),
        (
            ApprovalStatus.REJECTED,
            {"decided_by": "ada", "channel": "console", "scope": None, "reason": "not now"},
        ),
        (
            ApprovalStatus.EXPIRED,
            {"decided_by": "handrail", "channel": "deadline", "scope": None, "reason": None},
        ),
    ],
)
def test_an_answer_is_told_with_who_where_and_when(
    listener: ClientId | None, status: ApprovalStatus, said: dict[str, Any]
) -> None:
    answered = QUESTION.resolve(status, ANSWERS[status])

    told = rendered(an_item(EventKind.APPROVAL_RESOLVED), listener, approval=answered)

    assert told == (
        "approval.resolved",
        {
            "approval_id": "apr_1",
            "tool_id": "exe_1",
            "status": status.value,
            "decided_at": "2026-01-01T00:00:00Z",
            "timestamp": "2026-01-01T00:00:07Z",
            **said,
        },
    )


SURVEY = {
    "approval_id": "apr_1",
    "tool_id": "exe_1",
    "session_id": "session-1",
    "tool_name": "write_file",
    "tool_params": {"path": "a.md", "content": "open-sesame"},
    "unmasked": False,
    "autonomy": "supervised",
    "epoch": 0,
    "replayed": False,
    "timestamp": "2026-01-01T00:00:07Z",
}


def test_the_machine_that_shall_look_reads_all_it_needs() -> None:
    pending = CALL._replace(status=Status.PENDING, client_id=HERE)

    assert rendered(an_item(EventKind.SURVEY_REQUEST, pending), HERE) == (
        "tool.survey_request",
        SURVEY,
    )


@pytest.mark.parametrize(("raw_params", "replayed"), [(RAW, True), (None, False), (None, True)])
def test_a_request_to_look_that_no_longer_stands_carries_no_parameters(
    raw_params: str | None, replayed: bool
) -> None:
    item = an_item(EventKind.SURVEY_REQUEST, raw_params=raw_params)

    assert rendered(item, HERE, replayed=replayed) == (
        "tool.survey_request",
        SURVEY | {"tool_params": None, "replayed": True},
    )


@pytest.mark.parametrize("surveyed", [True, False])
def test_only_a_question_that_was_checked_before_is_looked_at_unmasked(surveyed: bool) -> None:
    item = an_item(EventKind.SURVEY_REQUEST, CALL._replace(surveyed=surveyed))

    _, request = rendered(item, HERE) or ("", {})
    assert request["unmasked"] is surveyed


@pytest.mark.parametrize("listener", [None, THERE])
@pytest.mark.parametrize("kind", [EventKind.SURVEY_REQUEST, EventKind.EXECUTION_SIGNAL])
def test_everyone_else_reads_of_a_change_of_status(
    kind: EventKind, listener: ClientId | None
) -> None:
    assert rendered(an_item(kind), listener) == (
        "tool.status",
        {
            "tool_id": "exe_1",
            "tool_name": "write_file",
            "status": "awaiting_approval",
            "timestamp": "2026-01-01T00:00:07Z",
        },
    )


@pytest.mark.parametrize(
    ("approved_by", "scope"), [("ada", Scope.ONCE), ("grt_1", Scope.CLASS), ("ada", Scope.SESSION)]
)
def test_a_signal_says_who_let_it_pass_and_whether_the_machine_was_seen(
    approved_by: str, scope: Scope
) -> None:
    approved = CALL._replace(
        status=Status.APPROVED,
        client_id=HERE,
        epoch=2,
        surveyed=True,
        approved_by=approved_by,
        scope=scope,
    )

    name, signal = rendered(an_item(EventKind.EXECUTION_SIGNAL, approved), HERE)

    assert name == "tool.execution_signal"
    assert signal["execution_context"] == {
        "approved": True,
        "approved_by": approved_by,
        "scope": scope.value,
        "autonomy": "supervised",
        "by_person": False,
    }
    assert (signal["surveyed"], signal["risk_level"]) == (True, "MEDIUM")
    assert (signal["status"], signal["epoch"]) == ("approved", 2)
    assert signal["tool_params"] == {"path": "a.md", "content": "open-sesame"}


@pytest.mark.parametrize("kind", ABOUT_APPROVALS)
def test_a_question_that_is_gone_is_told_as_a_change_of_status(kind: EventKind) -> None:
    name, payload = rendered(an_item(kind), HERE)

    assert (name, payload["status"]) == ("tool.status", "awaiting_approval")


def test_questions_and_answers_carry_the_fields_they_promise() -> None:
    answered = replace(
        QUESTION, status=ApprovalStatus.APPROVED, answer=ANSWERS[ApprovalStatus.APPROVED]
    )
    _, asked = rendered(an_item(EventKind.APPROVAL_REQUEST), approval=QUESTION)
    _, told = rendered(an_item(EventKind.APPROVAL_RESOLVED), approval=answered)

    assert list(asked) == list(ApprovalRequest.model_fields)
    assert list(told) == list(ApprovalResolved.__annotations__)

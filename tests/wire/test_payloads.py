"""Bodies are closed and bounded; what is shown of a call is one and the same everywhere."""

import json
from typing import Any

import msgspec
import pytest
from pydantic import ValidationError

from handrail.core.audit import AuditRecord, chain
from handrail.core.errors import ErrorType
from handrail.core.execution import Status
from handrail.core.tool import ToolDefinition
from handrail.tools.builtin.read_file import ReadFile
from handrail.wire.payloads import (
    AuditView,
    ExecuteRequest,
    ExecutionView,
    ResultRequest,
    ResultsRequest,
    ToolView,
    execution_view,
)
from tests.conftest import Household
from tests.contracts.conftest import a_call

NAMES: dict[str, str] = {}
CALL: dict[str, Any] = {
    "tool_name": "read_file",
    "tool_params": {"path": "a"},
    "session_id": "session-1",
    "call_id": "call-1",
}


def wrong_fields(error: ValidationError) -> list[str]:
    return [".".join(map(str, line["loc"])) for line in error.errors()]


def test_a_call_needs_no_more_than_four_fields() -> None:
    body = ExecuteRequest.model_validate_json(json.dumps(CALL))

    assert (body.reasoning, body.wait) == (None, 0.0)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"tool_name": ""}, "tool_name", id="empty-name"),
        pytest.param({"tool_name": "x" * 101}, "tool_name", id="long-name"),
        pytest.param({"tool_name": 3}, "tool_name", id="name-a-number"),
        pytest.param({"tool_params": []}, "tool_params", id="params-a-list"),
        pytest.param({"tool_params": None}, "tool_params", id="params-null"),
        pytest.param({"session_id": ""}, "session_id", id="empty-session"),
        pytest.param({"session_id": "a b"}, "session_id", id="session-with-blank"),
        pytest.param({"session_id": "a/../b"}, "session_id", id="session-with-slash"),
        pytest.param({"session_id": "é"}, "session_id", id="session-with-accent"),
        pytest.param({"call_id": "x" * 129}, "call_id", id="long-call-id"),
        pytest.param({"call_id": "a\n"}, "call_id", id="call-id-with-line-feed"),
        pytest.param({"call_id": 7}, "call_id", id="call-id-a-number"),
        pytest.param({"reasoning": "x" * 10_001}, "reasoning", id="long-reasoning"),
        pytest.param({"wait": -1}, "wait", id="wait-into-the-past"),
        pytest.param({"wait": 3601}, "wait", id="wait-too-long"),
        pytest.param({"wait": "soon"}, "wait", id="wait-a-word"),
        pytest.param({"approved": True}, "approved", id="extra-field"),
    ],
)
def test_a_call_that_does_not_fit_names_the_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ExecuteRequest.model_validate_json(json.dumps(CALL | change))

    assert wrong_fields(caught.value) == [field]


@pytest.mark.parametrize("missing", sorted(CALL))
def test_a_call_with_a_field_missing_names_it(missing: str) -> None:
    body = {name: value for name, value in CALL.items() if name != missing}

    with pytest.raises(ValidationError) as caught:
        ExecuteRequest.model_validate_json(json.dumps(body))

    assert wrong_fields(caught.value) == [missing]


@pytest.mark.parametrize("label", ["a", "x" * 128, "A.b_c:d@e-f", "2026-01-01T00:00"])
def test_labels_may_be_what_agents_like_to_use(label: str) -> None:
    body = ExecuteRequest.model_validate_json(
        json.dumps(CALL | {"session_id": label, "call_id": label})
    )

    assert (body.session_id, body.call_id) == (label, label)


@pytest.mark.parametrize(
    "body",
    [
        {"status": "completed", "result": {}},
        {"status": "completed", "result": {"a": 1}, "execution_time_ms": 0, "epoch": 0},
        {"status": "failed", "error": "no"},
        {"status": "failed", "error": "no", "error_type": "execution", "result": {"stdout": ""}},
    ],
)
def test_a_result_says_how_it_ended(body: dict[str, Any]) -> None:
    assert (
        ResultRequest.model_validate_json(json.dumps(body)).model_dump(exclude_unset=True) == body
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({"status": "completed"}, "", id="completed-without-result"),
        pytest.param({"status": "failed"}, "", id="failed-without-error"),
        pytest.param({"status": "failed", "error": ""}, "", id="failed-with-empty-error"),
        pytest.param({"status": "approved", "result": {}}, "status", id="not-an-end"),
        pytest.param({"status": "rejected", "error": "no"}, "status", id="not-its-to-reject"),
        pytest.param({"status": "completed", "result": []}, "result", id="result-a-list"),
        pytest.param(
            {"status": "failed", "error": "no", "error_type": "boredom"},
            "error_type",
            id="unknown-error-type",
        ),
        pytest.param(
            {"status": "completed", "result": {}, "execution_time_ms": -1},
            "execution_time_ms",
            id="negative-time",
        ),
        pytest.param(
            {"status": "completed", "result": {}, "execution_time_ms": 2**31},
            "execution_time_ms",
            id="endless-time",
        ),
        pytest.param(
            {"status": "completed", "result": {}, "epoch": 2**31}, "epoch", id="huge-epoch"
        ),
        pytest.param({"status": "completed", "result": {}, "x": 1}, "x", id="extra-field"),
    ],
)
def test_a_result_that_does_not_fit_names_the_field(body: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ResultRequest.model_validate_json(json.dumps(body))

    assert wrong_fields(caught.value) == [field]


def test_results_come_by_the_thousand_and_not_by_none() -> None:
    one = {"tool_id": "exe_1", "status": "completed", "result": {}}

    assert len(ResultsRequest.model_validate({"results": [one] * 1000}).results) == 1000
    for count in (0, 1001):
        with pytest.raises(ValidationError):
            ResultsRequest.model_validate({"results": [one] * count})


def test_a_call_looks_the_same_from_every_route(household: Household) -> None:
    at = household.project.created_at
    call = a_call(household, reasons=("one", "two"), reasoning="because")
    handed = call.assign(household.client_id, at)
    ended = handed.advance(
        Status.FAILED,
        at,
        result={"stdout": "x"},
        error="no",
        error_type=ErrorType.EXECUTION_TIMEOUT,
        execution_time_ms=4,
    )

    for execution in (call, handed, ended):
        quick = msgspec.json.decode(msgspec.json.encode(execution_view(execution, NAMES)))
        assert quick == json.loads(ExecutionView.of(execution, NAMES).model_dump_json())


def test_a_call_is_shown_in_words_a_program_can_rely_on(household: Household) -> None:
    call = a_call(household)

    assert json.loads(ExecutionView.of(call, NAMES).model_dump_json()) == {
        "tool_id": call.id,
        "tool_name": "read_file",
        "status": "approved",
        "result": None,
        "error": None,
        "error_type": None,
        "approval_id": None,
        "tool_params": {"path": "README.md", "limit": 3},
        "risk_level": "LOW",
        "reasons": [],
        "requires_approval": False,
        "approved_by": None,
        "scope": None,
        "session_id": "session-1",
        "call_id": "call-1",
        "agent_id": household.agent.subject,
        "agent_name": None,
        "reasoning": None,
        "exit_code": None,
        "execution_time_ms": None,
        "late_result": None,
        "origins": None,
        "created_at": "2026-01-01T00:00:00Z",
        "suspicion": None,
        "approved_at": "2026-01-01T00:00:00Z",
        "started_at": None,
        "completed_at": None,
        "result_removed_at": None,
        "can_undo": False,
        "why_not_undo": "it has not ended yet",
        "undone_at": None,
        "undone_by": None,
        "revised_by": None,
        "revised_at": None,
        "revision": None,
    }


def test_digests_and_hands_are_not_shown(household: Household) -> None:
    hidden = {"digest", "request_digest", "client_id", "epoch", "user_id"}

    assert hidden.isdisjoint(execution_view(a_call(household), NAMES))


def test_a_tool_is_shown_with_what_a_model_needs() -> None:
    definition: ToolDefinition = ReadFile().definition

    view = ToolView.of(definition, requires_approval=False, timeout_seconds=0)

    assert view.model_dump() == {
        "name": "read_file",
        "description": definition.description,
        "parameters": definition.input_schema,
        "requires_approval": False,
        "risk_level": "LOW",
        "timeout_seconds": 0,
    }


def test_an_audit_line_is_shown_whole(household: Household) -> None:
    line = chain(
        AuditRecord("did", "ada", "it", {"a": 1}),
        project_id=household.project.id,
        seq=1,
        at=household.project.created_at,
        previous="0" * 64,
    )

    shown = AuditView.of(line).model_dump()

    assert shown == {name: value for name, value in line._asdict().items() if name != "project_id"}

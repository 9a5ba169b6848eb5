"""What became of a call is told in words that a model can act on, and outside text is fenced."""

from datetime import UTC, datetime
from typing import Any

import pytest

from handrail.agent.answers import answer_to
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.revision import Revision
from tests.wire.test_rendering import CALL

OUTPUT = {"success": True, "output": "hello"}


def ended(status: Status = Status.COMPLETED, **fields: Any) -> ToolExecution:
    return CALL._replace(status=status, **fields)


def test_a_result_is_fenced_with_where_it_came_from() -> None:
    answer = answer_to("u1", ended(result=OUTPUT))
    assert not answer.is_error
    assert "read_file a]" in answer.output.splitlines()[0]
    assert answer.output.splitlines()[2] == "hello"


def test_what_reads_like_orders_is_named_in_the_fence() -> None:
    found = {"findings": [{"line": 3, "reason": "tells its reader to send keys"}]}
    answer = answer_to("u1", ended(result=OUTPUT, suspicion=found))
    assert "line 3: tells its reader to send keys" in answer.output


def test_what_the_person_keeps_here_is_not_fenced() -> None:
    answer = answer_to("u1", ended(tool_name="self_info", result=OUTPUT))
    assert answer.output == "hello"


def test_a_command_that_failed_is_an_error_with_its_output() -> None:
    answer = answer_to("u1", ended(result={"success": False, "output": "1 failed"}))
    assert answer.is_error
    assert "1 failed" in answer.output


def test_a_long_result_is_cut_in_the_middle() -> None:
    text = "a" * 50_000 + "b" * 50_000
    answer = answer_to("u1", ended(result={"success": True, "output": text}))
    assert "40,000 characters left out" in answer.output
    assert len(answer.output) < 62_000
    assert answer.output.count("a" * 30_000) == answer.output.count("b" * 30_000) == 1


@pytest.mark.parametrize(
    ("status", "error_type", "words"),
    [
        (Status.REJECTED, None, "why\nDo not ask for the same again"),
        (Status.TIMEOUT, None, "not run: why\nNo one has refused it"),
        (Status.FAILED, ErrorType.DENIED, "not allowed here: why"),
        (Status.FAILED, ErrorType.OUTCOME_UNKNOWN, "outcome unknown: why; it may or may not"),
        (Status.FAILED, ErrorType.CANCELLED, "cancelled: why"),
        (Status.FAILED, ErrorType.EXECUTION, "failed:\n[untrusted "),
        (Status.FAILED, ErrorType.VALIDATION, "failed: why"),
    ],
)
def test_each_end_has_its_words(status: Status, error_type: ErrorType | None, words: str) -> None:
    answer = answer_to("u1", ended(status, error="why", error_type=error_type))
    assert answer.is_error
    assert answer.output.startswith(words)


REVISION = Revision("ada", datetime(2026, 1, 1, tzinfo=UTC), "-x = 1\n+x = 2\n")


@pytest.mark.parametrize("status", [Status.COMPLETED, Status.FAILED])
def test_what_a_person_changed_is_told_outside_of_the_fence(status: Status) -> None:
    changed = ended(status, result=OUTPUT, revision=REVISION, approved_at=CALL.created_at)

    answer = answer_to("u1", changed)

    note, fenced = answer.output.split("[untrusted", 1)
    assert note.startswith("A person changed this call before approving it:\n-x = 1\n+x = 2\n")
    assert "+x = 2" not in fenced


def test_a_refused_call_says_nothing_of_what_was_changed_in_it() -> None:
    refused = ended(Status.REJECTED, error="ada refused this call", revision=REVISION)

    assert answer_to("u1", refused).output.startswith("ada refused this call")

import pytest

from handrail.core import errors
from handrail.core.errors import ErrorType, HandrailError, ToolError


def test_why_an_execution_failed_is_one_of_nine_words() -> None:
    assert {str(kind) for kind in ErrorType} == {
        "validation",
        "denied",
        "too_many_questions",
        "stale",
        "cancelled",
        "no_client",
        "execution",
        "execution_timeout",
        "outcome_unknown",
        "internal",
    }


def test_every_error_of_the_module_can_be_caught_at_the_root() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raisable = [kind for kind in kinds if issubclass(kind, Exception)]
    assert len(raisable) > 10
    assert [kind for kind in raisable if not issubclass(kind, HandrailError)] == []


@pytest.mark.parametrize(
    ("error", "error_type"),
    [
        (errors.PathValidationError, "validation"),
        (errors.FileOperationError, "execution"),
        (errors.CommandExecutionError, "execution"),
        (errors.ApprovalDeniedError, "denied"),
    ],
    ids=["path", "file", "command", "approval"],
)
def test_tool_error_becomes_a_result_of_its_type(error: type[ToolError], error_type: str) -> None:
    assert error("because").error_type == error_type
    assert error("because").message == "because"

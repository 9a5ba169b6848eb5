"""What a person changed is told to the agent, in front of what the call gave back."""

from datetime import UTC, datetime

from handrail.core.revision import Revision

NOTE = "A person changed this call before approving it:\n-make\n+make test\n\n"
AT = datetime(2026, 1, 1, tzinfo=UTC)
CHANGED = Revision("ada", AT, "-make\n+make test\n")
CHANGED_BACK = Revision("ada", AT, "")


def test_the_output_begins_with_what_was_changed() -> None:
    told = CHANGED.tell_in({"success": True, "exit_code": 0, "output": "3 passed\n"})

    assert told == {
        "success": True,
        "exit_code": 0,
        "output": f"{NOTE}3 passed\n",
        "changed_by_person": {"by": "ada", "changes": "-make\n+make test\n"},
    }


def test_a_result_without_output_gets_one() -> None:
    told = CHANGED.tell_in({"success": True})

    assert told["output"] == NOTE


def test_a_call_that_was_changed_back_is_what_the_agent_asked() -> None:
    told = CHANGED_BACK.tell_in({"output": "3 passed\n"})

    assert told["output"] == "3 passed\n"
    assert told["changed_by_person"] == {"by": "ada", "changes": ""}

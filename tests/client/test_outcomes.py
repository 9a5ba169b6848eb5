"""The person who approved a call is told how it ended: exit code, failure, changed files."""

from typing import Any

import pytest

from handrail.client.outcomes import outcome_in_words

MANY = [f"{letter}.py" for letter in "abcdef"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"result": {"exit_code": 0}}, "exit 0"),
        ({"result": {"exit_code": 1}}, "exit 1"),
        ({"result": {"exit_code": -9}}, "killed by signal 9"),
        ({"result": {"exit_code": 0, "changed": ["a.py"]}}, "exit 0, changed a.py"),
        ({"result": {"exit_code": 0, "rehearsed": True, "changed": []}}, "exit 0, no file changed"),
        (
            {"result": {"exit_code": 0, "changed": MANY}},
            "exit 0, changed a.py, b.py, c.py and 3 more",
        ),
        ({"result": {"path": "a.md"}, "can_undo": True}, "done, changed a.md"),
        ({"result": {"path": "a.md"}, "can_undo": False}, "done"),
        ({"result": {"success": False}}, "failed"),
        ({"result": None}, "done"),
        ({"status": "failed", "error": "the disk is full"}, "failed: the disk is full"),
        ({"status": "timeout", "error": None}, "timed out"),
    ],
)
def test_an_outcome_is_told_in_a_few_words(call: dict[str, Any], words: str) -> None:
    assert outcome_in_words({"status": "completed", **call}) == words


def test_a_long_error_is_cut() -> None:
    assert len(outcome_in_words({"status": "failed", "error": "x" * 10_000})) < 300

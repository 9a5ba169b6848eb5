"""Whatever a tool gives back, what goes on is a result that can be sent, or an error."""

import json
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import pytest

from handrail.core.errors import BrokenTool
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolResult
from handrail.tools.outcome import MAX_RESULT_CHARS, as_result, as_survey


def test_a_result_stays_what_it_is() -> None:
    result = ToolResult(False, "out", {"a": [1, 2.5, None, True, {"b": ("c",)}]}, "why")
    assert as_result("dice", result) is result


def test_text_is_what_the_model_sees() -> None:
    assert as_result("dice", "six") == ToolResult(True, "six")


def test_an_object_is_the_fields_and_the_model_sees_them_too() -> None:
    assert as_result("dice", {"eyes": 6}) == ToolResult(True, '{"eyes": 6}', {"eyes": 6})


def test_an_object_can_say_what_the_model_sees() -> None:
    given = {"eyes": 6, "output": "a six"}
    assert as_result("dice", given) == ToolResult(True, "a six", {"eyes": 6})


def test_a_status_and_a_result_or_an_error_are_read_as_such() -> None:
    text = {"status": "success", "result": "six"}
    number = {"status": "success", "result": 6}
    assert as_result("dice", text) == ToolResult(True, "six", text)
    assert as_result("dice", number) == ToolResult(True, json.dumps(number), number)
    failed = {"status": "error", "error": "under the table"}
    assert as_result("dice", failed) == ToolResult.failed("under the table")


def test_a_status_beside_other_fields_is_one_of_them() -> None:
    fields = {"status": "success", "eyes": 6}
    assert as_result("dice", fields).fields == fields
    with pytest.raises(BrokenTool, match="a field named 'error'"):
        as_result("dice", {"status": "error", "error": "no", "eyes": 6})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "a NoneType; a tool gives back a ToolResult, a dict or a str"),
        (3, "a int; a tool gives back a ToolResult, a dict or a str"),
        ({"error": "no"}, "a field named 'error'; to fail, raise ToolError or"),
        (ToolResult(True, fields={"success": False}), "a field named 'success'; to fail, "),
        ({"at": datetime(2026, 1, 1, tzinfo=UTC)}, "a datetime, which JSON does not have"),
        ({"in": [{"path": Path("x")}]}, "a PosixPath, which JSON does not have"),
        ({"data": b"x"}, "a bytes, which JSON does not have"),
        ({"all": {1, 2}}, "a set, which JSON does not have"),
        ({"x": float("nan")}, "the number nan, which JSON cannot hold"),
        ({"x": 2**64}, "the number 18446744073709551616, which JSON cannot hold"),
        ({"x": {0: "zero"}}, "an object with 0 as a name; names are text"),
        ("x" * (MAX_RESULT_CHARS + 1), "8,000,005 characters; at most 8,000,000 are allowed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_told_is_the_fault_of_the_tool(given: object, words: str) -> None:
    with pytest.raises(BrokenTool) as caught:
        as_result("dice", given)
    assert caught.value.message.startswith(f"dice returned {words}")


def test_an_object_that_holds_itself_is_no_way_to_hang() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    with pytest.raises(BrokenTool):
        as_result("dice", circle)


def test_a_survey_stays_what_it_is() -> None:
    survey = Survey({"sha256": "abc"}, (Finding("a.b", "odd", RiskLevel.HIGH),), "--- a\n")
    assert as_survey("dice", survey) is survey


@pytest.mark.parametrize(
    "given",
    [None, {}, Survey({"at": object()}), Survey(evidence=cast(str, b"--- a"))],
    ids=["nothing", "object", "facts", "evidence"],
)
def test_a_survey_that_cannot_be_told_is_the_fault_of_the_tool(given: object) -> None:
    with pytest.raises(BrokenTool, match=r"^dice returned "):
        as_survey("dice", given)


def test_a_long_text_of_its_own_field_travels_apart_and_is_not_too_much() -> None:
    text = "x" * (MAX_RESULT_CHARS + 1)
    assert as_result("a_tool", {"output": "shown", "content": text}).fields == {"content": text}


class Disguised(str):
    """Text to look at, and something else to whoever writes it down."""


@pytest.mark.parametrize(
    "given",
    [
        ToolResult("maybe", "x"),  # pyright: ignore[reportArgumentType]
        ToolResult(True, None),  # pyright: ignore[reportArgumentType]
        ToolResult(False, "x", error=5),  # pyright: ignore[reportArgumentType]
        ToolResult(True, Disguised("x")),
        ToolResult(True, "x", {"content": Disguised("x")}),
    ],
    ids=["success", "output", "error", "disguised", "disguised-field"],
)
def test_a_result_of_the_wrong_types_is_none(given: ToolResult) -> None:
    with pytest.raises(BrokenTool):
        as_result("a_tool", given)


def test_a_word_of_a_closed_list_is_text() -> None:
    assert as_result("a_tool", {"kind": RiskWord.LOW}).fields == {"kind": "low"}


class RiskWord(StrEnum):
    LOW = "low"

"""What stands for an earlier result, and what only looks like it."""

from typing import Any

import pytest

from handrail.core.errors import BadInput
from handrail.core.execution import ToolExecution
from handrail.core.ids import CallId, ProjectId, SessionId
from handrail.core.tool import ToolCall
from handrail.plane.references import fill_in, find_references
from tests.conftest import Household
from tests.contracts.conftest import a_call


def a_chained(**params: Any) -> ToolCall:
    return ToolCall(ProjectId("prj_1"), SessionId("s"), CallId("last"), "write_file", params)


@pytest.fixture
def earlier(household: Household) -> list[ToolExecution | None]:
    first = {"success": True, "content": "hello", "files": [{"path": "a.py"}, {"path": "b.py"}]}
    second = {"success": True, "content": {"blob": "0" * 64, "size": 5}}
    return [a_call(household, "one", result=first), a_call(household, "two", result=second)]


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("${1.content}", "hello"),
        ("${1.success}", True),
        ("${1.files.1.path}", "b.py"),
        ("${1.files.0}", {"path": "a.py"}),
        ("${2.content}", {"blob": "0" * 64, "size": 5}),
        (["${1.content}", "x"], ["hello", "x"]),
        ({"deep": ["${1.files.0.path}"]}, {"deep": ["a.py"]}),
    ],
)
def test_a_reference_becomes_the_value_it_names(
    earlier: list[ToolExecution | None], reference: Any, value: Any
) -> None:
    filled = fill_in(a_chained(path="c.py", content=reference), earlier)
    assert filled.tool_params == {"path": "c.py", "content": value}


@pytest.mark.parametrize(
    "text",
    [
        "say ${1.content}",
        "${1.content} ",
        "${1.content}\n",
        "${1.content}${2.content}",
        "$${1.content}",
        "${0.content}",
        "${01.content}",
        "${1}",
        "${1.}",
        "${1.con-tent}",
        "${one.content}",
        "$1.content",
        "{1.content}",
    ],
)
def test_what_is_not_just_a_reference_stays_as_it_is(
    earlier: list[ToolExecution | None], text: str
) -> None:
    call = a_chained(content=text)
    assert find_references(call, at_most=0) == []
    assert fill_in(call, earlier) is call


def test_a_value_is_noted_with_the_call_it_came_from(
    earlier: list[ToolExecution | None],
) -> None:
    call = a_chained(
        path="${1.files.0.path}", content=["${2.content}", "${1.content}"], mode="write"
    )
    assert fill_in(call, earlier).origins == {"path": "one", "content": "one, two"}


def test_a_value_is_not_looked_at_for_further_references(
    earlier: list[ToolExecution | None], household: Household
) -> None:
    tricky = [a_call(household, "one", result={"content": "${1.secret}", "secret": "x"})]
    filled = fill_in(a_chained(content="${1.content}"), tricky)
    assert filled.tool_params == {"content": "${1.secret}"}


@pytest.mark.parametrize("text", ["${3.content}", "${4.content}", "${9999.content}"])
def test_a_reference_leads_backwards_only(text: str) -> None:
    with pytest.raises(BadInput, match="does not name an earlier call"):
        find_references(a_chained(content=[{"x": text}]), at_most=2)


@pytest.mark.parametrize(
    "text", ["${1.nothing}", "${1.files.2}", "${1.files.x}", "${1.content.0}", "${1.success.x}"]
)
def test_a_reference_to_what_is_not_there_is_told(
    earlier: list[ToolExecution | None], text: str
) -> None:
    with pytest.raises(BadInput, match="the result of that call has no"):
        fill_in(a_chained(content=text), earlier)


def test_few_words_do_not_stand_for_very_many(household: Household) -> None:
    large = [a_call(household, "one", result={"content": "x" * 900_000})]
    with pytest.raises(BadInput, match="would be filled with 2,700,006 characters"):
        fill_in(a_chained(content=["${1.content}"] * 3), large)


def test_a_call_has_few_references() -> None:
    with pytest.raises(BadInput, match="has 21 references; at most 20 are allowed"):
        find_references(a_chained(content=["${1.content}"] * 21), at_most=1)

"""A text that stands in a result twice is stored once, and read as it was."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.execution import Status
from handrail.store.result_rows import with_repetition, without_repetition
from handrail.store.rows import execution_row, read_execution
from handrail.store.schema import tool_executions
from tests.conftest import Household
from tests.contracts.conftest import a_call

EXECUTION_COLUMNS = [column.name for column in tool_executions.columns]
LINE = "all work and no play makes a dull file\n"
READ = {"success": True, "content": LINE * 50, "size": 1_950, "output": LINE * 50}

texts = st.sampled_from(["", "short", LINE, LINE * 2, LINE * 2 + "more", LINE + "else"])
values = st.one_of(texts, st.none(), st.integers(), st.just({"blob": "x", "size": 1}))
results = st.dictionaries(st.sampled_from(["content", "stdout", "output", "error"]), values)


@given(results)
def test_every_result_is_read_as_it_was_stored(result: dict[str, Any]) -> None:
    stored, field = without_repetition(result)

    assert with_repetition(None if stored is None else dict(stored), field) == result


@pytest.mark.parametrize("tail", ["", "\n[lines 1 to 50 of 90; go on with offset=50]"])
def test_a_text_is_stored_once(household: Household, tail: str) -> None:
    result = READ | {"output": LINE * 50 + tail}
    call = a_call(household, status=Status.COMPLETED, result=result)

    row = execution_row(call, "{}")

    assert row["result"].count(LINE[:-1]) == 50
    stored = tuple(row[name] for name in EXECUTION_COLUMNS)
    assert read_execution(stored).result == result


def test_results_of_earlier_versions_are_read_as_before(household: Household) -> None:
    call = a_call(household, status=Status.COMPLETED)
    row = execution_row(call, "{}") | {"result": '{"content":"a","output":"a"}'}

    stored = tuple(row[name] for name in EXECUTION_COLUMNS)

    assert read_execution(stored).result == {"content": "a", "output": "a"}

"""What every store promises to those who look back over calls."""

from datetime import timedelta
from typing import Any

import pytest

from handrail.core.activity import Mark, Wanted
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import CallId, SessionId
from handrail.core.risk import RiskLevel
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_call, a_question, a_waiting_call, asking, opening


async def have(store: SqliteStore, home: Household, call_id: str, **fields: Any) -> ToolExecution:
    call = a_call(home, call_id, **fields)
    await store.submit(opening(call, home))
    return call


async def have_five(store: SqliteStore, home: Household) -> list[ToolExecution]:
    """Five calls, the newest first."""
    start = home.project.created_at
    calls = [
        await have(store, home, f"call-{number}", created_at=start + timedelta(seconds=number))
        for number in range(5)
    ]
    return calls[::-1]


async def listed(
    store: SqliteStore, home: Household, *, limit: int = 9, offset: int = 0, **wanted: Any
) -> list[CallId]:
    found = await store.list_activity(home.project.id, Wanted(**wanted), limit=limit, offset=offset)
    records = await store.list_records(home.project.id, Wanted(**wanted), limit=limit + offset)
    assert [call.call_id for call in records][offset:] == [call.call_id for call in found]
    return [call.call_id for call in found]


async def test_calls_are_looked_at_newest_first_and_page_by_page(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    await have(store, neighbour, "not-ours")
    calls = await have_five(store, household)
    marks = [Mark(call.created_at, call.id) for call in calls]

    assert await listed(store, household) == ["call-4", "call-3", "call-2", "call-1", "call-0"]
    assert await listed(store, household, limit=2) == ["call-4", "call-3"]
    assert await listed(store, household, limit=2, offset=2) == ["call-2", "call-1"]
    assert await listed(store, household, before=marks[2]) == ["call-1", "call-0"]
    assert await listed(store, household, after=marks[2]) == ["call-4", "call-3"]
    assert await listed(store, household, before=marks[1], after=marks[3]) == ["call-2"]


async def test_of_calls_of_one_moment_none_is_left_out_or_told_twice(
    store: SqliteStore, household: Household
) -> None:
    for number in range(5):
        await have(store, household, f"call-{number}")
    seen: list[CallId] = []
    before = None
    for _ in range(5):
        (call,) = await store.list_activity(household.project.id, Wanted(before=before), limit=1)
        seen.append(call.call_id)
        before = call.mark

    assert sorted(seen) == [f"call-{number}" for number in range(5)]
    assert await listed(store, household, before=before) == []


async def test_calls_are_found_by_what_they_are(store: SqliteStore, household: Household) -> None:
    at = household.project.created_at
    await have(store, household, "failed", status=Status.FAILED, completed_at=at)
    await have(store, household, "risky", risk_level=RiskLevel.HIGH)
    await have(store, household, "writes", tool_name="write_file")
    await have(store, household, "elsewhere", session_id=SessionId("session-2"))

    assert await listed(store, household, status=Status.FAILED) == ["failed"]
    assert await listed(store, household, risk_level=RiskLevel.HIGH) == ["risky"]
    assert await listed(store, household, tool_name="write_file") == ["writes"]
    assert await listed(store, household, session_id=SessionId("session-2")) == ["elsewhere"]
    assert await listed(store, household, tool_name="write_file", status=Status.FAILED) == []
    count = await store.count_activity(household.project.id, Wanted(), most=9)
    few = await store.count_activity(household.project.id, Wanted(), most=3)
    some = await store.count_activity(household.project.id, Wanted(tool_name="write_file"), most=9)
    assert (count, few, some) == (4, 3, 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ReadMe", ["params"]),
        ("no room", ["error"]),
        ("I only LOOK", ["claim"]),
        ("call-id-of", ["call-id-of-it"]),
        ("agt_other", ["agent"]),
        ("write_", ["tool"]),
        # Signs that stand for others in a pattern stand for themselves.
        ("100%", ["percent"]),
        ("%", ["percent"]),
        ("a_b", ["underscore"]),
        ("c:\\x", ["backslash"]),
        ("\\", ["backslash"]),
        ('"', []),
        ("naïve", ["letters"]),
        ("nowhere", []),
    ],
)
async def test_calls_are_found_by_their_words(
    store: SqliteStore, household: Household, text: str, found: list[str]
) -> None:
    at = household.project.created_at
    plain = {"tool_params": {"path": "x"}}
    await have(store, household, "params", tool_params={"path": "README.md"})
    await have(
        store, household, "error", status=Status.FAILED, completed_at=at, error="no room", **plain
    )
    await have(store, household, "claim", reasoning="I only look", **plain)
    await have(store, household, "call-id-of-it", **plain)
    await have(store, household, "agent", agent_id="agt_other", **plain)
    await have(store, household, "tool", tool_name="write_file", **plain)
    await have(store, household, "percent", tool_params={"path": "100%"})
    await have(store, household, "underscore", tool_params={"path": "a_b"})
    await have(store, household, "near", tool_params={"path": "axb"})
    await have(store, household, "backslash", tool_params={"path": "c:\\x"})
    await have(store, household, "letters", tool_params={"path": "naïve.py"})

    assert await listed(store, household, text=text) == found
    assert await store.count_activity(household.project.id, Wanted(text=text), most=9) == len(found)


async def test_a_glimpse_has_the_question_but_nothing_that_is_large(
    store: SqliteStore, household: Household
) -> None:
    asked = a_waiting_call(household, "asked")
    question = a_question(asked, description="write notes.md")
    await store.submit(asking(asked, question, household))
    await have(store, household, "large", tool_params={"content": "x" * 20_001, "path": "a"})

    found = await store.list_activity(household.project.id, Wanted(), limit=9)

    glimpses = {call.call_id: call for call in found}
    assert glimpses[CallId("asked")].description == "write notes.md"
    assert glimpses[CallId("asked")].tool_params == asked.tool_params
    assert glimpses[CallId("large")].description is None
    assert glimpses[CallId("large")].tool_params == {"path": "a"}


async def test_a_mark_is_found_so_many_calls_back(store: SqliteStore, household: Household) -> None:
    calls = await have_five(store, household)

    async def back(distance: int, before: Mark | None = None) -> Mark | None:
        return await store.find_mark(household.project.id, before=before, distance=distance)

    marks = [Mark(call.created_at, call.id) for call in calls]
    assert await back(1) == marks[0]
    assert await back(3) == marks[2]
    assert await back(2, before=marks[1]) == marks[3]
    assert await back(6) is None

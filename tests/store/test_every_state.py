"""Whatever a change claims, the store lets a call walk the roads and nothing else.

What the tables themselves refuse in plain SQL is shown in test_schema.py.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.bus.local import LocalBus
from handrail.core.change import Advance, Change, Rejudge
from handrail.core.errors import ChangeRefused
from handrail.core.event import Topic
from handrail.core.execution import TRANSITIONS, Status, ToolExecution
from handrail.store.rows import Row
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile
from tests.conftest import Household
from tests.contracts.conftest import a_call, moving, opening

RAW = '{"path":"token=open-sesame"}'
Step = type[Advance | Rejudge]

from_every_state = pytest.mark.parametrize("start", Status)
in_every_way = pytest.mark.parametrize("step", [Advance, Rejudge])


async def opened(store: SqliteStore, home: Household, start: Status, call_id: str) -> ToolExecution:
    call = a_call(home, call_id, status=start)
    await store.submit(opening(call, home, RAW))
    return call


def claiming(step: Step, before: ToolExecution, status: Status) -> Change:
    """A change built by hand: no noun was asked whether there is such a road."""
    after = before._replace(status=status)
    return replace(moving(Advance(before, after)), steps=(step(before, after),))


def on_disk(folder: Path) -> list[list[Row]]:
    """All rows that a step could touch."""
    file = SqliteFile(folder / "handrail.db", read_only=True)
    tables = ("tool_executions", "raw_params", "events", "audit", "projects")
    found = [file.run(f"SELECT * FROM {table}") for table in tables]
    file.close()
    return found


@in_every_way
@pytest.mark.parametrize("start", [status for status in Status if not status.is_final])
async def test_every_road_is_walked_and_told(
    store: SqliteStore, household: Household, step: Step, start: Status
) -> None:
    for end in TRANSITIONS[start]:
        call = await opened(store, household, start, end)
        told = (await store.event_range(household.project.id)).last

        await store.submit(claiming(step, call, end))

        items = await store.read_stream(household.project.id, after=told, client_id=None, limit=9)
        assert await store.find_execution(call.id) == call._replace(status=end)
        assert [(item.event.execution_id, item.event.status) for item in items] == [(call.id, end)]


@in_every_way
@from_every_state
async def test_where_no_road_leads_nothing_is_changed_and_nobody_is_told(
    store: SqliteStore,
    bus: LocalBus,
    household: Household,
    tmp_path: Path,
    step: Step,
    start: Status,
) -> None:
    call = await opened(store, household, start, "call-1")
    before = on_disk(tmp_path)
    nowhere = set(Status) - TRANSITIONS[start]

    with bus.listen(Topic.execution(call.id), Topic.project(call.project_id)) as bell:
        for end in nowhere:
            with pytest.raises(ChangeRefused, match="illegal transition"):
                await store.submit(claiming(step, call, end))
            assert on_disk(tmp_path) == before
        rung = await bell.wait(0)

    assert not rung
    assert await store.find_execution(call.id) == call


@from_every_state
async def test_of_all_claims_made_at_once_at_most_one_is_taken_and_it_is_a_road(
    store: SqliteStore, household: Household, start: Status
) -> None:
    call = await opened(store, household, start, "call-1")

    outcomes = await asyncio.gather(
        *(store.submit(claiming(Advance, call, end)) for end in Status), return_exceptions=True
    )

    taken = {
        end
        for end, outcome in zip(Status, outcomes, strict=True)
        if not isinstance(outcome, ChangeRefused)
    }
    found = await store.find_execution(call.id)
    assert found is not None
    assert len(taken) == (0 if start.is_final else 1)
    assert taken <= TRANSITIONS[start]
    assert {found.status} == (taken or {start})

"""What time alone must bring about happens, also when nobody was there at the time."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from handrail.core.approval import ApprovalStatus
from handrail.core.errors import HandrailError
from handrail.core.execution import Status
from handrail.core.ids import ClientId
from handrail.plane import sweeper
from handrail.plane.sweeper import Sweeper
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteError
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane.conftest import (
    a_read,
    a_write,
    add_client,
    another_process,
    ask,
    ask_unseen,
    call_of,
    look,
    now_of,
)


async def test_deadlines_that_passed_while_nobody_ran_are_found(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, tmp_path: Path
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    overdue = [await ask(services, home) for home in (household, neighbour)]
    patient = await ask(services, household, "patient", path="src/run.sh")
    await store.close()
    clock.advance(301)

    async with another_process(tmp_path, clock) as later:
        await later.sweeper.sweep()

        for question in overdue:
            expired = await later.store.find_approval(question.id)
            call = await call_of(later.store, question)
            assert expired is not None
            assert expired.status is ApprovalStatus.EXPIRED
            assert (call.status, call.error) == (Status.TIMEOUT, "Approval timeout")
        assert await later.store.find_approval(patient.id) == patient


async def test_sweeping_again_changes_nothing(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    question = await ask(services, household)
    clock.advance(301)
    await services.sweeper.sweep()
    expired = await store.find_approval(question.id)
    seen = (await store.event_range(household.project.id)).last
    clock.advance(301)

    await services.sweeper.sweep()

    assert await store.find_approval(question.id) == expired
    assert (await store.event_range(household.project.id)).last == seen


async def test_two_who_sweep_at_once_end_a_call_once(
    services: Services, clock: FakeClock, household: Household, tmp_path: Path
) -> None:
    questions = [await ask_unseen(services, household, f"call-{number}") for number in range(5)]
    pending = await look(services, household, "pending")
    clock.advance(301)

    async with another_process(tmp_path, clock) as other:
        await asyncio.gather(
            services.sweeper.sweep(), other.sweeper.sweep(), services.sweeper.sweep()
        )
        calls = [await call_of(other.store, question) for question in questions]
        asked = await now_of(other.store, pending.id)
        lines = await other.store.read_audit(household.project.id, after=0, limit=100)

    assert [call.status for call in calls] == [Status.TIMEOUT] * 5
    assert asked.status is Status.AWAITING_APPROVAL
    actions = [line.action for line in lines]
    assert (actions.count("approval.expired"), actions.count("call.surveyed")) == (5, 1)


async def test_what_waits_for_a_client_that_has_left_is_handed_to_one_that_is_there(
    services: Services, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    with services.connections.open(household.client_id, household.workspace.id):
        handed = await services.executor.propose(a_read(household), household.agent)

    assert other.workspace_id is not None
    with services.connections.open(ClientId(other.subject), other.workspace_id):
        await services.sweeper.sweep()

    assert (await now_of(store, handed.id)).client_id == other.subject


async def test_whoever_waits_for_a_call_learns_of_its_deadline(
    services: Services, clock: FakeClock, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeper, "_PAUSE_SECONDS", 0.001)
    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        sweeping = group.create_task(services.sweeper.sweep_forever())
        asking = group.create_task(
            services.executor.execute_tool(a_write(household), household.agent)
        )
        while not await services.approvals.get_pending_approvals(household.project.id):
            await asyncio.sleep(0.001)
        clock.advance(300)
        ended = await asking
        sweeping.cancel()

    assert (ended.status, ended.error) == (Status.TIMEOUT, "Approval timeout")


# Chores


async def test_chores_are_done_in_their_order_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeper, "_PAUSE_SECONDS", 0)
    done: list[str] = []
    enough = asyncio.Event()

    async def first() -> None:
        done.append("first")

    async def second() -> None:
        done.append("second")
        if len(done) >= 6:
            enough.set()

    async with asyncio.timeout(4), asyncio.TaskGroup() as group:
        sweeping = group.create_task(Sweeper((first, second)).sweep_forever())
        await enough.wait()
        sweeping.cancel()

    assert done[:6] == ["first", "second"] * 3


@pytest.mark.parametrize(
    "error",
    [
        HandrailError("the database could not be written: disk full"),
        # takes the server with it.
        SqliteError("disk I/O error"),
    ],
    ids=["ours", "the database's"],
)
async def test_a_chore_that_fails_is_logged_and_the_others_go_on(error: Exception) -> None:
    done: list[str] = []

    async def failing() -> None:
        raise error

    async def sound() -> None:
        done.append("sound")

    with capture_logs() as logged:
        await Sweeper((failing, sound, failing, sound)).sweep()

    assert done == ["sound", "sound"]
    assert [(line["event"], line["log_level"]) for line in logged] == [
        ("sweep.failed", "error")
    ] * 2
    assert str(error) in str(logged)

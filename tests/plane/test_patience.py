"""A call waits for a machine for as long as was said, and then says that none has come."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from handrail.core.errors import Conflict, ErrorType
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.plane.dispatch import Claim
from handrail.plane.patience import Patience
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import (
    KEY,
    a_read,
    a_report,
    add_client,
    all_tables,
    another_process,
    ask_unseen,
    call_of,
    connected,
    find,
    handed_out,
    lines_of,
    look,
    now_of,
)
from tests.plane.stages import approved, begun, offered

A_MOMENT = 0.000_001
A_DAY = 86_400
NO_MACHINE = (
    "no machine was connected for 300 s; start `handrail connect` in the workspace, and ask again"
)
NOT_BEGUN = "no machine has started it within 600 s"
AWAY = "the machine that started it has been disconnected for 600 s; how far it got is unknown"

Build = Callable[..., Awaitable[ToolExecution]]

every_end = pytest.mark.parametrize(
    ("stage", "seconds"),
    [
        pytest.param(approved, 300, id="nobody-came"),
        pytest.param(offered, 600, id="nobody-began"),
        pytest.param(begun, 600, id="nobody-came-back"),
    ],
)


@pytest.fixture
def patience(services: Services) -> Patience:
    return patience_of(services)


def patience_of(services: Services) -> Patience:
    return Patience(services.store, services.clock, services.connections)


async def a_waiting_read(services: Services, home: Household) -> ToolExecution:
    """A read that was let pass while no client was there to take it."""
    return await services.executor.propose(a_read(home), home.agent)


def without_client(call: ToolExecution, clock: FakeClock) -> ToolExecution:
    return call.fail(ErrorType.NO_CLIENT, NO_MACHINE, clock.now())


def not_begun(call: ToolExecution, clock: FakeClock) -> ToolExecution:
    return call.advance(Status.TIMEOUT, clock.now(), error=NOT_BEGUN)


def unknown(call: ToolExecution, clock: FakeClock) -> ToolExecution:
    return call.fail(ErrorType.OUTCOME_UNKNOWN, AWAY, clock.now())


# Nobody is there


@pytest.mark.parametrize("waiting", [a_waiting_read, approved], ids=["a read", "a change"])
async def test_without_a_client_a_call_ends_after_five_minutes_and_not_a_moment_sooner(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    waiting: Build,
) -> None:
    call = await waiting(services, household)

    clock.advance(300 - A_MOMENT)
    await patience.give_up()
    just_before = await find(store, call)
    clock.advance(A_MOMENT)
    await patience.give_up()

    assert call.status is Status.APPROVED
    assert just_before == call
    assert await find(store, call) == without_client(call, clock)


async def test_where_nobody_has_been_for_long_the_time_counts_from_the_approval(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    with connected(services, household.client):
        pass
    clock.advance(A_DAY)
    call = await a_waiting_read(services, household)

    clock.advance(300 - A_MOMENT)
    await patience.give_up()
    just_before = await find(store, call)
    clock.advance(A_MOMENT)
    await patience.give_up()

    assert just_before == call
    assert await find(store, call) == without_client(call, clock)


async def test_where_somebody_was_here_the_time_counts_from_when_the_last_one_left(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    other = await add_client(store, household)
    call = await offered(services, household)
    with connected(services, other):
        with connected(services, household.client):
            clock.advance(100)
        clock.advance(100)

    clock.advance(300 - A_MOMENT)
    await patience.give_up()
    just_before = await find(store, call)
    clock.advance(A_MOMENT)
    await patience.give_up()

    assert just_before == call
    assert await find(store, call) == without_client(call, clock)


async def test_a_client_that_comes_in_time_gets_the_call_and_may_take_its_own(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    call = await a_waiting_read(services, household)
    clock.advance(300 - A_MOMENT)
    with connected(services, household.client) as connection:
        await services.dispatcher.offer_open_calls(connection)
        clock.advance(A_DAY)

        await patience.give_up()

        assert (await find(store, call)).status is Status.EXECUTING
        ended = await services.receiver.accept(
            a_report(call.id), household.client, household.project.id
        )
    assert ended.status is Status.COMPLETED


@pytest.mark.parametrize("waiting", [a_waiting_read, approved], ids=["a read", "a change"])
async def test_after_a_restart_the_time_without_a_client_counts_from_the_restart(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    tmp_path: Path,
    waiting: Build,
) -> None:
    call = await waiting(services, household)
    await store.close()
    clock.advance(299)

    async with another_process(tmp_path, clock) as later:
        clock.advance(300 - A_MOMENT)
        await patience_of(later).give_up()
        just_before = await now_of(later.store, call.id)
        clock.advance(A_MOMENT)
        await patience_of(later).give_up()
        ended = await now_of(later.store, call.id)

    # Ten minutes since the approval are not over yet, so it was the missing client.
    assert just_before == call
    assert ended == without_client(call, clock)


@pytest.mark.parametrize("waiting", [a_waiting_read, approved], ids=["a read", "a change"])
async def test_ten_minutes_since_the_approval_end_a_call_however_often_we_restart(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    tmp_path: Path,
    waiting: Build,
) -> None:
    call = await waiting(services, household)
    await store.close()

    clock.advance(600 - A_MOMENT)
    async with another_process(tmp_path, clock) as later:
        await patience_of(later).give_up()
        just_before = await now_of(later.store, call.id)
    clock.advance(A_MOMENT)
    async with another_process(tmp_path, clock) as last:
        await patience_of(last).give_up()
        ended = await now_of(last.store, call.id)

    assert just_before == call
    assert ended == not_begun(call, clock)


async def test_a_read_whose_client_has_left_for_good_ends(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    with connected(services, household.client):
        call = await a_waiting_read(services, household)
        clock.advance(A_DAY)
        await patience.give_up()
        while_here = await find(store, call)

    clock.advance(300 - A_MOMENT)
    await patience.give_up()
    just_before = await find(store, call)
    clock.advance(A_MOMENT)
    await patience.give_up()

    assert call.status is Status.EXECUTING
    assert while_here == just_before == call
    assert await find(store, call) == without_client(call, clock)


async def test_a_read_is_not_given_up_while_another_client_could_have_it(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    other = await add_client(store, household)
    call = await handed_out(services, household)

    with connected(services, other):
        clock.advance(A_DAY)
        await patience.give_up()

    assert await find(store, call) == call


# Offered, and not begun


async def test_what_was_offered_and_not_claimed_ends_after_ten_minutes_and_not_a_moment_sooner(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    call = await offered(services, household)

    with connected(services, household.client):
        clock.advance(600 - A_MOMENT)
        await patience.give_up()
        just_before = await find(store, call)
        clock.advance(A_MOMENT)
        await patience.give_up()

    assert just_before == call
    assert await find(store, call) == not_begun(call, clock)


async def test_offering_a_call_anew_gives_it_no_more_time(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    call = await offered(services, household)
    clock.advance(299)

    with connected(services, household.client) as connection:
        await services.dispatcher.offer_open_calls(connection)
        clock.advance(301)
        await patience.give_up()

    assert await find(store, call) == not_begun(call._replace(epoch=2), clock)


@pytest.mark.parametrize("claims_first", [True, False])
async def test_a_claim_and_the_end_of_patience_at_once_have_one_outcome(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    claims_first: bool,
) -> None:
    call = await offered(services, household)
    claim = services.dispatcher.claim(
        call.id, Claim(call.epoch, KEY), household.client, household.project.id
    )

    with connected(services, household.client):
        clock.advance(600)
        both = (claim, patience.give_up()) if claims_first else (patience.give_up(), claim)
        outcomes = await asyncio.gather(*both, return_exceptions=True)

    found = await find(store, call)
    if claims_first:
        assert found == outcomes[0] == call.advance(Status.EXECUTING, clock.now(), claim_key=KEY)
    else:
        assert found == not_begun(call, clock)
        assert isinstance(outcomes[1], Conflict)


# Begun, and nobody tells how it went


async def test_a_change_whose_client_stays_away_ends_as_unknown_and_not_a_moment_sooner(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    call = await begun(services, household)

    clock.advance(600 - A_MOMENT)
    await patience.give_up()
    just_before = await find(store, call)
    clock.advance(A_MOMENT)
    await patience.give_up()

    assert call.status is Status.EXECUTING
    assert just_before == call
    assert await find(store, call) == unknown(call, clock)


async def test_while_its_client_is_here_a_change_may_take_as_long_as_it_takes(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    call = await begun(services, household)

    with connected(services, household.client):
        clock.advance(A_DAY)
        await patience.give_up()

    assert await find(store, call) == call


async def test_each_absence_counts_for_itself(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    call = await begun(services, household)
    clock.advance(599)
    with connected(services, household.client):
        pass

    clock.advance(600 - A_MOMENT)
    await patience.give_up()
    just_before = await find(store, call)
    clock.advance(A_MOMENT)
    await patience.give_up()

    assert just_before == call
    assert await find(store, call) == unknown(call, clock)


async def test_another_client_cannot_know_how_far_a_change_came(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    other = await add_client(store, household)
    call = await begun(services, household)

    with connected(services, other):
        clock.advance(600)
        await patience.give_up()

    assert await find(store, call) == unknown(call, clock)


async def test_after_a_restart_the_client_of_a_change_gets_its_time_again(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    tmp_path: Path,
) -> None:
    call = await begun(services, household)
    await store.close()
    clock.advance(A_DAY)

    async with another_process(tmp_path, clock) as later:
        clock.advance(600 - A_MOMENT)
        await patience_of(later).give_up()
        just_before = await now_of(later.store, call.id)
        clock.advance(A_MOMENT)
        await patience_of(later).give_up()
        ended = await now_of(later.store, call.id)

    assert just_before == call
    assert ended == unknown(call, clock)


# What is not waiting for a machine


async def test_what_waits_for_a_look_or_for_a_person_is_left_alone(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    pending = await look(services, household, "looked-at")
    asked = await call_of(store, await ask_unseen(services, household, "asked"))
    clock.advance(A_DAY)

    await patience.give_up()

    assert await find(store, pending) == pending
    assert await find(store, asked) == asked


# How it is told


@pytest.mark.parametrize(
    ("stage", "seconds", "status", "error", "error_type"),
    [
        pytest.param(approved, 300, "failed", NO_MACHINE, "no_client", id="nobody-came"),
        pytest.param(offered, 600, "timeout", NOT_BEGUN, None, id="nobody-began"),
        pytest.param(begun, 600, "failed", AWAY, "outcome_unknown", id="nobody-came-back"),
    ],
)
async def test_the_end_is_told_to_everyone_and_written_down_once(
    services: Services,
    patience: Patience,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    stage: Build,
    seconds: int,
    status: str,
    error: str,
    error_type: str | None,
) -> None:
    call = await stage(services, household)
    told = (await store.event_range(household.project.id)).last
    clock.advance(seconds)

    await patience.give_up()
    await patience.give_up()

    items = await store.read_stream(household.project.id, after=told, client_id=None, limit=9)
    assert [item.event[3:] for item in items] == [
        NewEvent(EventKind.STATUS, call.id, Status(status))
    ]
    (line,) = await lines_of(store, household, "call.ended")
    assert (line.actor, line.subject) == ("handrail", call.id)
    assert json.loads(line.details) == {
        "status": status,
        "error": error,
        "error_type": error_type,
        "execution_time_ms": None,
    }


@every_end
async def test_whoever_waits_for_the_call_is_released(
    services: Services,
    patience: Patience,
    household: Household,
    clock: FakeClock,
    stage: Build,
    seconds: int,
) -> None:
    call = await stage(services, household)

    async with asyncio.timeout(4), asyncio.TaskGroup() as group:  # less than a poll
        asker = group.create_task(services.executor.settle(call.id))
        await asyncio.sleep(0)
        clock.advance(seconds)
        await patience.give_up()

    assert asker.result() == await now_of(services.store, call.id)
    assert asker.result().status.is_final


@every_end
async def test_no_table_keeps_a_secret_of_what_was_given_up(
    services: Services,
    patience: Patience,
    household: Household,
    clock: FakeClock,
    tmp_path: Path,
    stage: Build,
    seconds: int,
) -> None:
    await stage(services, household, content="token=open-sesame\n")
    before = all_tables(tmp_path)
    clock.advance(seconds)

    await patience.give_up()

    assert "open-sesame" in before
    assert "open-sesame" not in all_tables(tmp_path)


async def test_two_who_lose_patience_at_once_end_a_call_once(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    async with another_process(tmp_path, clock) as other:
        calls = [
            await services.executor.propose(a_read(household, f"call-{number}"), household.agent)
            for number in range(5)
        ]
        clock.advance(300)

        await asyncio.gather(*(patience_of(each).give_up() for each in (services, other, services)))

    lines = await lines_of(store, household, "call.ended")
    assert sorted(line.subject for line in lines) == sorted(call.id for call in calls)


async def test_the_sweeper_has_no_more_patience_than_this(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    call = await a_waiting_read(services, household)
    clock.advance(300)

    await services.sweeper.sweep()

    assert await find(store, call) == without_client(call, clock)

"""A call is in one pair of hands at a time, and its end is told once."""

import asyncio
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.access import Principal
from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import Event, EventKind, Topic
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId, WorkspaceId
from handrail.core.tool import Effect
from handrail.plane.dispatch import Dispatcher, Report, Seat
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_call, opening
from tests.plane.conftest import a_read, a_report, add_client, add_workspace


@pytest.fixture
def dispatcher(services: Services) -> Dispatcher:
    return services.dispatcher


def seated(dispatcher: Dispatcher, client: Principal) -> AbstractContextManager[Seat]:
    assert client.workspace_id is not None
    return dispatcher.seat(ClientId(client.subject), client.workspace_id)


async def handed_out(services: Services, home: Household, call_id: str = "call-1") -> ToolExecution:
    """A read in the hands of the household's client, which has left since."""
    with seated(services.dispatcher, home.client):
        return await services.executor.propose(a_read(home, call_id), home.agent)


async def find(store: SqliteStore, execution: ToolExecution) -> ToolExecution:
    found = await store.find_execution(execution.id)
    assert found is not None
    return found


async def signals_to(store: SqliteStore, home: Household, client: Principal) -> list[Event]:
    items = await store.read_stream(
        home.project.id, after=0, client_id=ClientId(client.subject), limit=1000
    )
    return [item.event for item in items if item.event.kind is EventKind.EXECUTION_SIGNAL]


# Seats


def test_a_client_is_connected_while_it_has_a_seat(
    dispatcher: Dispatcher, household: Household
) -> None:
    with seated(dispatcher, household.client) as seat:
        assert dispatcher.connected == {household.client_id}
        assert not seat.replaced

    assert dispatcher.connected == frozenset()


async def test_a_second_seat_of_the_same_client_takes_the_place_of_the_first(
    dispatcher: Dispatcher, bus: LocalBus, household: Household
) -> None:
    first = seated(dispatcher, household.client)
    earlier = first.__enter__()
    with (
        bus.listen(Topic.client(household.client_id)) as bell,
        seated(dispatcher, household.client) as later,
    ):
        assert await bell.wait(1)
        assert (earlier.replaced, later.replaced) == (True, False)
        # The first one gets up late; the client is still there.
        first.__exit__(None, None, None)
        assert dispatcher.connected == {household.client_id}

    assert dispatcher.connected == frozenset()


# Assigning


def test_a_read_is_assigned_to_a_client_that_is_there(
    dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household)
    clock.advance(5)

    with seated(dispatcher, household.client):
        assigned = dispatcher.assign(approved, clock.now())

    assert assigned == approved._replace(
        status=Status.EXECUTING,
        client_id=household.client_id,
        epoch=1,
        started_at=clock.now(),
    )


def test_without_a_client_a_read_waits_as_it_is(
    dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household)

    assert dispatcher.assign(approved, clock.now()) == approved


def test_a_client_of_another_workspace_is_given_nothing(
    dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household)

    with dispatcher.seat(ClientId("cli_elsewhere"), WorkspaceId("wsp_elsewhere")):
        assert dispatcher.assign(approved, clock.now()) == approved


def test_what_changes_something_is_offered_and_waits_to_be_claimed(
    dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household, effect=Effect.CHANGE)

    with seated(dispatcher, household.client):
        assert dispatcher.assign(approved, clock.now()) == approved._replace(
            client_id=household.client_id, epoch=1
        )


# Offering


async def test_a_client_that_comes_is_offered_what_waits(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    waiting = [
        await services.executor.propose(a_read(household, f"call-{number}"), household.agent)
        for number in range(3)
    ]

    with seated(dispatcher, household.client) as seat:
        await dispatcher.offer_open_calls(seat)

    at = household.project.created_at
    offered = [
        call._replace(
            status=Status.EXECUTING, client_id=household.client_id, epoch=1, started_at=at
        )
        for call in waiting
    ]
    assert [await find(store, call) for call in waiting] == offered
    assert [event[4:] for event in await signals_to(store, household, household.client)] == [
        (call.id, Status.EXECUTING, household.client_id, 1) for call in waiting
    ]
    lines = await store.read_audit(household.project.id, after=0, limit=100)
    assert [(line.action, line.subject) for line in lines[-3:]] == [
        ("call.offered", call.id) for call in waiting
    ]


async def test_a_client_that_comes_back_is_offered_anew_what_it_had(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    for epoch in (2, 3):
        with seated(dispatcher, household.client) as seat:
            await dispatcher.offer_open_calls(seat)
        assert await find(store, handed) == handed._replace(epoch=epoch)

    epochs = [event.epoch for event in await signals_to(store, household, household.client)]
    assert epochs == [1, 2, 3]


async def test_a_client_that_comes_is_offered_what_a_vanished_one_left(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    other = await add_client(store, household)

    with seated(dispatcher, other) as seat:
        await dispatcher.offer_open_calls(seat)

    assert await find(store, handed) == handed._replace(client_id=other.subject, epoch=2)
    assert [event.epoch for event in await signals_to(store, household, other)] == [2]


async def test_nothing_is_taken_out_of_the_hands_of_a_client_that_is_there(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    with seated(dispatcher, household.client):
        handed = await services.executor.propose(a_read(household), household.agent)
        with seated(dispatcher, other) as seat:
            await dispatcher.offer_open_calls(seat)
            await dispatcher.hand_over(household.workspace.id)

    assert await find(store, handed) == handed
    assert await signals_to(store, household, other) == []


async def test_calls_of_another_workspace_are_not_offered(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    waiting = await services.executor.propose(a_read(household), household.agent)
    workspace = await add_workspace(store, household, "/elsewhere")
    other = await add_client(store, household, workspace.id)

    with seated(dispatcher, other) as seat:
        await dispatcher.offer_open_calls(seat)
        await dispatcher.hand_over(workspace.id)
        await dispatcher.hand_over(household.workspace.id)

    assert await find(store, waiting) == waiting


async def test_what_has_ended_is_not_offered(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    ended = await dispatcher.accept(a_report(handed.id), household.client, household.project.id)

    with seated(dispatcher, household.client) as seat:
        await dispatcher.offer_open_calls(seat)

    assert await find(store, handed) == ended
    assert len(await signals_to(store, household, household.client)) == 1


async def test_a_vanished_clients_read_is_handed_over(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)

    with seated(dispatcher, other):
        await dispatcher.hand_over(household.workspace.id)

    assert await find(store, handed) == handed._replace(client_id=other.subject, epoch=2)


async def test_with_nobody_there_a_read_stays_where_it_is(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    await dispatcher.hand_over(household.workspace.id)

    assert await find(store, handed) == handed


async def test_a_change_that_was_claimed_is_not_handed_to_another_client(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    begun = offered.advance(Status.EXECUTING, at)
    await store.submit(opening(begun, household))

    with seated(dispatcher, other) as seat:
        await dispatcher.offer_open_calls(seat)
        await dispatcher.hand_over(household.workspace.id)

    assert await find(store, begun) == begun


async def test_two_clients_that_come_at_once_share_no_call(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    waiting = [
        await services.executor.propose(a_read(household, f"call-{number}"), household.agent)
        for number in range(5)
    ]

    with seated(dispatcher, household.client) as one, seated(dispatcher, other) as two:
        await asyncio.gather(dispatcher.offer_open_calls(one), dispatcher.offer_open_calls(two))

    found = [await find(store, call) for call in waiting]
    assert [call.epoch for call in found] == [1] * 5
    signals = await signals_to(store, household, household.client)
    signals += await signals_to(store, household, other)
    assert sorted(event.execution_id for event in signals) == sorted(call.id for call in waiting)


async def test_a_change_that_nobody_claimed_is_offered_to_another_client(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    with seated(dispatcher, other):
        await dispatcher.hand_over(household.workspace.id)

    assert await find(store, offered) == offered._replace(client_id=other.subject, epoch=2)


# Claiming


async def test_a_claim_begins_the_call_and_asking_again_is_harmless(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    claims = [
        await dispatcher.claim(offered.id, 1, household.client, household.project.id)
        for _ in range(2)
    ]

    begun = offered._replace(status=Status.EXECUTING, started_at=at)
    assert claims == [begun, begun]
    assert await find(store, offered) == begun


@pytest.mark.parametrize("epoch", [0, 2])
async def test_a_claim_under_another_epoch_is_turned_away(
    dispatcher: Dispatcher, store: SqliteStore, household: Household, epoch: int
) -> None:
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    with pytest.raises(Conflict, match="is not offered to this client under epoch"):
        await dispatcher.claim(offered.id, epoch, household.client, household.project.id)

    assert await find(store, offered) == offered


async def test_of_two_clients_only_the_one_it_was_offered_to_may_claim(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    with pytest.raises(Conflict):
        await dispatcher.claim(offered.id, 1, other, household.project.id)
    claimed = await dispatcher.claim(offered.id, 1, household.client, household.project.id)

    assert claimed.status is Status.EXECUTING


async def test_a_call_that_has_ended_cannot_be_claimed(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    ended = offered.fail(ErrorType.CANCELLED, "no longer wanted", at)
    await store.submit(opening(ended, household))

    with pytest.raises(Conflict):
        await dispatcher.claim(offered.id, 1, household.client, household.project.id)


async def test_calls_are_tended_while_the_server_runs(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)

    with seated(dispatcher, other):
        tending = asyncio.create_task(services.sweeper.sweep_forever())
        async with asyncio.timeout(10):
            while (await find(store, handed)).client_id != other.subject:
                await asyncio.sleep(0.02)
        tending.cancel()

    assert (await find(store, handed)).epoch == 2


# Accepting


async def test_a_result_ends_the_call(
    services: Services,
    dispatcher: Dispatcher,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    handed = await handed_out(services, household)
    clock.advance(2)

    ended = await dispatcher.accept(
        a_report(handed.id, "hello"), household.client, household.project.id
    )

    assert ended == handed._replace(
        status=Status.COMPLETED,
        result={"success": True, "content": "hello"},
        execution_time_ms=3,
        completed_at=clock.now(),
    )
    assert await find(store, handed) == ended
    items = await store.read_stream(household.project.id, after=1, client_id=None, limit=9)
    assert [item.event for item in items] == [
        Event(
            household.project.id,
            2,
            clock.now(),
            EventKind.RESULT_ACK,
            handed.id,
            Status.COMPLETED,
            household.client_id,
            1,
        )
    ]
    lines = await store.read_audit(household.project.id, after=0, limit=100)
    assert (lines[-1].action, lines[-1].actor, lines[-1].subject) == (
        "call.ended",
        household.client.subject,
        handed.id,
    )
    assert "hello" not in lines[-1].details


async def test_a_failure_ends_the_call(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    report = Report(
        execution_id=handed.id,
        status=Status.FAILED,
        epoch=1,
        error="README.md does not exist",
        error_type=ErrorType.EXECUTION,
        execution_time_ms=1,
    )

    ended = await dispatcher.accept(report, household.client, household.project.id)

    assert ended == handed._replace(
        status=Status.FAILED,
        error="README.md does not exist",
        error_type=ErrorType.EXECUTION,
        execution_time_ms=1,
        completed_at=household.project.created_at,
    )
    assert await find(store, handed) == ended


async def test_the_same_result_twice_is_one_result(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    first = await dispatcher.accept(a_report(handed.id), household.client, household.project.id)

    # Sent again it may have taken longer, and be under another epoch.
    again = replace(a_report(handed.id), execution_time_ms=99, epoch=None)
    second = await dispatcher.accept(again, household.client, household.project.id)

    assert second == first
    assert await store.last_event(household.project.id) == 2


async def test_another_result_after_the_end_is_a_conflict(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    first = await dispatcher.accept(a_report(handed.id), household.client, household.project.id)

    others = [
        a_report(handed.id, "something else"),
        Report(execution_id=handed.id, status=Status.FAILED, error="no", epoch=1),
    ]
    for other in others:
        with pytest.raises(Conflict, match="has ended already, as completed"):
            await dispatcher.accept(other, household.client, household.project.id)

    assert await find(store, handed) == first


async def test_another_failure_after_the_end_is_a_conflict(
    services: Services, dispatcher: Dispatcher, household: Household
) -> None:
    handed = await handed_out(services, household)

    def failure(error: str) -> Report:
        return Report(execution_id=handed.id, status=Status.FAILED, epoch=1, error=error)

    first = await dispatcher.accept(failure("no"), household.client, household.project.id)
    again = await dispatcher.accept(failure("no"), household.client, household.project.id)

    assert again == first
    with pytest.raises(Conflict, match="has ended already, as failed"):
        await dispatcher.accept(failure("never"), household.client, household.project.id)


async def test_a_result_under_an_older_epoch_is_a_conflict(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    with seated(dispatcher, household.client) as seat:
        await dispatcher.offer_open_calls(seat)

    with pytest.raises(Conflict, match="was handed out anew since"):
        await dispatcher.accept(
            a_report(handed.id, epoch=1), household.client, household.project.id
        )
    assert (await find(store, handed)).status is Status.EXECUTING

    ended = await dispatcher.accept(
        a_report(handed.id, epoch=2), household.client, household.project.id
    )
    assert ended.status is Status.COMPLETED


async def test_without_an_epoch_the_present_one_is_meant(
    services: Services, dispatcher: Dispatcher, household: Household
) -> None:
    handed = await handed_out(services, household)
    with seated(dispatcher, household.client) as seat:
        await dispatcher.offer_open_calls(seat)

    ended = await dispatcher.accept(
        a_report(handed.id, epoch=None), household.client, household.project.id
    )

    assert (ended.status, ended.epoch) == (Status.COMPLETED, 2)


async def test_a_client_whose_call_was_handed_over_is_turned_away(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)
    with seated(dispatcher, other):
        await dispatcher.hand_over(household.workspace.id)

    with pytest.raises(Conflict, match="was not handed to this client"):
        await dispatcher.accept(
            a_report(handed.id, epoch=None), household.client, household.project.id
        )

    ended = await dispatcher.accept(a_report(handed.id, epoch=2), other, household.project.id)
    assert ended.client_id == other.subject


async def test_a_call_that_nobody_was_handed_has_no_result_to_take(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    waiting = await services.executor.propose(a_read(household), household.agent)

    with pytest.raises(Conflict, match="was not handed to this client"):
        await dispatcher.accept(
            a_report(waiting.id, epoch=None), household.client, household.project.id
        )

    assert await find(store, waiting) == waiting


async def test_another_projects_call_is_not_found(
    services: Services,
    dispatcher: Dispatcher,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    handed = await handed_out(services, household)

    for client in (household.client, neighbour.client):
        with pytest.raises(NotFound, match=f"there is no execution {handed.id}"):
            await dispatcher.accept(a_report(handed.id), client, neighbour.project.id)

    assert await find(store, handed) == handed


async def test_an_unknown_call_is_not_found(dispatcher: Dispatcher, household: Household) -> None:
    with pytest.raises(NotFound, match="there is no execution exe_none"):
        await dispatcher.accept(
            a_report(ExecutionId("exe_none")), household.client, household.project.id
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["hello", "hello"], ["completed", "completed"], id="the-same"),
        pytest.param(["hello", "goodbye"], ["Conflict", "completed"], id="different"),
    ],
)
async def test_two_results_at_once_are_one_end(
    services: Services,
    dispatcher: Dispatcher,
    store: SqliteStore,
    household: Household,
    words: list[str],
    expected: list[str],
) -> None:
    handed = await handed_out(services, household)

    outcomes = await asyncio.gather(
        *(
            dispatcher.accept(a_report(handed.id, word), household.client, household.project.id)
            for word in words
        ),
        return_exceptions=True,
    )

    def named(outcome: Any) -> str:
        return str(outcome.status) if isinstance(outcome, ToolExecution) else type(outcome).__name__

    assert sorted(map(named, outcomes)) == expected
    assert await store.last_event(household.project.id) == 2
    winners = [one for one in outcomes if isinstance(one, ToolExecution)]
    assert [await find(store, handed)] * len(winners) == winners


async def test_a_result_that_comes_too_late_for_a_new_offer_is_turned_away(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    with seated(dispatcher, household.client) as seat:
        offer, report = await asyncio.gather(
            dispatcher.offer_open_calls(seat),
            dispatcher.accept(a_report(handed.id), household.client, household.project.id),
            return_exceptions=True,
        )

    assert offer is None
    assert isinstance(report, Conflict)
    assert await find(store, handed) == handed._replace(epoch=2)


async def test_an_offer_that_comes_too_late_for_a_result_changes_nothing(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    with seated(dispatcher, household.client) as seat:
        ended, _ = await asyncio.gather(
            dispatcher.accept(a_report(handed.id), household.client, household.project.id),
            dispatcher.offer_open_calls(seat),
        )

    assert await find(store, handed) == ended
    assert len(await signals_to(store, household, household.client)) == 1

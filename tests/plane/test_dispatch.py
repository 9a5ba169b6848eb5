"""A call is in one pair of hands at a time, and its end is told once."""

import asyncio

import pytest

from handrail.core.errors import Conflict, ErrorType
from handrail.core.execution import Status
from handrail.core.ids import ClientId, WorkspaceId
from handrail.core.tool import Effect
from handrail.plane.dispatch import Claim, Dispatcher
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.contracts.conftest import a_call, opening
from tests.plane.conftest import (
    KEY,
    a_read,
    a_report,
    add_client,
    add_workspace,
    connected,
    find,
    handed_out,
    signals_to,
)


@pytest.fixture
def dispatcher(services: Services) -> Dispatcher:
    return services.dispatcher


# Assigning


def test_a_read_is_assigned_to_a_client_that_is_there(
    services: Services, dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household)
    clock.advance(5)

    with connected(services, household.client):
        assigned = dispatcher.hand_out(approved, clock.now()).after

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

    assert dispatcher.hand_out(approved, clock.now()).after == approved


def test_a_client_of_another_workspace_is_given_nothing(
    services: Services, dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household)

    with services.connections.open(ClientId("cli_elsewhere"), WorkspaceId("wsp_elsewhere")):
        assert dispatcher.hand_out(approved, clock.now()).after == approved


def test_what_changes_something_is_offered_and_waits_to_be_claimed(
    services: Services, dispatcher: Dispatcher, household: Household, clock: FakeClock
) -> None:
    approved = a_call(household, effect=Effect.CHANGE)

    with connected(services, household.client):
        assert dispatcher.hand_out(approved, clock.now()).after == approved._replace(
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

    with connected(services, household.client) as connection:
        await dispatcher.offer_open_calls(connection)

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
        with connected(services, household.client) as connection:
            await dispatcher.offer_open_calls(connection)
        assert await find(store, handed) == handed._replace(epoch=epoch)

    epochs = [event.epoch for event in await signals_to(store, household, household.client)]
    assert epochs == [1, 2, 3]


async def test_a_client_that_comes_is_offered_what_a_vanished_one_left(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    other = await add_client(store, household)

    with connected(services, other) as connection:
        await dispatcher.offer_open_calls(connection)

    assert await find(store, handed) == handed._replace(client_id=other.subject, epoch=2)
    assert [event.epoch for event in await signals_to(store, household, other)] == [2]


async def test_nothing_is_taken_out_of_the_hands_of_a_client_that_is_there(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    with connected(services, household.client):
        handed = await services.executor.propose(a_read(household), household.agent)
        with connected(services, other) as connection:
            await dispatcher.offer_open_calls(connection)
            await dispatcher.hand_over(household.workspace.id)

    assert await find(store, handed) == handed
    assert await signals_to(store, household, other) == []


async def test_calls_of_another_workspace_are_not_offered(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    waiting = await services.executor.propose(a_read(household), household.agent)
    workspace = await add_workspace(store, household, "/elsewhere")
    other = await add_client(store, household, workspace.id)

    with connected(services, other) as connection:
        await dispatcher.offer_open_calls(connection)
        await dispatcher.hand_over(workspace.id)
        await dispatcher.hand_over(household.workspace.id)

    assert await find(store, waiting) == waiting


async def test_what_has_ended_is_not_offered(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    ended = await services.receiver.accept(
        a_report(handed.id), household.client, household.project.id
    )

    with connected(services, household.client) as connection:
        await dispatcher.offer_open_calls(connection)

    assert await find(store, handed) == ended
    assert len(await signals_to(store, household, household.client)) == 1


async def test_a_vanished_clients_read_is_handed_over(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)

    with connected(services, other):
        await dispatcher.hand_over(household.workspace.id)

    assert await find(store, handed) == handed._replace(client_id=other.subject, epoch=2)


async def test_with_nobody_there_a_read_stays_where_it_is(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    await dispatcher.hand_over(household.workspace.id)

    assert await find(store, handed) == handed


async def test_a_change_that_was_claimed_is_not_handed_to_another_client(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    begun = offered.advance(Status.EXECUTING, at)
    await store.submit(opening(begun, household))

    with connected(services, other) as connection:
        await dispatcher.offer_open_calls(connection)
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

    with connected(services, household.client) as one, connected(services, other) as two:
        await asyncio.gather(dispatcher.offer_open_calls(one), dispatcher.offer_open_calls(two))

    found = [await find(store, call) for call in waiting]
    assert [call.epoch for call in found] == [1] * 5
    signals = await signals_to(store, household, household.client)
    signals += await signals_to(store, household, other)
    assert sorted(event.execution_id for event in signals) == sorted(call.id for call in waiting)


async def test_a_change_that_nobody_claimed_is_offered_to_another_client(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    with connected(services, other):
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
        await dispatcher.claim(offered.id, Claim(1, KEY), household.client, household.project.id)
        for _ in range(2)
    ]

    begun = offered._replace(status=Status.EXECUTING, started_at=at, claim_key=KEY)
    assert claims == [begun, begun]
    assert await find(store, offered) == begun


async def test_another_process_with_the_same_token_is_not_let_begin_what_is_begun(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))
    await dispatcher.claim(offered.id, Claim(1, KEY), household.client, household.project.id)
    with connected(services, household.client) as connection:
        await dispatcher.offer_open_calls(connection)

    with pytest.raises(Conflict, match="started by another process"):
        await dispatcher.claim(
            offered.id, Claim(2, "copied"), household.client, household.project.id
        )
    again = await dispatcher.claim(
        offered.id, Claim(2, KEY), household.client, household.project.id
    )
    assert (again.status, again.epoch) == (Status.EXECUTING, 2)


async def test_a_client_that_is_slow_is_asked_after_now_and_then(
    services: Services,
    dispatcher: Dispatcher,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    with connected(services, household.client):
        call = await services.executor.propose(a_read(household), household.agent)

        for seconds in (599, 1, 1, 598, 1):
            clock.advance(seconds)
            await dispatcher.ask_after_the_slow()

    signals = await signals_to(store, household, household.client)
    assert [(signal.epoch, (signal.at - call.created_at).seconds) for signal in signals] == [
        (1, 0),
        (2, 600),
        (3, 1200),
    ]


@pytest.mark.parametrize("epoch", [0, 2])
async def test_a_claim_under_another_epoch_is_turned_away(
    dispatcher: Dispatcher, store: SqliteStore, household: Household, epoch: int
) -> None:
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    with pytest.raises(Conflict, match="is not offered to this client under epoch"):
        await dispatcher.claim(
            offered.id, Claim(epoch, KEY), household.client, household.project.id
        )

    assert await find(store, offered) == offered


async def test_of_two_clients_only_the_one_it_was_offered_to_may_claim(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    await store.submit(opening(offered, household))

    with pytest.raises(Conflict):
        await dispatcher.claim(offered.id, Claim(1, KEY), other, household.project.id)
    claimed = await dispatcher.claim(
        offered.id, Claim(1, KEY), household.client, household.project.id
    )

    assert claimed.status is Status.EXECUTING


async def test_a_call_that_has_ended_cannot_be_claimed(
    dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    offered = a_call(household, effect=Effect.CHANGE).assign(household.client_id, at)
    ended = offered.fail(ErrorType.CANCELLED, "no longer wanted", at)
    await store.submit(opening(ended, household))

    with pytest.raises(Conflict):
        await dispatcher.claim(offered.id, Claim(1, KEY), household.client, household.project.id)


async def test_calls_are_tended_while_the_server_runs(
    services: Services, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)

    with connected(services, other):
        tending = asyncio.create_task(services.sweeper.sweep_forever())
        async with asyncio.timeout(10):
            while (await find(store, handed)).client_id != other.subject:
                await asyncio.sleep(0.02)
        tending.cancel()

    assert (await find(store, handed)).epoch == 2

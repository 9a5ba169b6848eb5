"""A client is connected while its stream is open and its lease has not lapsed."""

from handrail.bus.local import LocalBus
from handrail.core.event import Topic
from handrail.core.ids import ClientId, WorkspaceId
from handrail.plane.connections import CHECKS, Connections
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import add_client, connected

ELSEWHERE = WorkspaceId("wsp_elsewhere")


def test_a_client_is_connected_while_its_connection_is_open(
    services: Services, household: Household
) -> None:
    with connected(services, household.client) as connection:
        assert services.connections.connected == {household.client_id}
        assert not connection.ended

    assert services.connections.connected == frozenset()


async def test_a_second_connection_of_a_client_replaces_the_first(
    services: Services, bus: LocalBus, household: Household
) -> None:
    first = connected(services, household.client)
    earlier = first.__enter__()
    with (
        bus.listen(Topic.client(household.client_id)) as bell,
        connected(services, household.client) as later,
    ):
        assert await bell.wait(1)
        assert (earlier.ended, later.ended) == (True, False)
        # The first one ends late; the client is still connected.
        first.__exit__(None, None, None)
        assert services.connections.connected == {household.client_id}

    assert services.connections.connected == frozenset()


def test_a_workspace_has_a_client_while_one_of_its_clients_is_connected(
    services: Services, household: Household
) -> None:
    home = household.workspace.id

    with connected(services, household.client):
        assert services.connections.workspaces == {home}
        assert services.connections.find_client(home) == household.client_id
        assert services.connections.find_client(ELSEWHERE) is None

    assert services.connections.workspaces == frozenset()
    assert services.connections.find_client(home) is None


def test_a_client_that_never_came_has_been_away_since_the_start(
    bus: LocalBus, clock: FakeClock
) -> None:
    clock.advance(60)
    opened_at = clock.now()
    connections = Connections(bus, clock)
    clock.advance(60)

    assert connections.client_away_since(ClientId("cli_never")) == opened_at
    assert connections.client_away_since(None) == opened_at
    assert connections.workspace_empty_since(ELSEWHERE) == opened_at


def test_a_client_is_away_from_the_moment_it_left_until_it_is_back(
    services: Services, household: Household, clock: FakeClock
) -> None:
    connections = services.connections
    away = [connections.client_away_since(household.client_id)]
    moments = [clock.now()]

    for _ in range(2):
        with connected(services, household.client):
            clock.advance(60)
            assert connections.client_away_since(household.client_id) is None
        moments.append(clock.now())
        clock.advance(60)
        away.append(connections.client_away_since(household.client_id))

    assert away == moments


async def test_a_workspace_is_empty_from_the_moment_its_last_client_left(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    connections, home = services.connections, household.workspace.id
    other = await add_client(store, household)
    opened_at = clock.now()

    with connected(services, other):
        with connected(services, household.client):
            clock.advance(60)
        assert connections.client_away_since(household.client_id) == clock.now()
        clock.advance(60)
        assert connections.workspace_empty_since(home) is None
    emptied_at = clock.now()
    clock.advance(60)

    assert connections.workspace_empty_since(home) == emptied_at
    assert connections.workspace_empty_since(ELSEWHERE) == opened_at


def test_a_client_that_replaced_its_connection_has_not_been_away(
    services: Services, household: Household, clock: FakeClock
) -> None:
    connections = services.connections
    first = connected(services, household.client)
    first.__enter__()
    with connected(services, household.client):
        clock.advance(60)
        first.__exit__(None, None, None)

        assert connections.client_away_since(household.client_id) is None
        assert connections.workspace_empty_since(household.workspace.id) is None
        clock.advance(60)

    assert connections.client_away_since(household.client_id) == clock.now()
    assert connections.workspace_empty_since(household.workspace.id) == clock.now()


async def test_a_lease_lapses_unless_it_is_renewed(
    services: Services, bus: LocalBus, household: Household, clock: FakeClock
) -> None:
    connections, client_id = services.connections, household.client_id
    with (
        bus.listen(Topic.client(client_id)) as bell,
        connections.open(client_id, household.workspace.id, leased=True) as connection,
    ):
        for _ in range(3):
            check(connections, CHECKS - 1)
            assert connections.renew(client_id)
        assert client_id in connections.connected

        check(connections, CHECKS)

        assert connection.ended
        assert await bell.wait(1)
        assert not connections.renew(client_id)
        assert connections.connected == frozenset()
        assert connections.client_left_at(client_id) == clock.now()


def test_a_client_without_heartbeats_is_connected_while_its_stream_is_open(
    services: Services, household: Household
) -> None:
    with connected(services, household.client) as connection:
        check(services.connections, 3 * CHECKS)

        assert not connection.ended
        assert services.connections.connected == {household.client_id}


def test_a_lapsed_connection_that_ends_late_does_not_end_the_next_one(
    services: Services, household: Household
) -> None:
    connections = services.connections
    first = connections.open(household.client_id, household.workspace.id, leased=True)
    first.__enter__()
    check(connections, CHECKS)
    with connected(services, household.client) as second:
        first.__exit__(None, None, None)

        assert not second.ended
        assert connections.connected == {household.client_id}


def check(connections: Connections, times: int) -> None:
    for _ in range(times):
        connections.check_leases()

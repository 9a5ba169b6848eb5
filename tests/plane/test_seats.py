"""A client is here for as long as its stream is open."""

from handrail.bus.local import LocalBus
from handrail.core.event import Topic
from handrail.core.ids import ClientId, WorkspaceId
from handrail.plane.seats import Seats
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import add_client, seated

ELSEWHERE = WorkspaceId("wsp_elsewhere")


def test_a_client_is_connected_while_it_has_a_seat(
    services: Services, household: Household
) -> None:
    with seated(services, household.client) as seat:
        assert services.seats.connected == {household.client_id}
        assert not seat.replaced

    assert services.seats.connected == frozenset()


async def test_a_second_seat_of_the_same_client_takes_the_place_of_the_first(
    services: Services, bus: LocalBus, household: Household
) -> None:
    first = seated(services, household.client)
    earlier = first.__enter__()
    with (
        bus.listen(Topic.client(household.client_id)) as bell,
        seated(services, household.client) as later,
    ):
        assert await bell.wait(1)
        assert (earlier.replaced, later.replaced) == (True, False)
        # The first one gets up late; the client is still there.
        first.__exit__(None, None, None)
        assert services.seats.connected == {household.client_id}

    assert services.seats.connected == frozenset()


def test_a_workspace_has_somebody_while_one_of_its_clients_is_here(
    services: Services, household: Household
) -> None:
    home = household.workspace.id

    with seated(services, household.client):
        assert services.seats.workspaces == {home}
        assert services.seats.find_client(home) == household.client_id
        assert services.seats.find_client(ELSEWHERE) is None

    assert services.seats.workspaces == frozenset()
    assert services.seats.find_client(home) is None


def test_who_never_came_has_been_away_since_the_seats_were_opened(
    bus: LocalBus, clock: FakeClock
) -> None:
    clock.advance(60)
    opened_at = clock.now()
    seats = Seats(bus, clock)
    clock.advance(60)

    assert seats.client_away_since(ClientId("cli_never")) == opened_at
    assert seats.client_away_since(None) == opened_at
    assert seats.workspace_empty_since(ELSEWHERE) == opened_at


def test_a_client_is_away_from_the_moment_it_left_until_it_is_back(
    services: Services, household: Household, clock: FakeClock
) -> None:
    seats = services.seats
    away = [seats.client_away_since(household.client_id)]
    moments = [clock.now()]

    for _ in range(2):
        with seated(services, household.client):
            clock.advance(60)
            assert seats.client_away_since(household.client_id) is None
        moments.append(clock.now())
        clock.advance(60)
        away.append(seats.client_away_since(household.client_id))

    assert away == moments


async def test_a_workspace_is_empty_from_the_moment_its_last_client_left(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    seats, home = services.seats, household.workspace.id
    other = await add_client(store, household)
    opened_at = clock.now()

    with seated(services, other):
        with seated(services, household.client):
            clock.advance(60)
        assert seats.client_away_since(household.client_id) == clock.now()
        clock.advance(60)
        assert seats.workspace_empty_since(home) is None
    emptied_at = clock.now()
    clock.advance(60)

    assert seats.workspace_empty_since(home) == emptied_at
    assert seats.workspace_empty_since(ELSEWHERE) == opened_at


def test_a_client_that_exchanged_its_seat_has_not_been_away(
    services: Services, household: Household, clock: FakeClock
) -> None:
    seats = services.seats
    first = seated(services, household.client)
    first.__enter__()
    with seated(services, household.client):
        clock.advance(60)
        first.__exit__(None, None, None)

        assert seats.client_away_since(household.client_id) is None
        assert seats.workspace_empty_since(household.workspace.id) is None
        clock.advance(60)

    assert seats.client_away_since(household.client_id) == clock.now()
    assert seats.workspace_empty_since(household.workspace.id) == clock.now()

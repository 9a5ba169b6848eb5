"""A client is here for as long as its stream is open."""

from handrail.bus.local import LocalBus
from handrail.core.event import Topic
from handrail.server.services import Services
from tests.conftest import Household
from tests.plane.conftest import (
    seated,
)


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

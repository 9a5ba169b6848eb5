"""A stream keeps its newest events, and loses the oldest bit by bit."""

import pytest

from handrail.core.audit import find_break
from handrail.core.change import Change
from handrail.core.event import EventKind, NewEvent
from handrail.core.ports import EventRange
from handrail.core.retention import EVENTS_DAYS
from handrail.plane import forgetting
from handrail.plane.forgetting import EVENTS_KEPT, Forgetter
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane.conftest import a_read, lines_of

KEPT = 5


@pytest.fixture
def forgetter(store: SqliteStore, clock: FakeClock) -> Forgetter:
    return Forgetter(store, clock, KEPT)


@pytest.fixture
def in_portions_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "_MOST_AT_ONCE", 2)


async def tell(services: Services, home: Household, count: int) -> None:
    """Let so many events happen: each call that waits for a client is one."""
    told = (await services.store.event_range(home.project.id)).last
    for number in range(told, told + count):
        await services.executor.propose(a_read(home, f"call-{number}"), home.agent)


async def range_of(store: SqliteStore, home: Household) -> EventRange:
    return await store.event_range(home.project.id)


async def test_the_newest_events_are_kept_and_the_older_ones_forgotten(
    services: Services, store: SqliteStore, forgetter: Forgetter, household: Household
) -> None:
    await tell(services, household, KEPT + 3)

    await forgetter.forget_old_events()

    assert await range_of(store, household) == EventRange(4, KEPT + 3)
    items = await store.read_stream(household.project.id, after=3, client_id=None, limit=99)
    assert [item.event.seq for item in items] == [4, 5, 6, 7, 8]


async def test_events_are_forgotten_by_age_too(
    services: Services,
    store: SqliteStore,
    forgetter: Forgetter,
    household: Household,
    clock: FakeClock,
) -> None:
    await tell(services, household, 3)
    clock.advance(EVENTS_DAYS * 86_400 + 1)
    await tell(services, household, 2)

    await forgetter.forget_old_events()

    assert await range_of(store, household) == EventRange(4, 5)


async def test_what_is_not_too_much_is_kept_whole(
    services: Services, store: SqliteStore, forgetter: Forgetter, household: Household
) -> None:
    await tell(services, household, KEPT)

    await forgetter.forget_old_events()

    assert await range_of(store, household) == EventRange(1, KEPT)


async def test_only_the_long_streams_are_shortened(
    services: Services,
    store: SqliteStore,
    forgetter: Forgetter,
    household: Household,
    clock: FakeClock,
) -> None:
    short, long = [await settle_in(store, clock, name, f"/{name}") for name in ("ben", "cleo")]
    await tell(services, household, KEPT + 1)
    await tell(services, short, KEPT - 1)
    await tell(services, long, KEPT + 2)

    await forgetter.forget_old_events()

    assert [await range_of(store, home) for home in (household, short, long)] == [
        EventRange(2, KEPT + 1),
        EventRange(1, KEPT - 1),
        EventRange(3, KEPT + 2),
    ]


async def test_forgetting_does_not_disturb_the_numbers_the_calls_or_the_audit(
    services: Services, store: SqliteStore, forgetter: Forgetter, household: Household
) -> None:
    await tell(services, household, KEPT + 3)
    project_id = household.project.id
    calls = await store.list_executions(project_id, status=None, agent_id=None, limit=99)
    lines = await lines_of(store, household)

    await forgetter.forget_old_events()
    after = await store.list_executions(project_id, status=None, agent_id=None, limit=99)
    lines_after = await lines_of(store, household)
    await tell(services, household, 1)

    assert after == calls
    assert lines_after == lines
    assert find_break(await lines_of(store, household)) is None
    assert await range_of(store, household) == EventRange(4, KEPT + 4)


@pytest.mark.usefixtures("in_portions_of_two")
async def test_much_is_forgotten_in_portions_without_a_pause_between_them(
    services: Services, store: SqliteStore, forgetter: Forgetter, household: Household
) -> None:
    await tell(services, household, KEPT + 5)

    firsts: list[int] = []
    for _ in range(4):
        await forgetter.forget_old_events()
        firsts.append((await range_of(store, household)).first)

    assert firsts == [3, 5, 6, 6]


async def test_once_nothing_is_too_long_nobody_looks_again_for_a_minute(
    services: Services,
    store: SqliteStore,
    forgetter: Forgetter,
    household: Household,
    clock: FakeClock,
) -> None:
    await forgetter.forget_old_events()
    await tell(services, household, KEPT + 1)

    clock.advance(59)
    await forgetter.forget_old_events()
    before = await range_of(store, household)
    clock.advance(1)
    await forgetter.forget_old_events()

    assert before == EventRange(1, KEPT + 1)
    assert await range_of(store, household) == EventRange(2, KEPT + 1)


async def test_the_sweeper_keeps_a_hundred_thousand_events(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    call = await services.executor.propose(a_read(household), household.agent)
    news = NewEvent.for_everyone(call, EventKind.STATUS)
    more = (news,) * EVENTS_KEPT
    await store.submit(Change(household.project.id, clock.now(), (), more))
    before = await range_of(store, household)

    await services.sweeper.sweep()

    assert before == EventRange(1, 100_001)
    assert await range_of(store, household) == EventRange(2, 100_001)

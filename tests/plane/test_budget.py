"""The budget of a person: counted by day, kept through restarts, and apart from others."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from handrail.core.change import Change
from handrail.core.errors import BudgetExhausted, Conflict
from handrail.core.model import Usage
from handrail.plane.budget import MOST_AT_ONCE, Budget
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in


async def use(budget: Budget, store: SqliteStore, home: Household, tokens: int) -> None:
    step = budget.count(home.user.user_id, Usage(tokens, 0))
    await store.submit(Change(home.project.id, home.project.created_at, (step,)))


@pytest.mark.behaviour("budget.stops")
async def test_a_used_up_budget_stops_its_person_alone_and_until_midnight(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    limit: int | None = 1_000
    budget = Budget(store, clock, lambda: limit)
    neighbour = await settle_in(store, clock, "ben", "/ben")
    ada, ben = household.user.user_id, neighbour.user.user_id
    await use(budget, store, household, 999)
    await budget.check(ada)
    await use(budget, store, household, 1)

    with pytest.raises(BudgetExhausted) as stopped:
        await budget.check(ada)
    await budget.check(ben)
    with pytest.raises(BudgetExhausted):
        await Budget(store, clock, lambda: limit).check(ada)
    assert str(stopped.value) == (
        "the budget for 2026-01-01 is used up: 1,000 of 1,000 tokens; it continues after midnight "
        "UTC, or with a larger budget.daily_tokens"
    )
    assert isinstance(stopped.value, Conflict)

    limit = 2_000
    await budget.check(ada)
    limit = None
    await use(budget, store, household, 10**9)
    await budget.check(ada)
    limit = 1_000
    clock.advance(24 * 3600)
    await budget.check(ada)
    assert (await budget.state(ada)).used == Usage()


async def test_a_day_is_a_day_in_utc_wherever_the_clock_stands(
    store: SqliteStore, household: Household
) -> None:
    east = timezone(timedelta(hours=9))
    clock = FakeClock(datetime(2026, 3, 2, 8, 59, tzinfo=east))
    budget = Budget(store, clock, lambda: None)

    assert budget.count(household.user.user_id, Usage(1)).day == "2026-03-01"
    clock.advance(60)
    assert budget.count(household.user.user_id, Usage(1)).day == "2026-03-02"
    assert clock.now().astimezone(UTC).hour == 0


async def test_few_models_are_asked_at_a_time_and_not_for_more_than_is_left(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    budget, ada = Budget(store, clock, lambda: 100), household.user.user_id
    asked = 0

    async def ask() -> None:
        nonlocal asked
        async with budget.turn(ada):
            asked += 1
            await use(budget, store, household, 100)

    outcomes = await asyncio.gather(*(ask() for _ in range(20)), return_exceptions=True)

    assert asked <= MOST_AT_ONCE
    assert sum(isinstance(one, BudgetExhausted) for one in outcomes) == 20 - asked
    clock.advance(24 * 3600)
    with pytest.raises(BudgetExhausted, match="this takes about 101 tokens, and 100 of 100 are"):
        await budget.check(ada, 101)

"""Memories over a real store, by words alone and, where the model is installed, by meaning."""

from collections.abc import AsyncGenerator

import pytest

from handrail.knowledge.memory import MemoryKeeper, Owner, PersonalMemories
from handrail.knowledge.minilm import Weights, find_weights
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in


@pytest.fixture(scope="session")
def weights() -> Weights:
    found = find_weights()
    if found.folder is None:
        pytest.skip(found.why_not)
    return found


@pytest.fixture
def keeper(store: SqliteStore, clock: FakeClock) -> MemoryKeeper:
    """By words alone."""
    return MemoryKeeper(store, clock)


@pytest.fixture
async def knowing(
    store: SqliteStore, clock: FakeClock, weights: Weights
) -> AsyncGenerator[MemoryKeeper]:
    """By meaning."""
    made = MemoryKeeper(store, clock, weights)
    yield made
    made.close()


@pytest.fixture
async def neighbour(store: SqliteStore, clock: FakeClock) -> Household:
    return await settle_in(store, clock, "bob", "/home/bob/work")


def owner(home: Household, tainted: str | None = None) -> Owner:
    return Owner(home.user.user_id, home.project.id, home.user.subject, tainted)


def memories_of(home: Household, keeper: MemoryKeeper) -> PersonalMemories:
    return keeper.of(owner(home))

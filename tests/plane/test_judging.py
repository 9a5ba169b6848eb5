"""A long call is judged like a short one, only elsewhere, and keeps no other agent waiting."""

import asyncio
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.audit import canonical
from handrail.core.errors import BadInput, ErrorType
from handrail.core.execution import Status
from handrail.core.verdict import Ruling
from handrail.executors.judging.pool import JudgingPool
from handrail.plane.assessment import Asked, Assessor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.catalogue import builtin_registry
from tests.conftest import Household
from tests.plane.conftest import a_read
from tests.plane.test_assessment import a_place

CORPUS = Path(__file__).parents[1] / "corpus" / "ordinary_work.toml"
LONG = " && ".join(f"grep -n foo src/m{number}.py | head -5" for number in range(2_000))


@pytest.fixture
def pool() -> Iterator[JudgingPool]:
    made = JudgingPool()
    yield made
    made.close()


def services_with(
    pool: JudgingPool, store: SqliteStore, bus: LocalBus, clock: FakeClock
) -> Services:
    return build_services(store, bus, clock, judging=pool)


def lines() -> list[str]:
    """Each line of the corpus, made long enough to be judged elsewhere."""
    with CORPUS.open("rb") as file:
        corpus = tomllib.load(file)
    found = [one for group in corpus.values() for one in texts_in(group)]
    return [f"{line} && echo {'x' * 1_000}" for line in found]


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts_in(part)]


async def test_a_verdict_is_the_same_here_and_in_another_process(pool: JudgingPool) -> None:
    book = Rulebook()
    here, there = Assessor(builtin_registry(), book), Assessor(builtin_registry(), book, pool)
    found = lines()
    assert len(found) > 100
    for line in found[:: len(found) // 100]:
        params = {"command": line}
        asked = Asked("run_bash", params, canonical(params))

        assert await there.assess(asked, a_place()) == replace(
            await here.assess(asked, a_place()), tool=there.parse(asked)[0]
        )
    assert pool.pids


async def test_rules_that_were_exchanged_hold_for_long_calls_too(pool: JudgingPool) -> None:
    book = Rulebook()
    assessor = Assessor(builtin_registry(), book, pool)
    params = {"command": LONG}
    asked = Asked("run_bash", params, canonical(params))
    before = await assessor.assess(asked, a_place())

    rule = '[[tool]]\nname = "run_bash"\nrisk = "forbidden"\nreason = "not here"\n'
    book.exchange(operator_rules(rule, "policy.toml"))
    after = await assessor.assess(asked, a_place())

    assert (before.verdict.ruling, after.verdict.ruling) == (Ruling.ASK, Ruling.DENY)
    with pytest.raises(BadInput):
        await assessor.assess(Asked("run_bash", params | {"x": 1}, canonical(params)), a_place())


async def test_a_batch_of_long_lines_keeps_no_other_agent_waiting(
    pool: JudgingPool, store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    services = services_with(pool, store, bus, clock)
    other = replace(household.agent, subject="agt_other")
    calls = [
        a_read(household, f"long-{number}", tool_name="run_bash", command=f"{LONG} # {number}")
        for number in range(20)
    ]
    async with asyncio.TaskGroup() as group:
        batch = group.create_task(services.batches.run(calls, household.agent, wait_seconds=0))
        async with asyncio.timeout(30):
            while not pool.pids:
                await asyncio.sleep(0)

        short = await services.executor.propose(a_read(household, session_id="other"), other)

        assert short.error is None
        assert not batch.done()
    assert all(part.execution is not None for part in batch.result())


async def test_a_call_that_takes_too_long_to_judge_is_refused_in_words(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    pool = JudgingPool(seconds=0.01)
    try:
        services = services_with(pool, store, bus, clock)
        call = a_read(household, "long", tool_name="run_bash", command=LONG[:9_000])

        refused = await services.executor.propose(call, household.agent)

        assert (refused.status, refused.error_type) == (Status.FAILED, ErrorType.DENIED)
        assert "longer than 0.01 s, so it was refused" in (refused.error or "")
        short = await services.executor.propose(a_read(household, "short"), household.agent)
        assert short.error is None
    finally:
        pool.close()

"""Which of the tests a run has, and in which order.

Many tests have a case for each moment at which a process may be killed. `make test` runs a few of
these, evenly spread, and `make soak` all: the mark `points` says how many.
"""

import itertools
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

ALL_POINTS = os.environ.get("HANDRAIL_ALL_POINTS") == "1"
# Of every test that has several cases, for a run that repeats what another one tries in full.
MOST_CASES = int(os.environ.get("HANDRAIL_MOST_CASES", "0"))


def spread(cases: Sequence[T], most: int) -> list[T]:
    """The first, the last, and evenly spread ones between them."""
    if len(cases) <= most:
        return [*cases]
    step = (len(cases) - 1) / max(1, most - 1)
    return [cases[round(step * number)] for number in range(most)]


def choose_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    chosen = [one for some in cases.values() for one in spread(some, _most_of(some[0]))]
    kept = {id(item) for item in chosen}
    if left := [item for item in items if id(item) not in kept]:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if id(item) in kept]


def _most_of(item: pytest.Item) -> int:
    mark = None if ALL_POINTS else item.get_closest_marker("points")
    limits = [MOST_CASES, *(mark.args if mark else ())]
    return min((one for one in limits if one), default=1_000_000)


def deal_slow(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have each worker begin with its share of the slow tests, so that none is left for the end.

    With `--dist worksteal` a worker gets a contiguous part of the list.
    """
    workers: int | None = getattr(config, "workerinput", {}).get("workercount")
    if workers is None:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = iter([item for item in items if not item.get_closest_marker("slow")])
    size = len(items) / workers
    dealt: list[pytest.Item] = []
    for number in range(workers):
        dealt += slow[number::workers]
        dealt += itertools.islice(quick, max(0, round(size * (number + 1)) - len(dealt)))
    items[:] = [*dealt, *quick]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose_cases(config, items)
    deal_slow(config, items)

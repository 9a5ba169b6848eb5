"""What is used of a day's tokens, and when a line is crossed."""

import pytest

from handrail.core.budget import BudgetState, crossings
from handrail.core.model import Usage

MONDAY, TUESDAY = "2026-11-16", "2026-11-17"


def used(tokens: int, *, limit: int | None = 1_000, day: str = MONDAY) -> BudgetState:
    return BudgetState(day, Usage(tokens, 0, tokens), limit)


def test_without_a_limit_nothing_is_too_much() -> None:
    state = used(10**12, limit=None)
    assert (state.share, state.left, state.is_near, state.is_exhausted) == (
        None,
        None,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("tokens", "near", "exhausted", "left"),
    [(0, False, False, 1_000), (799, False, False, 201), (800, True, False, 200),
     (999, True, False, 1), (1_000, True, True, 0), (1_500, True, True, 0)],
)  # fmt: skip
def test_lines_lie_at_eighty_and_at_a_hundred(
    tokens: int, near: bool, exhausted: bool, left: int
) -> None:
    state = used(tokens)
    assert (state.is_near, state.is_exhausted, state.left) == (near, exhausted, left)
    assert state.share == tokens / 1_000


def test_what_goes_in_and_what_comes_out_both_count_and_cached_ones_only_once() -> None:
    assert BudgetState(MONDAY, Usage(600, 400, 500), 1_000).is_exhausted


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (used(0), used(799), []),
        (used(799), used(800), [80]),
        (used(800), used(900), []),
        (used(900), used(1_000), [100]),
        (used(0), used(2_000), [80, 100]),
        (used(1_000), used(1_100), []),
        (used(900), used(850, day=TUESDAY), [80]),
        (used(900), used(10, day=TUESDAY), []),
        (used(0, limit=None), used(5_000, limit=None), []),
        (used(500), used(501, limit=100), []),
        (used(50), used(90, limit=100), [80]),
    ],
)
def test_a_line_is_told_once_when_it_is_crossed(
    before: BudgetState, after: BudgetState, lines: list[int]
) -> None:
    assert crossings(before, after) == lines

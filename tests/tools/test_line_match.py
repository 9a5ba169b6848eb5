import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.tools.line_match import common_runs

LINES = st.lists(st.sampled_from("abcdefgh") | st.text(max_size=2), max_size=30)


def common(old: list[str], new: list[str]) -> list[str]:
    return [line for i, _, count in common_runs(old, new) for line in old[i : i + count]]


@given(LINES, LINES)
def test_what_is_said_to_be_common_is_and_comes_in_order(old: list[str], new: list[str]) -> None:
    last_i = last_j = 0
    for i, j, count in common_runs(old, new):
        assert old[i : i + count] == new[j : j + count]
        assert i >= last_i
        assert j >= last_j
        last_i, last_j = i + count, j + count
    assert (last_i, last_j) <= (len(old), len(new))


@given(LINES)
def test_equal_texts_have_everything_in_common(lines: list[str]) -> None:
    assert common(lines, lines) == lines


@given(LINES, LINES, LINES)
def test_insertion_leaves_the_rest_in_common(
    before: list[str], new: list[str], behind: list[str]
) -> None:
    found = common(before + behind, before + new + behind)
    assert len(found) >= max(len(before), len(behind))


def test_lines_found_once_tie_texts_together() -> None:
    assert common(["}", "", "f()", "}", "g()"], ["}", "f()", "", "", "g()", "}"]) == [
        "}",
        "f()",
        "g()",
    ]


@pytest.mark.parametrize(
    "shape",
    [
        lambda n: ([str(i) for i in range(n)], [str(i) for i in reversed(range(n))]),
        lambda n: (["x", "y"] * n, ["y", "y", "x"] * n),
        lambda n: ([f"{i % 90}" for i in range(n)], [f"{i * 7 % 90}" for i in range(n)]),
        lambda n: (
            [line for i in range(n) for line in ("x", f"u{i}")],
            [line for i in range(n) for line in ("x", f"v{i}")],
        ),
        lambda n: (
            random.Random(1).sample([str(i // 2) for i in range(n)], n),
            random.Random(2).sample([str(i // 2) for i in range(n)], n),
        ),
    ],
    ids=["reversed", "two-lines", "ninety-lines", "every-second", "shuffled-pairs"],
)
@pytest.mark.parametrize("count", [150, 300, 10_000])
@pytest.mark.timeout(20)
def test_no_text_takes_long(
    shape: Callable[[int], tuple[list[str], list[str]]], count: int
) -> None:
    old, new = shape(count)
    for i, j, length in common_runs(old, new):
        assert old[i : i + length] == new[j : j + length]

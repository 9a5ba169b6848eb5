"""What a person is shown fits on a screen, and says what it leaves out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.policy.shortening import SHOWN_CHARS, SHOWN_ITEMS, shorten


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -1.5,
        10**30,
        "",
        "x" * SHOWN_CHARS,
        [],
        {},
        {"path": "a", "args": ["x"] * SHOWN_ITEMS, "deep": {"er": [{"n": None}]}},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_short_stays_as_it_is(value: Any) -> None:
    assert shorten(value) == value


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (SHOWN_CHARS + 1, "… [1 more characters]"),
        (SHOWN_CHARS + 1_234_567, "… [1,234,567 more characters]"),
    ],
)
def test_a_long_text_is_cut_and_the_rest_is_counted(length: int, words: str) -> None:
    text = "ä" * length

    assert shorten(text) == "ä" * SHOWN_CHARS + words
    assert shorten({"a": [{"b": text}]}) == {"a": [{"b": shorten(text)}]}


def test_a_long_list_is_cut_and_the_rest_is_counted() -> None:
    words = [str(number) for number in range(SHOWN_ITEMS + 1_500)]

    assert shorten(words) == [*words[:SHOWN_ITEMS], "… [1,500 more]"]
    assert shorten(tuple(words)) == shorten(words)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_small_values_are_never_touched(value: Any) -> None:
    assert shorten(value) == value


@given(st.integers(1, 5_000), st.integers(1, 300))
def test_what_is_shown_is_bounded(chars: int, items: int) -> None:
    shown = shorten(["x" * chars] * items)

    assert len(shown) <= SHOWN_ITEMS + 1
    assert all(len(text) <= SHOWN_CHARS + 40 for text in shown)

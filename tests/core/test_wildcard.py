"""Wildcards match what bash matches, and no pattern takes long; bash itself is asked elsewhere."""

import fnmatch
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.pattern import NamePattern
from handrail.core.wildcard import compile_wildcard

LONGEST_NAME = 255
FEW = st.text("ab.", max_size=12)


@pytest.mark.timeout(20)
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["*a", "*?", "a*", "*[ab]", "*aa", "?*"]), st.integers(1, 60), FEW)
def test_no_number_of_stars_takes_long(unit: str, times: int, end: str) -> None:
    """Backtracking over these would take longer than the age of the universe."""
    pattern, name = unit * times + end + "!", "a" * LONGEST_NAME

    began = time.process_time()
    assert compile_wildcard(pattern).fullmatch(name) is None
    assert not NamePattern.read(pattern, recursive=True).matches(name)
    # Far above what it takes: a loaded machine passes, exponential time does not.
    assert time.process_time() - began < 5


@settings(max_examples=500, deadline=None)
@given(st.text("ab*?.", max_size=10), FEW)
def test_stars_and_question_marks_stand_for_what_the_standard_library_says(
    pattern: str, name: str
) -> None:
    fits = re.fullmatch(fnmatch.translate(pattern), name) is not None
    assert (compile_wildcard(pattern).fullmatch(name) is not None) == fits


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("", [""], ["a"]),
        ("*", ["", "a", "a\nb"], []),
        ("a*b*", ["ab", "axxbxx"], ["a", "ba"]),
        ("[!a]*", ["b", "bc"], ["a", "ab", ""]),
        ("[^a]", ["b"], ["a"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[a-c]*[0-9]", ["a1", "cxx0"], ["d1", "a"]),
        ("[z-a]", [], ["a", "z", "-"]),
        ("[", ["["], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_a_pattern_stands_for_these_names(pattern: str, fits: list[str], fails: list[str]) -> None:
    match = compile_wildcard(pattern).fullmatch
    assert [name for name in (*fits, *fails) if match(name)] == fits

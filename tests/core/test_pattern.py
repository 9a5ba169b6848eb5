import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.pattern import NamePattern

PATHS = ["a.py", "b.txt", "src/a.py", "src/deep/er/a.py", "lib/src/a.py", ".env", "src/.env"]


def fitting(pattern: str, *, recursive: bool = False) -> list[str]:
    wanted = NamePattern.read(pattern, recursive=recursive)
    return [path for path in PATHS if wanted.matches(path)]


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("*", ["a.py", "b.txt"]),
        ("*.py", ["a.py"]),
        ("?.[pt]*", ["a.py", "b.txt"]),
        ("[!a].*", ["b.txt"]),
        (".*", [".env"]),
        ("A.PY", []),
        ("**", ["a.py", "b.txt", "src/a.py", "src/deep/er/a.py", "lib/src/a.py"]),
    ],
)
def test_without_a_slash_it_is_held_against_the_names_in_the_folder(
    pattern: str, fits: list[str]
) -> None:
    assert fitting(pattern) == fits


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("*.py", ["a.py", "src/a.py", "src/deep/er/a.py", "lib/src/a.py"]),
        (".*", [".env", "src/.env"]),
        ("b*", ["b.txt"]),
    ],
)
def test_recursive_it_is_held_against_names_at_any_depth(pattern: str, fits: list[str]) -> None:
    assert fitting(pattern, recursive=True) == fits


@pytest.mark.parametrize("recursive", [False, True])
@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/er/a.py"]),
        ("src/**", ["src/a.py", "src/deep/er/a.py"]),
        ("**/src/*.py", ["src/a.py", "lib/src/a.py"]),
        ("./src/a.py", ["src/a.py"]),
        ("/a.py", ["a.py"]),
        ("*/.env", ["src/.env"]),
        ("**/er/**/*.py", ["src/deep/er/a.py"]),
    ],
)
def test_with_a_slash_it_goes_as_deep_as_it_says(
    pattern: str, fits: list[str], recursive: bool
) -> None:
    assert fitting(pattern, recursive=recursive) == fits


def test_what_cannot_lead_to_a_match_is_known_from_the_folder() -> None:
    pattern = NamePattern.read("src/**/*.py", recursive=True)
    assert not pattern.leads_on(pattern.step(pattern.start, "node_modules"))
    assert pattern.leads_on(pattern.step(pattern.start, "src"))


def test_a_folder_without_a_way_down_ends_the_search() -> None:
    pattern = NamePattern.read("*", recursive=False)
    assert not pattern.leads_on(pattern.step(pattern.start, "src"))


@given(st.text("a*?.[]/!", min_size=1, max_size=30), st.booleans(), st.text("a./", max_size=20))
def test_no_pattern_breaks_anything(pattern: str, recursive: bool, path: str) -> None:
    NamePattern.read(pattern, recursive=recursive).matches(path)


def test_two_stars_in_a_row_cost_no_more_than_once() -> None:
    wanted = NamePattern.read("**/" * 200 + "a.py", recursive=True)

    assert len(wanted.parts) == 2
    assert wanted.matches("src/deep/er/a.py")

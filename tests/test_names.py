"""The page that maps older names leads to names that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import handrail

PAGE = (Path(__file__).parent.parent / "docs" / "names.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
PLACES = sorted({row[1].strip("`") for row in ROWS if row[1].startswith("`")})


def find(name: str) -> object:
    if not name.startswith("handrail."):
        return getattr(handrail, name)
    try:
        return import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(import_module(module), last)


@pytest.mark.parametrize("place", [place for place in PLACES if not place.startswith("POST ")])
def test_a_place_in_the_table_exists(place: str) -> None:
    assert find(place) is not None


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row[1].startswith("`handrail.")], ids=lambda row: row[0]
)
def test_a_member_that_is_named_with_its_class_exists(row: list[str]) -> None:
    for owner, member in re.findall(r"`(ToolRegistry|ToolExecutor|RiskAssessor)\.(\w+)", row[0]):
        assert callable(getattr(getattr(handrail, owner), member))
    if row[1] == "`ApprovalManager`":
        for member in re.findall(r"`([a-z]\w+)`", row[0]):
            assert callable(getattr(handrail.ApprovalManager, member))


@pytest.mark.parametrize("place", [place for place in PLACES if place.startswith("POST ")])
def test_a_route_in_the_table_is_in_the_reference(place: str) -> None:
    page = (Path(__file__).parent.parent / "docs/reference/http.md").read_text(encoding="utf-8")
    assert place.removeprefix("POST ") in page

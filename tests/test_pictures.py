"""Pictures show what is there now, not what was there when somebody drew them."""

import re
from pathlib import Path

import pytest

from handrail.core.execution import FINAL, TRANSITIONS
from scripts.draw_pictures import PICTURE_BY_NAME, PICTURES
from scripts.photograph_console import SHOWN

CONCEPTS = PICTURES.parent / "concepts.md"


@pytest.mark.parametrize("name", PICTURE_BY_NAME)
def test_a_picture_is_what_the_code_draws(name: str) -> None:
    drawn = PICTURE_BY_NAME[name]()
    assert (PICTURES / name).read_text(encoding="utf-8") == drawn, "`make pictures` draws it anew"


def test_every_picture_is_made_by_the_code() -> None:
    photographs = {f"console-{page}.png" for page in SHOWN}
    assert {path.name for path in PICTURES.iterdir()} == {*PICTURE_BY_NAME, *photographs}


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_fetches_nothing_from_anywhere(path: Path) -> None:
    fetched = re.findall(r"@import|@font-face|\bhref|<script|url\((?!#)", path.read_text())
    assert fetched == []


def test_the_diagram_of_states_has_every_road_and_no_other() -> None:
    text = CONCEPTS.read_text(encoding="utf-8")
    diagram = re.search(r"^```mermaid\nstateDiagram-v2\n(.*?)^```$", text, re.M | re.S)
    assert diagram is not None
    drawn = re.findall(r"^ +(\S+) --> (\w+|\[\*\])", diagram[1], re.M)

    roads = [(str(start), str(end)) for start, ends in TRANSITIONS.items() for end in ends]
    ends = [(str(status), "[*]") for status in FINAL]
    assert sorted(drawn) == sorted([("[*]", "pending"), *roads, *ends])

"""Whatever ordinary commands can be made to do, in a box they do not: tried, each of them."""

import json
import shutil
from pathlib import Path

import pytest

from handrail.executors.sandbox.box import SEARCH_PATH
from tests.adversarial.arena import Technique
from tests.adversarial.people import Person
from tests.adversarial.trial import OPEN, read_table

TABLE = Path(__file__).with_name("techniques.toml")
ROWS = read_table(TABLE)
MOST_NOT_HERE = 12
# Who may write may run programs of the workspace, and git its own: nothing else.
LET_WRITE = {"ran", "wrote"}
LET_GIT = {"changed git", "read git"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def can_be_tried(technique: Technique, person: Person) -> bool:
    program = technique.argv[0]
    if technique.needs_name and person.uid is not None:
        return False
    return "/" in program or shutil.which(program, path=":".join(SEARCH_PATH)) is not None


def let(technique: Technique) -> set[str]:
    return {*LET_WRITE, *technique.may, *(LET_GIT if technique.argv[0] == "git" else ())}


def test_the_table_is_as_long_as_the_research_and_excuses_little() -> None:
    assert len(ROWS) >= 59
    assert len({technique.name for technique, _ in ROWS}) == len(ROWS)
    assert len([why for _, why in ROWS if why]) <= MOST_NOT_HERE


def test_no_technique_gets_anything_out_of_a_box(person: Person, tools: Path) -> None:
    tried = [technique for technique, why in ROWS if not why and can_be_tried(technique, person)]
    names = [technique.name for technique in tried]
    found = json.loads(person.run("trial.py", person.folder, TABLE.name, tools, *names))

    in_vain = {
        one.name: found[one.name][OPEN] for one in tried if one.does - {*found[one.name][OPEN]}
    }
    assert in_vain == {}, "they do nothing in the open, so they prove nothing"
    read = {one.name: found[one.name]["read"] for one in tried if found[one.name]["read"]}
    assert read == {}
    write = {one.name: found[one.name]["write"] for one in tried}
    assert {one.name: write[one.name] for one in tried if {*write[one.name]} - let(one)} == {}

    missing = len(ROWS) - len(tried)
    if missing > MOST_NOT_HERE:
        pytest.skip(f"{missing} techniques were not tried: their programs are not installed here")

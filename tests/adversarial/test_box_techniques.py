"""Whatever ordinary commands can be made to do, in a box they do not: tried, each of them."""

from pathlib import Path

import pytest

from tests.adversarial.findings import can_be_tried, hold
from tests.adversarial.people import Person
from tests.adversarial.trial import read_table

TABLE = Path(__file__).with_name("techniques.toml")
ROWS = read_table(TABLE)
MOST_NOT_HERE = 12

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_the_table_is_as_long_as_the_research_and_excuses_little() -> None:
    assert len(ROWS) >= 59
    assert len({technique.name for technique, _ in ROWS}) == len(ROWS)
    assert len([why for _, why in ROWS if why]) <= MOST_NOT_HERE


def test_no_technique_gets_anything_out_of_a_box(person: Person, tools: Path) -> None:
    tried = [one for one, why in ROWS if not why and can_be_tried(one, person)]

    findings = hold(person, TABLE, tools, tried)

    assert findings.in_vain == {}, "they do nothing in the open, so they prove nothing"
    assert findings.read == {}
    assert findings.write == {}
    assert findings.net == {}
    missing = len(ROWS) - len(tried)
    if missing > MOST_NOT_HERE:
        pytest.skip(f"{missing} techniques were not tried: their programs are not installed here")

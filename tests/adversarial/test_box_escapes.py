"""Programs that were written to get out of a box do not get out of it."""

from pathlib import Path

import pytest

from tests.adversarial.findings import can_be_tried, hold
from tests.adversarial.people import Person
from tests.adversarial.trial import read_table

TABLE = Path(__file__).with_name("escapes.toml")
ROWS = [technique for technique, _ in read_table(TABLE)]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_no_program_escapes(person: Person, tools: Path) -> None:
    findings = hold(person, TABLE, tools, [one for one in ROWS if can_be_tried(one, person)])

    assert findings.in_vain == {}, "they do nothing in the open, so they prove nothing"
    assert findings.read == {}
    assert findings.write == {}
    assert findings.net == {}

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.audit import GENESIS, AuditEntry, AuditRecord, canonical, chain, find_break
from handrail.core.ids import ProjectId

PROJECT = ProjectId("prj_1")
START = datetime(2026, 1, 1, tzinfo=UTC)


def chained(*records: AuditRecord) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    previous = GENESIS
    for seq, record in enumerate(records, 1):
        at = START + timedelta(seconds=seq)
        entries.append(chain(record, project_id=PROJECT, seq=seq, at=at, previous=previous))
        previous = entries[-1].hash
    return entries


def five_lines() -> list[AuditEntry]:
    return chained(
        *(AuditRecord("call.proposed", "agt_1", f"exe_{n}", {"n": n}) for n in range(1, 6))
    )


def test_first_line_stands_on_the_genesis_hash() -> None:
    assert five_lines()[0].previous == "0" * 64


def test_each_line_stands_on_the_hash_of_the_one_before() -> None:
    lines = five_lines()
    assert [line.previous for line in lines[1:]] == [line.hash for line in lines[:-1]]


def test_hash_is_the_known_one() -> None:
    # Worked out by hand with sha256sum: what was written years ago must still be proven.
    assert five_lines()[0].hash == (
        "75a93b5313b918cadcda3ff271c029cb70edb562b8ebb20838a9a7c898c27283"
    )


def test_hash_covers_the_line_before() -> None:
    record = AuditRecord("call.proposed", "agt_1", "exe_1")
    one, other = (
        chain(record, project_id=PROJECT, seq=2, at=START, previous=previous)
        for previous in ("a" * 64, "b" * 64)
    )
    assert one.hash != other.hash


def test_whole_chain_has_no_break() -> None:
    assert find_break(five_lines()) is None


def test_empty_chain_has_no_break() -> None:
    assert find_break([]) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("project_id", ProjectId("prj_2")),
        ("at", START),
        ("action", "call.approved"),
        ("actor", "agt_2"),
        ("subject", "exe_9"),
        ("details", '{"n":4}'),
        ("previous", "f" * 64),
        ("hash", "f" * 64),
    ],
)
def test_changed_field_is_noticed_at_its_line(field: str, value: Any) -> None:
    lines = five_lines()
    lines[2] = lines[2]._replace(**{field: value})
    assert find_break(lines) == "line 3 does not match its hash"


def test_line_that_was_changed_and_hashed_anew_breaks_the_next() -> None:
    lines = five_lines()
    forged = AuditRecord("call.proposed", "agt_1", "exe_3", {"n": 99})
    lines[2] = chain(forged, project_id=PROJECT, seq=3, at=lines[2].at, previous=lines[2].previous)
    assert find_break(lines) == "line 4 does not match its hash"


def test_removed_line_is_missed() -> None:
    lines = five_lines()
    del lines[2]
    assert find_break(lines) == "line 3 is missing"


def test_removed_line_is_noticed_when_the_rest_is_renumbered() -> None:
    lines = five_lines()
    del lines[2]
    renumbered = [line._replace(seq=seq) for seq, line in enumerate(lines, 1)]
    assert find_break(renumbered) == "line 3 does not match its hash"


def test_removed_beginning_is_missed() -> None:
    assert find_break(five_lines()[1:]) == "line 1 is missing"


def test_reordered_lines_are_noticed() -> None:
    lines = five_lines()
    lines[1], lines[2] = lines[2], lines[1]
    assert find_break(lines) == "line 2 is missing"


def test_repeated_line_is_noticed() -> None:
    lines = five_lines()
    assert find_break([*lines[:3], lines[2], *lines[3:]]) == "line 4 is missing"


def test_line_of_another_chain_is_noticed() -> None:
    lines = five_lines()
    other = chained(*(AuditRecord("other", "agt_1", f"exe_{n}") for n in range(1, 6)))
    assert find_break([*lines[:2], other[2], *lines[3:]]) == "line 3 does not match its hash"


@pytest.mark.parametrize(
    "text",
    ["naïve", "日本語", "🛤", "a\nb", "\ud800", "x\udcffy"],
    ids=["latin", "cjk", "emoji", "line-feed", "lone-surrogate", "byte-that-is-no-text"],
)
def test_any_text_survives_in_the_details(text: str) -> None:
    (line,) = chained(AuditRecord("call.proposed", "agt_1", "exe_1", {text: text}))
    assert line.details.isascii()
    assert "\n" not in line.details
    assert json.loads(line.details) == {text: text}
    assert find_break([line]) is None


def test_non_ascii_actor_is_chained() -> None:
    lines = chained(AuditRecord("call.proposed", "Zoë 🛤", "exe_1"))
    assert find_break(lines) is None
    assert find_break([lines[0]._replace(actor="Zoe 🛤")]) == "line 1 does not match its hash"


def test_one_value_has_one_spelling() -> None:
    assert canonical({"b": [1, None], "a": "é"}) == '{"a":"\\u00e9","b":[1,null]}'
    assert canonical({"b": 1, "a": 2}) == canonical({"a": 2, "b": 1})


_WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
_RECORDS = st.builds(
    AuditRecord, _WORDS, _WORDS, _WORDS, st.dictionaries(_WORDS, st.integers() | _WORDS, max_size=3)
)


@settings(deadline=None)
@given(st.data())
def test_tampering_with_any_field_of_any_line_is_noticed(data: st.DataObject) -> None:
    lines = chained(*data.draw(st.lists(_RECORDS, min_size=1, max_size=5)))
    index = data.draw(st.integers(0, len(lines) - 1))
    field = data.draw(st.sampled_from(AuditEntry._fields))
    was = getattr(lines[index], field)
    values = {"seq": st.integers(), "at": st.datetimes(timezones=st.just(UTC))}.get(field, _WORDS)
    value = data.draw(values.filter(lambda value: value != was))
    tampered = [*lines[:index], lines[index]._replace(**{field: value}), *lines[index + 1 :]]
    assert find_break(lines) is None
    assert find_break(tampered) is not None

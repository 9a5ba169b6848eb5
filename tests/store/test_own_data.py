"""All that is kept of a person is told, and nothing of anybody else."""

from pathlib import Path

from handrail.core.change import Add, Change, KeepMemory, OpenRun, Say
from handrail.core.memory import Memory, Vector
from handrail.store.columns import metadata
from handrail.store.own_data import KINDS, LEFT_OUT, Told, open_own_data
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import a_grant, a_question, a_waiting_call, asking
from tests.contracts.test_store_chat import a_run, said


async def live(store: SqliteStore, home: Household) -> None:
    """Have everything happen once that leaves rows behind."""
    call = a_waiting_call(home, reasoning="I have to")
    await store.submit(asking(call, a_question(call), home, raw_params='{"key":"sk-raw"}'))
    run, at = a_run(home, call.session_id), home.project.created_at
    memory = Memory("tea", "green", "taste", at, at)
    steps = (
        OpenRun(run),
        Say(said(run, 1)),
        Add(a_grant(home)),
        KeepMemory(home.project.user_id, memory, Vector(b"\x00", "model")),
    )
    await store.submit(Change(home.project.id, at, steps))


def told_of(home: Household, path: Path) -> list[Told]:
    with open_own_data(path / "handrail.db", home.project.user_id) as rows:
        return list(rows)


def test_every_table_is_told_or_left_out_on_purpose() -> None:
    assert set(KINDS) | LEFT_OUT == set(metadata.tables.values())


async def test_everything_of_a_person_is_told(
    store: SqliteStore, household: Household, tmp_path: Path
) -> None:
    await live(store, household)

    found = dict(told_of(household, tmp_path))

    assert set(KINDS.values()) - set(found) == {"blob", "usage", "removed_call"}
    assert found["person"]["name"] == "ada"
    assert found["message"]["parts"] == [
        {"type": "text", "text": "find the failing test\nand fix it"}
    ]
    assert found["call"]["tool_params"] == {"path": "src/a.py", "content": "x = 1\n"}
    assert found["memory"]["value"] == "green"
    assert found["memory"]["created_at"] == household.project.created_at.isoformat()
    assert found["audit"]["action"] == "call.proposed"


async def test_no_secret_is_told(store: SqliteStore, household: Household, tmp_path: Path) -> None:
    await live(store, household)

    text = str(told_of(household, tmp_path))

    assert "sk-raw" not in text
    assert household.project.digest_salt not in text
    assert not any(word in text for word in household.secrets.values())
    for kind, values in told_of(household, tmp_path):
        assert not {"secret_hash", "claim_key"} & set(values), kind


async def test_nothing_of_another_person_is_told(
    store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    other = await settle_in(store, clock, "grace", "/home/grace")
    await live(store, household)
    before = told_of(household, tmp_path)

    await live(store, other)

    assert told_of(household, tmp_path) == before
    assert len(told_of(other, tmp_path)) == len(before)
    assert household.project.id not in str(told_of(other, tmp_path))

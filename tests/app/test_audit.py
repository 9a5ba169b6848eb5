"""The record is proven page by page, and whatever was done to it is told in one sentence."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.app import audit
from handrail.app.audit import Verification, public_key, read_latest, verify
from handrail.app.enrol import enrol
from handrail.app.home import Credentials, Home
from handrail.app.storage import open_checkpoints, open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord, canonical
from handrail.core.change import Change
from handrail.core.checkpoint import short_key
from handrail.core.ids import ProjectId
from handrail.plane.sealing import Sealer
from handrail.store.audit_key import AuditKey
from handrail.testing import FakeClock


class Record:
    """A project whose record grows, and is sealed, when it is told to."""

    def __init__(self, home: Home, known: Credentials, clock: FakeClock):
        self.home = home
        self.project_id = ProjectId(known.project_id)
        self.checkpoints = home.checkpoints / f"{known.project_id}.jsonl"
        self._clock = clock

    async def grow(self, lines: int, *, sealed: bool = True) -> None:
        async with open_store(self.home, LocalBus(), to_prove=True) as store:
            for number in range(lines):
                self._clock.advance(1)
                line = AuditRecord("did", "ada", f"thing-{number}")
                await store.submit(Change(self.project_id, self._clock.now(), (), (), (line,)))
            if sealed:
                await Sealer(store, self._clock, open_checkpoints(self.home)).seal_all()

    async def verify(self) -> Verification:
        return await verify(self.home, self.project_id)

    async def trouble(self) -> str | None:
        return (await self.verify()).broken

    def tamper(self, *statements: str) -> None:
        opened = sqlite3.connect(self.home.database)
        with opened:
            opened.execute("DROP TRIGGER IF EXISTS audit_no_update")
            opened.execute("DROP TRIGGER IF EXISTS audit_no_delete")
            for statement in statements:
                opened.execute(statement)
        opened.close()

    def rewrite(self, change: Callable[[list[str]], list[str]]) -> None:
        lines = self.checkpoints.read_text().splitlines()
        self.checkpoints.write_text("".join(f"{line}\n" for line in change(lines)))


@pytest.fixture
async def record(tmp_path: Path, clock: FakeClock) -> Record:
    """Seven lines; sealed at 1, 4 and 7."""
    home, workspace = Home(tmp_path / "home"), tmp_path / "workspace"
    workspace.mkdir()
    async with open_store(home, LocalBus()) as store:
        known = await enrol(store, clock, home, workspace, "http://127.0.0.1:1")
    made = Record(home, known, clock)
    await made.grow(3)
    await made.grow(3)
    return made


async def test_a_record_is_proven_line_by_line_and_seal_by_seal(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_PAGE", 3)
    pages: list[tuple[list[int], int]] = []

    found = await verify(
        record.home,
        record.project_id,
        on_page=lambda page, lines: pages.append(([line.seq for line in page], lines)),
    )

    assert (found.lines, found.broken) == (7, None)
    assert found.last_checkpoint is not None
    assert (found.last_checkpoint.number, found.last_checkpoint.seq) == (3, 7)
    assert found.key == public_key(record.home)
    assert pages == [([1, 2, 3], 7), ([4, 5, 6], 7), ([7], 7)]


async def test_the_latest_lines_are_read_oldest_first(record: Record) -> None:
    lines = await read_latest(record.home, record.project_id, 3)

    assert [line.seq for line in lines] == [5, 6, 7]
    assert len(await read_latest(record.home, record.project_id, 99)) == 7


async def test_lines_that_are_not_sealed_yet_break_nothing(record: Record) -> None:
    await record.grow(2, sealed=False)

    found = await record.verify()

    assert (found.lines, found.broken) == (9, None)
    assert found.last_checkpoint is not None
    assert found.last_checkpoint.seq == 7


async def test_a_project_without_a_record_has_no_lines(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert await read_latest(home, "prj_none", 9) == []
    found = await verify(home, "prj_none")
    assert found == Verification(0, None, None, None)
    assert not home.audit_key.exists()


async def test_a_changed_line_is_named(record: Record) -> None:
    record.tamper("UPDATE audit SET actor = 'somebody else' WHERE seq = 5")
    assert await record.trouble() == "line 5 does not match its hash"


async def test_a_missing_line_is_named(record: Record) -> None:
    record.tamper("DELETE FROM audit WHERE seq = 5")
    assert await record.trouble() == "line 5 is missing"


async def test_a_cut_tail_is_noticed_by_what_the_project_counts(record: Record) -> None:
    await record.grow(2, sealed=False)
    record.tamper("DELETE FROM audit WHERE seq > 8")
    assert await record.trouble() == (
        "the record ends at line 8, but its project counts 9 lines: its tail was cut"
    )


async def test_a_tail_that_was_cut_with_its_count_is_noticed_by_the_checkpoints(
    record: Record,
) -> None:
    record.tamper(
        "DELETE FROM audit WHERE seq > 5",
        "UPDATE projects SET audit_seq = 5, audit_head = (SELECT hash FROM audit WHERE seq = 5)",
    )
    trouble = await record.trouble()
    assert trouble is not None
    assert trouble.startswith("the record ends at line 5, but line 7 was sealed on 01 Jan 2026")
    assert trouble.endswith("an older copy of the database was put back, or its tail was cut")


@pytest.mark.behaviour("audit.old-backup")
async def test_an_older_copy_of_the_database_is_noticed_also_when_it_has_grown_again(
    record: Record, tmp_path: Path
) -> None:
    shutil.copy(record.home.database, tmp_path / "backup.db")
    await record.grow(5)
    shutil.copy(tmp_path / "backup.db", record.home.database)

    at_first = await record.trouble()
    await record.grow(9)
    later = await record.trouble()

    assert at_first is not None
    assert "an older copy of the database was put back" in at_first
    assert later == ("line 12 is not the one that checkpoint 4 sealed: the record was rewritten")


async def test_a_head_that_lines_were_added_behind_is_noticed(record: Record) -> None:
    record.tamper(
        "UPDATE projects SET audit_seq = 6, audit_head = (SELECT hash FROM audit WHERE seq = 6)"
    )
    assert await record.trouble() == (
        "its project counts 6 lines, but the record goes on to line 7:"
        " lines were added behind its end"
    )


async def test_a_head_that_names_another_line_is_noticed(record: Record) -> None:
    record.tamper(f"UPDATE projects SET audit_head = '{'a' * 64}'")
    assert await record.trouble() == "line 7 is not the one that its project counts as its last"


async def test_a_missing_checkpoint_is_named(record: Record) -> None:
    record.rewrite(lambda lines: [lines[0], lines[2]])
    assert await record.trouble() == "checkpoint 2 is missing"


async def test_missing_first_checkpoints_are_noticed(record: Record) -> None:
    record.checkpoints.unlink()
    assert await record.trouble() == (
        "the checkpoints are missing: this record was sealed from line 1 on"
    )

    await record.grow(1)
    assert await record.trouble() == (
        "the first checkpoints are missing: line 8 is the first one sealed, and line 1 was"
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seq", 5),
        ("hash", "a" * 64),
        ("at", "2026-01-01T00:00:59+00:00"),
        ("signature", "00" * 64),
        ("signature", "no signature"),
        ("project_id", "prj_other"),
    ],
)
async def test_a_forged_checkpoint_is_named(record: Record, field: str, value: object) -> None:
    def forge(lines: list[str]) -> list[str]:
        return [lines[0], canonical({**json.loads(lines[1]), field: value}), lines[2]]

    record.rewrite(forge)
    assert await record.trouble() == "checkpoint 2 is forged: its signature does not hold"


@pytest.mark.parametrize("line", ["", "null", "{}", "[" * 3000, "\x00" * 40, "x" * 9000])
async def test_a_line_that_is_no_checkpoint_is_named(record: Record, line: str) -> None:
    record.rewrite(lambda lines: [lines[0], line, *lines[1:]])
    trouble = await record.trouble()
    assert trouble is not None
    assert trouble.startswith("checkpoint 2 is ")


async def test_a_changed_key_is_noticed(record: Record) -> None:
    before = public_key(record.home)
    assert before is not None
    record.home.audit_key.unlink()

    assert await record.trouble() == (
        f"the key {short_key(before)}, which sealed this record, is missing"
    )
    now = AuditKey.find_or_make(record.home.audit_key).public
    assert await record.trouble() == (
        f"the key was changed: this audit log began with key {short_key(before)},"
        f" and the one here is {short_key(now)}"
    )
    await record.grow(3)
    assert len(record.checkpoints.read_text().splitlines()) == 3


async def test_a_key_that_was_noted_elsewhere_is_trusted_more_than_the_one_here(
    record: Record, tmp_path: Path
) -> None:
    other = AuditKey.find_or_make(tmp_path / "other.key").public

    noted = await verify(record.home, record.project_id, public_key(record.home))
    wrong = await verify(record.home, record.project_id, other)

    assert noted.broken is None
    assert wrong.broken is not None
    assert "the key was changed" in wrong.broken


async def test_half_a_checkpoint_at_the_end_costs_no_trust(record: Record) -> None:
    whole = record.checkpoints.read_bytes()
    second = whole.rfind(b"\n", 0, -1) + 1

    for cut in (second, second + 1, (second + len(whole)) // 2, len(whole) - 1):
        record.checkpoints.write_bytes(whole[:cut])
        found = await record.verify()
        assert found.broken is None
        assert found.last_checkpoint is not None
        assert found.last_checkpoint.seq == 4
    await record.grow(0)
    assert record.checkpoints.read_bytes() == whole

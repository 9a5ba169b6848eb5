"""Records are sealed when they have grown, and never past a contradiction."""

from datetime import datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from handrail.core.audit import AuditHead, AuditRecord
from handrail.core.change import Change
from handrail.core.checkpoint import Checkpoint
from handrail.core.ids import ProjectId
from handrail.core.restoration import Restoration
from handrail.plane.sealing import Sealer
from handrail.store.audit_key import AuditKey
from handrail.store.checkpoints import CheckpointFolder
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in


@pytest.fixture
def folder(tmp_path: Path) -> CheckpointFolder:
    return CheckpointFolder(tmp_path / "audit", AuditKey.find_or_make(tmp_path / "audit.key"))


@pytest.fixture
def sealer(store: SqliteStore, clock: FakeClock, folder: CheckpointFolder) -> Sealer:
    return Sealer(store, clock, folder)


async def grow(store: SqliteStore, clock: FakeClock, home: Household, lines: int) -> None:
    records = tuple(AuditRecord("did", "ada", f"thing-{number}") for number in range(lines))
    await store.submit(Change(home.project.id, clock.now(), (), (), records))


async def sealed_through(folder: CheckpointFolder, home: Household) -> int:
    last = await folder.find_last(home.project.id)
    return 0 if last is None else last.seq


async def test_a_record_that_was_never_sealed_is_sealed_at_once(
    sealer: Sealer, folder: CheckpointFolder, household: Household
) -> None:
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 1


async def test_a_hundred_lines_are_sealed_at_once_and_fewer_after_a_minute(
    sealer: Sealer,
    store: SqliteStore,
    clock: FakeClock,
    folder: CheckpointFolder,
    household: Household,
) -> None:
    await sealer.seal_what_is_due()
    await grow(store, clock, household, 99)
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 1

    await grow(store, clock, household, 1)
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 101

    await grow(store, clock, household, 1)
    clock.advance(59)
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 101
    clock.advance(1)
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 102


async def test_a_record_that_has_not_grown_is_not_sealed_again(
    sealer: Sealer, clock: FakeClock, folder: CheckpointFolder, household: Household
) -> None:
    await sealer.seal_all()
    clock.advance(3600)
    await sealer.seal_what_is_due()
    await sealer.seal_all()
    last = await folder.find_last(household.project.id)
    assert last is not None
    assert last.number == 1


async def test_a_clock_that_was_set_back_keeps_nothing_from_being_sealed(
    sealer: Sealer,
    store: SqliteStore,
    clock: FakeClock,
    folder: CheckpointFolder,
    household: Household,
) -> None:
    await sealer.seal_all()
    clock.advance(-3600)
    await grow(store, clock, household, 1)
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 2


async def test_every_project_is_sealed_and_a_broken_one_keeps_none_of_the_others(
    sealer: Sealer,
    store: SqliteStore,
    clock: FakeClock,
    folder: CheckpointFolder,
    household: Household,
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    # Sealed further than the record goes: an older copy of the database was put back.
    await folder.add(household.project.id, AuditHead(9, "a" * 64), clock.now())

    with capture_logs() as logs:
        await sealer.seal_all()
        await sealer.seal_all()

    assert await sealed_through(folder, neighbour) == 1
    assert [(line["event"], line["project"]) for line in logs] == [
        ("audit.broken", household.project.id)
    ]
    await grow(store, clock, household, 20)
    await sealer.seal_all()
    assert await sealed_through(folder, household) == 9


async def test_a_disk_that_is_full_is_tried_again(
    store: SqliteStore, clock: FakeClock, folder: CheckpointFolder, household: Household
) -> None:
    class FullAtFirst(CheckpointFolder):
        full = True

        async def add(
            self,
            project_id: ProjectId,
            head: AuditHead,
            at: datetime,
            *,
            restored: Restoration | None = None,
        ) -> Checkpoint:
            if self.full:
                raise OSError(28, "No space left on device")
            return await super().add(project_id, head, at, restored=restored)

    full = FullAtFirst(folder._folder, folder._key)
    sealer = Sealer(store, clock, full)
    with capture_logs() as logs:
        await sealer.seal_what_is_due()
    assert [line["event"] for line in logs] == ["audit.unsealed"]

    full.full = False
    await sealer.seal_what_is_due()
    assert await sealed_through(folder, household) == 1

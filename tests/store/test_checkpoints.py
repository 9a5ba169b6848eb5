"""To a file of checkpoints is only ever added, and half of one is none."""

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from handrail.core.audit import AuditHead
from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import BrokenRecord, FileOperationError
from handrail.core.ids import ProjectId
from handrail.store.audit_key import AuditKey, is_signed
from handrail.store.checkpoints import CheckpointFolder, checkpoint_file, read_checkpoints

PROJECT = ProjectId("prj_1")
AT = datetime(2026, 1, 1, 12, 30, 1, 250, tzinfo=UTC)


def head(seq: int) -> AuditHead:
    return AuditHead(seq, f"{seq:064x}")


def read(folder: Path) -> list[Checkpoint]:
    with read_checkpoints(folder, PROJECT) as checkpoints:
        return list(checkpoints)


@pytest.fixture
def folder(tmp_path: Path) -> CheckpointFolder:
    return CheckpointFolder(tmp_path / "audit", AuditKey.find_or_make(tmp_path / "audit.key"))


async def test_what_is_added_is_found_in_its_order(
    folder: CheckpointFolder, tmp_path: Path
) -> None:
    assert await folder.find_last(PROJECT) is None

    made = [await folder.add(PROJECT, head(seq), AT) for seq in (1, 5, 9)]

    assert [(one.number, one.seq) for one in made] == [(1, 1), (2, 5), (3, 9)]
    assert read(tmp_path / "audit") == made
    assert await folder.find_last(PROJECT) == made[-1]
    assert all(map(is_signed, made))


async def test_what_is_sealed_already_is_not_sealed_again(folder: CheckpointFolder) -> None:
    first = await folder.add(PROJECT, head(5), AT)
    assert await folder.add(PROJECT, head(5), AT) == first
    assert await folder.add(PROJECT, head(4), AT) == first


async def test_each_project_has_its_own(folder: CheckpointFolder) -> None:
    await folder.add(PROJECT, head(5), AT)
    other = await folder.add(ProjectId("prj_2"), head(3), AT)
    assert (other.number, other.project_id) == (1, "prj_2")


async def test_nobody_else_can_read_them(folder: CheckpointFolder, tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        await folder.add(PROJECT, head(1), AT)
    finally:
        os.umask(umask)
    file = checkpoint_file(tmp_path / "audit", PROJECT)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_killed_at_any_byte_it_goes_on_from_the_last_whole_one(
    folder: CheckpointFolder, tmp_path: Path
) -> None:
    file = checkpoint_file(tmp_path / "audit", PROJECT)
    first = await folder.add(PROJECT, head(1), AT)
    kept = file.stat().st_size
    second = await folder.add(PROJECT, head(2), AT)
    whole = file.read_bytes()

    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        left = [first] if cut >= kept else []

        assert read(file.parent) == left
        assert await folder.find_last(PROJECT) == (first if left else None)
        for seq in (1, 2):
            await folder.add(PROJECT, head(seq), AT)
        assert read(file.parent) == [first, second]


async def test_what_is_added_while_somebody_reads_is_left_out(
    folder: CheckpointFolder, tmp_path: Path
) -> None:
    first = await folder.add(PROJECT, head(1), AT)
    with read_checkpoints(tmp_path / "audit", PROJECT) as reading:
        await folder.add(PROJECT, head(2), AT)
        assert list(reading) == [first]


async def test_nothing_is_added_to_what_another_key_has_signed(
    folder: CheckpointFolder, tmp_path: Path
) -> None:
    await folder.add(PROJECT, head(1), AT)
    other = CheckpointFolder(tmp_path / "audit", AuditKey.find_or_make(tmp_path / "other.key"))
    with pytest.raises(BrokenRecord, match="signed with another key"):
        await other.add(PROJECT, head(2), AT)


@pytest.mark.parametrize("garbage", [b"garbage\n", b"{}\n", b"x" * 20_000])
async def test_nothing_is_added_to_what_is_no_checkpoint(
    folder: CheckpointFolder, tmp_path: Path, garbage: bytes
) -> None:
    await folder.add(PROJECT, head(1), AT)
    with checkpoint_file(tmp_path / "audit", PROJECT).open("ab") as file:
        file.write(garbage)
    with pytest.raises(BrokenRecord):
        await folder.add(PROJECT, head(2), AT)


async def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file")
    folder = CheckpointFolder(tmp_path / "audit", AuditKey.find_or_make(tmp_path / "audit.key"))
    with pytest.raises(FileOperationError, match="cannot be written"):
        await folder.add(PROJECT, head(1), AT)

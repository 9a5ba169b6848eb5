"""A draft that was damaged on disk is refused with the reason; all others go on."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.errors import DraftDamaged, FileOperationError
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.listing import StoredDrafts
from handrail.executors.files.removal import remove
from handrail.executors.rehearsal.way import LISTED
from tests.executors.drafts.conftest import OpenDrafts
from tests.executors.drafts.session import DraftSession, contents

Damage = Callable[[Path], None]


def cut_off(step: Path) -> None:
    record = step / "step.json"
    record.write_bytes(record.read_bytes()[:40])


def lose_record(step: Path) -> None:
    (step / "step.json").unlink()


def lose_layer(step: Path) -> None:
    fd = os.open(step, LISTED)
    remove(fd, "layer")
    os.close(fd)


def come_from_later(step: Path) -> None:
    record = step / "step.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "version": 7}))


def lose_fields(step: Path) -> None:
    (step / "step.json").write_text('{"version": 1}')


DAMAGES: list[tuple[Damage, str]] = [
    (cut_off, "the record of step 2 is damaged"),
    (lose_record, "step 2 has no record"),
    (lose_layer, "the files of step 2 are missing"),
    (come_from_later, "step 2 has the format 7"),
    (lose_fields, "the record of step 2 is damaged"),
]


async def open_damaged(
    session: DraftSession, open_drafts: OpenDrafts, tmp_path: Path, damage: Damage
) -> ClientDrafts:
    """Three steps, of which the second is damaged while no client runs; and another session."""
    await DraftSession(session.drafts, "second").write("b.txt", "two\n")
    for number in range(1, 4):
        await session.write(f"{number}.txt", f"{number}\n")
    await session.drafts.close()
    [step] = tmp_path.glob("drafts/*/steps/00000002")
    damage(step)
    return open_drafts()


@pytest.mark.parametrize(("damage", "why"), DAMAGES, ids=[one.__name__ for one, _ in DAMAGES])
async def test_damage_is_told_to_its_session_and_stops_no_other(
    session: DraftSession,
    open_drafts: OpenDrafts,
    tmp_path: Path,
    root: Path,
    damage: Damage,
    why: str,
) -> None:
    drafts = await open_damaged(session, open_drafts, tmp_path, damage)
    damaged, other = DraftSession(drafts, count=session.count), DraftSession(drafts, "second")

    for use in (damaged.read("1.txt"), damaged.write("4.txt", "4\n"), damaged.sum_up()):
        with pytest.raises(DraftDamaged, match=why) as told:
            await use
        assert "`handrail drafts discard first` removes it" in told.value.message
    assert drafts.holds("second-1")
    assert not drafts.holds("first-3")
    found = {
        one.session_id: (len(one.steps), one.trouble != "")
        for one in StoredDrafts(tmp_path / "drafts").list()
    }
    assert found == {"first": (1, True), "second": (1, False)}
    await other.write("c.txt", "three\n")
    await other.apply()
    assert contents(root) == {"b.txt": "two\n", "c.txt": "three\n"}


async def test_a_damaged_draft_is_usable_again_without_its_damaged_steps(
    session: DraftSession, open_drafts: OpenDrafts, tmp_path: Path
) -> None:
    drafts = await open_damaged(session, open_drafts, tmp_path, cut_off)
    damaged = DraftSession(drafts, count=session.count)

    gone = await damaged.discard(2)

    assert [(step.number, step.title) for step in gone] == [
        (2, "a step of the damaged part"),
        (3, "a step of the damaged part"),
    ]
    assert await damaged.names() == ["1.txt"]


async def test_a_note_that_was_cut_off_before_anything_was_applied_is_no_damage(
    session: DraftSession, open_drafts: OpenDrafts, tmp_path: Path, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.drafts.close()
    [draft] = tmp_path.glob("drafts/*/")
    (draft / "applying.json").write_text('{"call": "fir')

    later = DraftSession(open_drafts(), count=session.count)
    await later.apply()

    assert contents(root) == {"a.txt": "one\n"}


needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full on this system"
)


@needs_full
async def test_a_full_disk_is_told_to_the_session_that_needs_room(
    session: DraftSession, tmp_path: Path, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    [draft] = tmp_path.glob("drafts/*/")
    (draft / "applying.json").symlink_to("/dev/full")

    with pytest.raises(FileOperationError, match="cannot be kept: No space left on device"):
        await session.apply()
    assert contents(root) == {}
    (draft / "applying.json").unlink()
    await session.apply()
    assert contents(root) == {"a.txt": "one\n"}

"""What was claimed, begun and finished here is known to whoever comes after us."""

import os
import shutil
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from handrail.client.journal import Entry, Journal, Stage
from handrail.core.errors import FileOperationError
from tests.client.disks import next_life, refuse_to_keep

REPORT = {"tool_id": "exe_1", "status": "completed", "result": {"output": "done"}}
HOUR = 3600

needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full on this system"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "journal"


@pytest.fixture
def journal(folder: Path) -> Journal:
    return Journal(folder)


def the_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def age(file: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file, (then, then))


# From life to life


def test_a_machine_that_has_done_nothing_has_nothing_to_tell(folder: Path) -> None:
    assert next_life(folder) == []


def test_what_was_claimed_is_known_as_not_begun(journal: Journal, folder: Path) -> None:
    journal.note_claim("exe_1")

    assert journal.entries == next_life(folder) == [Entry("exe_1", Stage.CLAIMING)]


async def test_what_was_begun_is_known_as_begun(journal: Journal, folder: Path) -> None:
    journal.note_claim("exe_1")

    await journal.begin("exe_1")

    assert journal.entries == next_life(folder) == [Entry("exe_1", Stage.BEGUN)]


async def test_what_was_finished_is_known_with_what_is_to_be_told(
    journal: Journal, folder: Path
) -> None:
    journal.note_claim("exe_1")
    await journal.begin("exe_1")

    await journal.finish("exe_1", REPORT)

    assert journal.entries == next_life(folder) == [Entry("exe_1", Stage.FINISHED, REPORT)]
    assert len(list(folder.iterdir())) == 1


async def test_each_call_has_its_own_page(journal: Journal, folder: Path) -> None:
    journal.note_claim("exe_1")
    await journal.begin("exe_2")
    await journal.finish("exe_3", {**REPORT, "tool_id": "exe_3"})
    journal.forget("exe_2")

    assert {entry.tool_id: entry.stage for entry in next_life(folder)} == {
        "exe_1": Stage.CLAIMING,
        "exe_3": Stage.FINISHED,
    }
    assert journal.find("exe_1") == Entry("exe_1", Stage.CLAIMING)
    assert journal.find("exe_2") is None


async def test_names_that_are_no_text_are_told_as_they_were(journal: Journal, folder: Path) -> None:
    output = os.fsdecode(b"caf\xe9.txt\n\xff\xfe") + "\ud800 é 漢 \x00 \u2028"
    report: dict[str, Any] = {**REPORT, "result": {"output": output, output: [output]}}

    await journal.finish("exe_1", report)

    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, report)]


@pytest.mark.parametrize(
    "tool_id",
    [
        pytest.param("../../x", id="upwards"),
        pytest.param("/tmp/x", id="absolute"),
        pytest.param("a/b/c", id="folders"),
        pytest.param("..\\..\\x", id="backwards"),
        pytest.param("..", id="dots"),
        pytest.param("", id="nothing"),
        pytest.param("x" * 100_000, id="long"),
        pytest.param("a\0b\nc", id="controls"),
        pytest.param("é/漢", id="not-ascii"),
        pytest.param("*.json", id="pattern"),
    ],
)
async def test_an_id_that_looks_like_a_path_leads_nowhere(
    journal: Journal, folder: Path, tmp_path: Path, tool_id: str
) -> None:
    journal.note_claim(tool_id)
    await journal.begin(tool_id)

    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [the_file(folder)]
    assert next_life(folder) == [Entry(tool_id, Stage.BEGUN)]
    journal.forget(tool_id)
    assert list(folder.iterdir()) == []


def test_ids_that_look_alike_are_not_mixed_up(journal: Journal, folder: Path) -> None:
    alike = ["a/b", "a_b", "a.b", "A/B", "a/b/", "./a/b", *(f"exe_{n}" for n in range(100))]

    for tool_id in alike:
        journal.note_claim(tool_id)

    assert sorted(entry.tool_id for entry in next_life(folder)) == sorted(alike)


# Forgetting


async def test_what_the_server_knows_is_forgotten(journal: Journal, folder: Path) -> None:
    journal.note_claim("exe_1")
    await journal.begin("exe_1")
    await journal.finish("exe_1", REPORT)

    journal.forget("exe_1")

    assert journal.find("exe_1") is None
    assert journal.entries == next_life(folder) == []
    assert list(folder.iterdir()) == []


def test_forgetting_twice_or_what_was_never_known_is_harmless(
    journal: Journal, folder: Path
) -> None:
    journal.note_claim("exe_1")
    journal.note_claim("exe_2")

    for tool_id in ("exe_1", "exe_1", "exe_unheard_of"):
        journal.forget(tool_id)

    assert next_life(folder) == [Entry("exe_2", Stage.CLAIMING)]


def test_what_lost_its_file_can_still_be_forgotten(journal: Journal, folder: Path) -> None:
    journal.note_claim("exe_1")
    the_file(folder).unlink()

    journal.forget("exe_1")

    assert journal.entries == []


async def test_what_an_earlier_life_has_left_is_forgotten_like_our_own(
    journal: Journal, folder: Path
) -> None:
    await journal.finish("exe_1", REPORT)

    Journal(folder).forget("exe_1")

    assert next_life(folder) == []


def test_a_claim_that_nobody_came_back_to_is_dropped_after_a_day(
    journal: Journal, folder: Path
) -> None:
    journal.note_claim("exe_1")
    age(the_file(folder), 25 * HOUR)

    assert next_life(folder) == []
    assert list(folder.iterdir()) == []


def test_a_claim_is_kept_for_a_day(journal: Journal, folder: Path) -> None:
    journal.note_claim("exe_1")
    age(the_file(folder), 23 * HOUR)

    assert next_life(folder) == [Entry("exe_1", Stage.CLAIMING)]


async def test_what_was_begun_is_never_too_old(journal: Journal, folder: Path) -> None:
    await journal.begin("exe_1")
    age(the_file(folder), 10_000 * HOUR)

    assert next_life(folder) == [Entry("exe_1", Stage.BEGUN)]


async def test_what_was_finished_is_never_too_old(journal: Journal, folder: Path) -> None:
    await journal.finish("exe_1", REPORT)
    age(the_file(folder), 10_000 * HOUR)

    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, REPORT)]


# What is on the disk


async def test_nobody_else_can_look_into_the_folder_or_its_files(folder: Path) -> None:
    umask = os.umask(0)
    try:
        journal = Journal(folder)
        journal.note_claim("exe_1")
        await journal.begin("exe_2")
        await journal.finish("exe_3", REPORT)
    finally:
        os.umask(umask)

    modes = [stat.filemode(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == ["drwx------", *["-rw-------"] * 3]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b'{"tool_id": "exe_1", "sta', id="cut-short"),
        pytest.param(b"\x00" * 60, id="zeros"),
        pytest.param(b"\xff\xfe\xfa", id="no-text"),
        pytest.param(b"[]", id="a-list"),
        pytest.param(b'"begun"', id="a-word"),
        pytest.param(b"null", id="null"),
        pytest.param(b"3", id="a-number"),
        pytest.param(b"{}", id="without-fields"),
        pytest.param(b'{"stage": "begun", "report": null}', id="a-field-less"),
        pytest.param(b'{"tool_id": [], "stage": "begun", "report": null}', id="no-id"),
        pytest.param(b'{"tool_id": 3, "stage": "begun", "report": null}', id="id-a-number"),
        pytest.param(b'{"tool_id": "exe_1", "stage": "finished"}', id="no-report"),
        pytest.param(
            b'{"tool_id": "exe_1", "stage": "finished", "report": "word"}', id="report-a-word"
        ),
        pytest.param(
            b'{"tool_id": "exe_1", "stage": "finished", "report": {}}', id="report-on-nothing"
        ),
        pytest.param(b"[" * 100_000, id="deeply-nested"),
        pytest.param(b'{"tool_id": "exe_1", "stage": "done", "report": null}', id="other-stage"),
        pytest.param(b'{"tool_id": "exe_1", "stage": [], "report": null}', id="no-stage"),
    ],
)
async def test_a_file_that_cannot_be_read_is_passed_over_and_removed_with_a_warning(
    journal: Journal, folder: Path, content: bytes
) -> None:
    journal.note_claim("exe_1")
    broken = the_file(folder)
    await journal.begin("exe_2")
    broken.write_bytes(content)

    with capture_logs() as lines:
        found = next_life(folder)

    assert found == [Entry("exe_2", Stage.BEGUN)]
    assert lines == [
        {"event": "journal.unreadable", "file": broken.name, "log_level": "warning"},
    ]
    assert not broken.exists()


async def test_a_crash_in_the_middle_of_writing_leaves_the_old_words(
    journal: Journal, folder: Path
) -> None:
    await journal.begin("exe_1")
    aside = the_file(folder).with_suffix(".new")
    aside.write_bytes(
        b'{"tool_id": "exe_1", "stage": "finished", "report": {"output": "' + b"x" * 1000
    )

    assert next_life(folder) == [Entry("exe_1", Stage.BEGUN)]
    # And what was left lying aside is not in the way.
    await Journal(folder).finish("exe_1", REPORT)
    assert next_life(folder) == [Entry("exe_1", Stage.FINISHED, REPORT)]
    assert not aside.exists()


async def test_a_beginning_that_may_not_outlive_a_power_cut_is_none(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_to_keep(monkeypatch)
    journal.note_claim("exe_1")  # Which nobody would miss.

    with pytest.raises(FileOperationError):
        await journal.begin("exe_1")

    assert journal.entries == next_life(folder) == [Entry("exe_1", Stage.CLAIMING)]


async def test_a_beginning_is_on_the_disk_with_its_name_before_anything_is_touched(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []

    def keep(descriptor: int) -> None:
        kept.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    monkeypatch.setattr(os, "fsync", keep)

    await journal.begin("exe_1")

    assert kept == ["file", "folder"]


# A folder that says no


@pytest.mark.parametrize("below", [False, True], ids=["in-its-place", "above-it"])
def test_a_folder_that_cannot_be_had_is_told_in_words(tmp_path: Path, below: bool) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "journal" if below else tmp_path / "file"

    with pytest.raises(FileOperationError) as caught:
        Journal(folder)

    assert caught.value.message.startswith(f"the journal in {folder} cannot be read: ")


async def test_a_folder_that_is_gone_is_told_in_words(journal: Journal, folder: Path) -> None:
    shutil.rmtree(folder)
    words = "this machine's journal cannot be written: No such file or directory"

    with pytest.raises(FileOperationError, match=f"^{words}$"):
        journal.note_claim("exe_1")
    with pytest.raises(FileOperationError, match=f"^{words}$"):
        await journal.begin("exe_1")
    with pytest.raises(FileOperationError, match=f"^{words}$"):
        await journal.finish("exe_1", REPORT)

    assert journal.entries == []


@needs_full
async def test_a_full_disk_is_told_in_words_and_leaves_the_old_ones(
    journal: Journal, folder: Path
) -> None:
    journal.note_claim("exe_1")
    aside = the_file(folder).with_suffix(".new")
    aside.symlink_to("/dev/full")
    words = "this machine's journal cannot be written: No space left on device"

    with pytest.raises(FileOperationError, match=f"^{words}$"):
        await journal.begin("exe_1")

    # What could not be written whole is not left lying about.
    assert not aside.is_symlink()
    assert journal.entries == next_life(folder) == [Entry("exe_1", Stage.CLAIMING)]


async def test_what_cannot_be_forgotten_is_logged_and_nobody_dies_of_it(
    journal: Journal, folder: Path
) -> None:
    await journal.begin("exe_1")
    shutil.rmtree(folder)
    folder.write_text("in the way")

    with capture_logs() as lines:
        journal.forget("exe_1")

    assert [line["event"] for line in lines] == ["journal.failed"]
    assert journal.entries == []


def test_what_was_left_half_written_is_cleared_away(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    left = folder / "of-nobody.new"
    left.write_text("half")
    os.utime(left, (0, 0))

    Journal(folder)

    assert list(folder.iterdir()) == []


def test_a_claim_is_made_with_the_same_key_in_every_life_and_with_another_elsewhere(
    folder: Path, tmp_path: Path
) -> None:
    first = Journal(folder).note_claim("exe_1")

    assert first == Journal(folder).note_claim("exe_1")
    assert len({first, Journal(folder).note_claim("exe_2")}) == 2
    assert first != Journal(tmp_path / "elsewhere").note_claim("exe_1")

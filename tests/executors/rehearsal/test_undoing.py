"""What a call writes through its hands can be undone."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import FileOperationError
from handrail.core.hands import Hands
from handrail.core.rehearsal import CallRef
from handrail.core.undo import Undone, UndoStatus
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.rehearsal.undoing import WorkspaceUndo, undo_in

ONE, TWO = CallRef("session", "one"), CallRef("session", "two")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture
def undo(workspace: Path) -> Iterator[WorkspaceUndo]:
    with (
        FileSystemExecutor(workspace) as files,
        undo_in(files, workspace.parent / "undo.key") as undo,
    ):
        assert undo is not None
        yield undo


@pytest.fixture
def hands(undo: WorkspaceUndo) -> Hands:
    return Hands(files=undo.files, undo=undo)


async def test_a_write_is_undone(workspace: Path, hands: Hands) -> None:
    (workspace / "a").write_text("old")
    await hands.for_call(ONE).files.write("a", b"new", expected=None)
    assert await hands.undo.describe(ONE) == {"can_undo": True}
    assert await hands.undo.undo(["one"]) == (Undone("one", UndoStatus.UNDONE),)
    assert (workspace / "a").read_text() == "old"


async def test_a_new_file_goes_with_the_folders_that_were_made_for_it(
    workspace: Path, hands: Hands
) -> None:
    await hands.for_call(ONE).files.write("new/deep/a", b"new", expected=None)
    await hands.undo.undo(["one"])
    assert not (workspace / "new").exists()


async def test_several_writes_of_one_call_are_undone_together(
    workspace: Path, hands: Hands
) -> None:
    (workspace / "a").write_text("old")
    own = hands.for_call(ONE).files
    for text in (b"1", b"2"):
        await own.write("a", text, expected=None)
    await own.write("b", b"new", expected=None)
    await hands.undo.undo(["one"])
    assert (workspace / "a").read_text() == "old"
    assert not (workspace / "b").exists()


async def test_calls_are_undone_in_reverse_order_whatever_the_order_of_asking(
    workspace: Path, hands: Hands
) -> None:
    (workspace / "a").write_text("old")
    await hands.for_call(ONE).files.write("a", b"1", expected=None)
    await hands.for_call(TWO).files.write("a", b"2", expected=None)
    undone = await hands.undo.undo(["one", "two"])
    assert [(one.call, one.is_undone) for one in undone] == [("two", True), ("one", True)]
    assert (workspace / "a").read_text() == "old"


async def test_a_file_that_was_changed_since_is_left_alone(workspace: Path, hands: Hands) -> None:
    await hands.for_call(ONE).files.write("a", b"new", expected=None)
    (workspace / "a").write_text("by a person")
    reason = "a has other content now; nothing was undone"
    assert await hands.undo.undo(["one"]) == (Undone("one", UndoStatus.REFUSED, reason),)
    assert (workspace / "a").read_text() == "by a person"


async def test_a_call_that_wrote_nothing_leaves_no_trace(workspace: Path, hands: Hands) -> None:
    assert await hands.undo.describe(ONE) == {}
    [undone] = await hands.undo.undo(["one"])
    assert undone.status is UndoStatus.NOT_KEPT
    assert os.listdir(workspace) == []


async def test_a_write_that_fails_leaves_nothing_to_undo(workspace: Path, hands: Hands) -> None:
    (workspace / "a").mkdir()
    with pytest.raises(FileOperationError, match="a is a directory"):
        await hands.for_call(ONE).files.write("a", b"new", expected=None)
    assert await hands.undo.describe(ONE) == {}


async def test_a_write_is_made_although_its_before_image_cannot_be_kept(
    workspace: Path, hands: Hands
) -> None:
    (workspace / ".handrail").write_text("a file where the folder should be")
    await hands.for_call(ONE).files.write("a", b"new", expected=None)
    assert (workspace / "a").read_text() == "new"
    assert await hands.undo.describe(ONE) == {
        "can_undo": False,
        "why_not": ".handrail/undo cannot be used: Not a directory",
    }


async def test_writes_of_several_calls_at_once_are_all_kept(workspace: Path, hands: Hands) -> None:
    calls = [CallRef("session", str(i)) for i in range(8)]
    await asyncio.gather(
        *(hands.for_call(call).files.write(call.tool_id, b"new", expected=None) for call in calls)
    )
    await hands.undo.undo([call.tool_id for call in calls])
    assert os.listdir(workspace) == [".handrail"]


async def test_files_without_a_call_are_written_without_a_before_image(
    workspace: Path, hands: Hands
) -> None:
    await hands.files.write("a", b"new", expected=None)
    assert os.listdir(workspace) == ["a"]

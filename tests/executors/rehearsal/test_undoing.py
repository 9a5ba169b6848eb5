"""What a call writes through its hands can be undone."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import FileOperationError, StaleFileError
from handrail.core.files import FileContent
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


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ("a", "a has other content now; nothing was undone"),
        ("made/b", "made/b has other content now; nothing was undone"),
        ("made/mine", "made holds a new file; nothing was undone"),
    ],
)
async def test_where_one_of_several_writes_cannot_be_undone_none_is(
    workspace: Path, hands: Hands, changed: str, reason: str
) -> None:
    (workspace / "a").write_text("old")
    own = hands.for_call(ONE).files
    for name in ("a", "made/b", "a", "c"):
        await own.write(name, b"new", expected=None)
    (workspace / changed).write_text("by a person")
    as_left = contents(workspace)

    assert await hands.undo.undo(["one"]) == (Undone("one", UndoStatus.REFUSED, reason),)

    assert contents(workspace) == as_left


async def test_a_file_that_a_person_saved_between_two_writes_of_a_call_is_not_half_undone(
    workspace: Path, hands: Hands
) -> None:
    own = hands.for_call(ONE).files
    await own.write("a", b"1", expected=None)
    (workspace / "a").write_text("by a person")
    await own.write("a", b"2", expected=None)

    [undone] = await hands.undo.undo(["one"])

    assert undone.status is UndoStatus.REFUSED
    assert (workspace / "a").read_text() == "2"


def contents(workspace: Path) -> dict[str, str]:
    found = (path for path in workspace.rglob("*") if path.is_file())
    return {str(path): path.read_text() for path in found if ".handrail" not in path.parts}


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


async def test_a_write_that_was_not_kept_is_told_also_if_the_next_write_fails(
    workspace: Path, hands: Hands
) -> None:
    (workspace / ".handrail").write_text("a file where the folder should be")
    (workspace / "b").mkdir()
    own = hands.for_call(ONE).files
    await own.write("a", b"new", expected=None)

    with pytest.raises(FileOperationError):
        await own.write("b", b"new", expected=None)

    assert (await hands.undo.describe(ONE))["can_undo"] is False


def put(path: Path, text: str, mode: int = 0o644) -> FileContent:
    """Make a file; returns what it is now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    os.utime(path, ns=(10**18, 10**18))
    return FileContent(text.encode(), len(text), mode)


def told(path: Path) -> tuple[str, int, int]:
    found = path.stat()
    return path.read_text(), found.st_mode & 0o7777, found.st_mtime_ns


@pytest.mark.parametrize("mode", [0o751, 0o600, 0o6755])
async def test_a_removal_is_undone_with_mode_and_time(
    workspace: Path, hands: Hands, mode: int
) -> None:
    old = put(workspace / "src/run.sh", "old", mode)
    await hands.for_call(ONE).files.remove("src/run.sh", expected=old.state)
    assert os.listdir(workspace / "src") == []
    assert await hands.undo.describe(ONE) == {"can_undo": True}
    assert await hands.undo.undo(["one"]) == (Undone("one", UndoStatus.UNDONE),)
    assert told(workspace / "src/run.sh") == ("old", mode, 10**18)


@pytest.mark.parametrize("text", ["moved", ""], ids=["text", "empty"])
async def test_a_move_is_undone_with_the_folders_that_were_made_for_it(
    workspace: Path, hands: Hands, text: str
) -> None:
    old = put(workspace / "src/run.sh", text, 0o751)
    await hands.for_call(ONE).files.move("src/run.sh", "new/lib/run.sh", expected=old.state)
    assert told(workspace / "new/lib/run.sh") == (text, 0o751, 10**18)
    assert await hands.undo.describe(ONE) == {"can_undo": True}
    assert await hands.undo.undo(["one"]) == (Undone("one", UndoStatus.UNDONE),)
    assert told(workspace / "src/run.sh") == (text, 0o751, 10**18)
    assert not (workspace / "new").exists()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ("a", "a was created meanwhile; nothing was undone"),
        ("new/b", "new/b has other content now; nothing was undone"),
        ("new/mine", "new holds a new file; nothing was undone"),
    ],
)
async def test_a_move_is_not_undone_where_a_person_changed_something_since(
    workspace: Path, hands: Hands, changed: str, reason: str
) -> None:
    old = put(workspace / "a", "old")
    await hands.for_call(ONE).files.move("a", "new/b", expected=old.state)
    (workspace / changed).write_text("by a person")
    as_left = contents(workspace)
    assert await hands.undo.undo(["one"]) == (Undone("one", UndoStatus.REFUSED, reason),)
    assert contents(workspace) == as_left


async def test_a_removal_is_not_undone_over_a_new_file(workspace: Path, hands: Hands) -> None:
    old = put(workspace / "a", "old")
    await hands.for_call(ONE).files.remove("a", expected=old.state)
    (workspace / "a").write_text("by a person")
    [undone] = await hands.undo.undo(["one"])
    assert undone.reason == "a was created meanwhile; nothing was undone"
    assert (workspace / "a").read_text() == "by a person"


async def test_changes_of_every_sort_are_undone_in_reverse_order(
    workspace: Path, hands: Hands
) -> None:
    old = put(workspace / "a", "old", 0o640)
    before = contents(workspace)
    calls = [CallRef("session", str(number)) for number in range(5)]
    own = [hands.for_call(call).files for call in calls]
    await own[0].move("a", "b/c", expected=old.state)
    await own[1].write("b/c", b"new", expected=None)
    new = FileContent(b"new", 3, 0o640)
    await own[2].move("b/c", "a", expected=new.state)
    await own[3].remove("a", expected=new.state)
    await own[4].write("a", b"again", expected=None)
    undone = await hands.undo.undo([call.tool_id for call in calls])
    assert [one.call for one in undone] == ["4", "3", "2", "1", "0"]
    assert all(one.is_undone for one in undone), undone
    assert contents(workspace) == before
    assert told(workspace / "a") == ("old", 0o640, 10**18)


async def test_what_was_not_taken_away_leaves_nothing_to_undo(
    workspace: Path, hands: Hands
) -> None:
    old = put(workspace / "a", "old")
    put(workspace / "b", "old")
    stale = FileContent(b"other", 5)
    own = hands.for_call(ONE).files
    with pytest.raises(StaleFileError):
        await own.remove("a", expected=stale.state)
    with pytest.raises(StaleFileError):
        await own.move("a", "c", expected=stale.state)
    # The same content is there already, and was not moved there.
    with pytest.raises(StaleFileError):
        await own.move("a", "b", expected=old.state)
    assert await hands.undo.describe(ONE) == {}
    assert (workspace / "a").read_text() == "old"


async def test_a_file_is_taken_away_although_it_cannot_be_kept(
    workspace: Path, hands: Hands
) -> None:
    (workspace / ".handrail").write_text("a file where the folder should be")
    own = hands.for_call(ONE).files
    await own.move("a", "b", expected=put(workspace / "a", "old").state)
    await own.remove("b", expected=FileContent(b"old", 3).state)
    assert os.listdir(workspace) == [".handrail"]
    assert (await hands.undo.describe(ONE))["can_undo"] is False

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.core.errors import (
    FileOperationError,
    FolderError,
    PathValidationError,
    StaleFileError,
    ToolError,
)
from handrail.core.files import FileContent, FileState
from handrail.executors.files import leaving, rename
from handrail.executors.files.leaving import move, remove
from handrail.executors.files.place import Place

Deed = Callable[[Path, FileState], None]


@pytest.fixture(params=["kernel", "portable"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "portable":
        monkeypatch.setattr(rename, "_renameat2", lambda *_: False)
    return request.param


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "lib").mkdir()
    yield tmp_path
    assert not list(tmp_path.rglob(".handrail-*")), "a file was left aside"


def state(path: Path) -> FileState:
    return FileContent(path.read_bytes(), 0, stat.S_IMODE(path.stat().st_mode)).state


def take_away(folder: Path, expected: FileState) -> None:
    root_fd = os.open(folder, os.O_RDONLY)
    try:
        with Place(root_fd, "a") as place:
            remove(place, expected)
    finally:
        os.close(root_fd)


def take_over(folder: Path, expected: FileState) -> None:
    root_fd = os.open(folder, os.O_RDONLY)
    try:
        with Place(root_fd, "a") as place, Place(root_fd, "lib/b") as into:
            move(place, into, expected)
    finally:
        os.close(root_fd)


either = pytest.mark.parametrize("deed", [take_away, take_over], ids=["remove", "move"])


def just_before(monkeypatch: pytest.MonkeyPatch, meddle: Callable[[], object]) -> None:
    """Let somebody do something right before the file is taken, once."""
    meddles = [meddle]

    def meddled(*args: object, **named: object) -> None:
        if meddles:
            meddles.pop()()
        rename.move_to_free_name(*args, **named)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(leaving, "move_to_free_name", meddled)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_removed_and_nothing_else(folder: Path) -> None:
    (folder / "b").write_bytes(b"other")
    take_away(folder, state(folder / "a"))
    assert names(folder) == ["b", "lib"]


def test_a_file_is_moved_as_it_is(folder: Path) -> None:
    (folder / "a").chmod(0o4751)
    before = (folder / "a").stat()
    take_over(folder, state(folder / "a"))
    after = (folder / "lib/b").stat()
    assert names(folder) == ["lib", "lib/b"]
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (
        before.st_ino,
        before.st_mode,
        before.st_mtime_ns,
    )


@either
@pytest.mark.parametrize("change", ["content", "mode"])
def test_what_is_not_expected_is_left_as_it_is(folder: Path, deed: Deed, change: str) -> None:
    expected = state(folder / "a")
    if change == "mode":
        (folder / "a").chmod(0o700)
    else:
        (folder / "a").write_bytes(b"new")
    before = state(folder / "a")
    with pytest.raises(StaleFileError, match=r"^a has changed since it was checked$"):
        deed(folder, expected)
    assert state(folder / "a") == before
    assert names(folder) == ["a", "lib"]


@either
def test_a_file_changed_in_the_last_moment_is_given_back(
    folder: Path, deed: Deed, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = state(folder / "a")
    just_before(monkeypatch, lambda: (folder / "a").write_bytes(b"a stranger's"))
    with pytest.raises(StaleFileError):
        deed(folder, expected)
    assert (folder / "a").read_bytes() == b"a stranger's"
    assert names(folder) == ["a", "lib"]


@either
def test_a_file_that_is_gone_is_said_to_be_gone(
    folder: Path, deed: Deed, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = state(folder / "a")
    just_before(monkeypatch, (folder / "a").unlink)
    for _ in range(2):
        with pytest.raises(StaleFileError, match=r"^a is gone$"):
            deed(folder, expected)
    assert names(folder) == ["lib"]


def test_a_file_in_a_folder_that_is_gone_is_not_taken_for_its_namesake(folder: Path) -> None:
    root_fd = os.open(folder, os.O_RDONLY)
    try:
        for path in ("gone/a", "gone/deep/a"):
            with Place(root_fd, path) as place, pytest.raises(StaleFileError, match="is gone"):
                remove(place, state(folder / "a"))
    finally:
        os.close(root_fd)
    assert (folder / "a").read_bytes() == b"old"


def test_a_file_made_in_the_last_moment_is_not_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_before(monkeypatch, lambda: (folder / "lib/b").write_bytes(b"a stranger's"))
    with pytest.raises(StaleFileError, match=r"^lib/b was created meanwhile$"):
        take_over(folder, state(folder / "a"))
    assert (folder / "lib/b").read_bytes() == b"a stranger's"
    assert (folder / "a").read_bytes() == b"old"


@either
@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda path: path.symlink_to("/etc/passwd"), PathValidationError),
        (os.mkfifo, PathValidationError),
        (os.mkdir, FolderError),
        (lambda path: path.hardlink_to(path.parent / "second"), PathValidationError),
    ],
    ids=["link", "pipe", "folder", "hard"],
)
def test_what_is_no_plain_file_is_left_where_it_is(
    folder: Path, deed: Deed, make: Callable[[Path], None], error: type[ToolError], way: str
) -> None:
    if way == "portable" and make is os.mkdir:
        pytest.skip("a folder has no links")
    expected = state(folder / "a")
    (folder / "a").rename(folder / "second")
    make(folder / "a")
    before = names(folder)
    with pytest.raises(error):
        deed(folder, expected)
    assert names(folder) == before


def test_a_file_is_not_moved_to_another_file_system(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(leaving, "move_to_free_name", refuse)
    with pytest.raises(FileOperationError, match=r"^a cannot be moved to another file system; use"):
        take_over(folder, state(folder / "a"))


@either
def test_of_many_who_take_the_same_file_one_wins(folder: Path, deed: Deed) -> None:
    expected = state(folder / "a")

    def attempt(_: int) -> bool:
        try:
            deed(folder, expected)
        except StaleFileError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


KILLED = """
import os, sys
from handrail.core.files import FileContent
from handrail.executors.files.leaving import move
from handrail.executors.files.place import Place

root = os.open(sys.argv[1], os.O_RDONLY)
os.chmod("a", 0o644, dir_fd=root)
state = FileContent(b"a" * 50_000, 0, 0o644).state
print("ready", flush=True)
while True:
    for path, to in (("a", "lib/b"), ("lib/b", "a")):
        with Place(root, path) as place, Place(root, to) as into:
            move(place, into, state)
"""


def test_a_mover_killed_at_any_moment_leaves_the_file_in_one_place(folder: Path, way: str) -> None:
    if way == "portable":
        pytest.skip("without the system call two names can be left")
    (folder / "a").write_bytes(b"a" * 50_000)
    for round_number in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(folder)], stdout=subprocess.PIPE
        ) as mover:
            assert mover.stdout is not None
            mover.stdout.readline()
            time.sleep(0.02 + 0.013 * round_number)
            mover.kill()
        [found] = [path for path in folder.rglob("*") if path.is_file()]
        assert found.read_bytes() == b"a" * 50_000
        found.rename(folder / "a")

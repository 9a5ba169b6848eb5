import asyncio
import errno
import os
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from handrail.core.errors import (
    FolderError,
    PathValidationError,
    StaleFileError,
    ToolError,
)
from handrail.core.hands import FileContent, FileState
from handrail.executors.files import atomic, rename
from handrail.executors.files.atomic import put
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.place import Place

ABSENT = FileState(exists=False)
Switch = Callable[[int, str, str], bool | None]


def can_exchange() -> bool:
    folder = os.open("/tmp", os.O_RDONLY)
    try:
        return rename.exchange(folder, "no-such-file", "nor-this-one")
    except FileNotFoundError:
        return True
    finally:
        os.close(folder)


EXCHANGE = pytest.param(
    "exchange",
    marks=pytest.mark.skipif(not can_exchange(), reason="names cannot be exchanged here"),
)
# Only what was exchanged can be given back.
by_exchange = pytest.mark.parametrize("way", [EXCHANGE], indirect=True)


@pytest.fixture(params=[EXCHANGE, "portable"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "portable":
        monkeypatch.setattr(rename, "_renameat2", lambda *_: False)
    return request.param


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    assert not list(tmp_path.glob(".handrail-*")), "a draft was left behind"


def write(folder: Path, data: bytes, expected: FileState | None = None, name: str = "a") -> None:
    root_fd = os.open(folder, os.O_RDONLY)
    try:
        with Place(root_fd, name) as place:
            put(place, data, expected)
    finally:
        os.close(root_fd)


def state(path: Path) -> FileState:
    mode = stat.S_IMODE(path.stat().st_mode)
    return FileContent(path.read_bytes(), 0, mode).state


def just_before_the_switch(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], object]) -> None:
    """Let somebody do something in the last moment, once."""
    deeds = [deed]

    def meddled(step: Switch) -> Switch:
        def then(folder_fd: int, one: str, other: str) -> bool | None:
            if deeds:
                deeds.pop()()
            return step(folder_fd, one, other)

        return then

    monkeypatch.setattr(atomic, "exchange", meddled(rename.exchange))
    monkeypatch.setattr(atomic, "move_to_free_name", meddled(rename.move_to_free_name))


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", bytes(range(256)), os.urandom(3_000_000)],
    ids=["empty", "text", "every-byte", "large"],
)
def test_a_new_file_is_written_whole(folder: Path, data: bytes) -> None:
    write(folder, data, ABSENT)
    assert (folder / "a").read_bytes() == data


@pytest.mark.parametrize("expecting", [True, False])
def test_an_old_file_is_replaced_whole(folder: Path, expecting: bool) -> None:
    (folder / "a").write_bytes(b"old and longer")
    write(folder, b"new", state(folder / "a") if expecting else None)
    assert (folder / "a").read_bytes() == b"new"


def test_a_name_that_is_no_text_is_written(folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    write(folder, b"au lait", ABSENT, name)
    write(folder, b"noir", state(folder / name), name)
    assert (folder / name).read_bytes() == b"noir"


def test_the_longest_name_is_written(folder: Path) -> None:
    write(folder, b"1", None, "x" * 255)
    write(folder, b"2", None, "x" * 255)
    assert (folder / ("x" * 255)).read_bytes() == b"2"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444 | 0o200])
def test_permission_bits_are_kept(folder: Path, mode: int) -> None:
    (folder / "a").write_bytes(b"old")
    (folder / "a").chmod(mode)
    write(folder, b"new", state(folder / "a"))
    assert stat.S_IMODE((folder / "a").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6711, 0o1644])
def test_set_id_bits_are_dropped(folder: Path, mode: int) -> None:
    (folder / "a").write_bytes(b"old")
    (folder / "a").chmod(mode)
    write(folder, b"new", state(folder / "a"))
    assert stat.S_IMODE((folder / "a").stat().st_mode) == mode & 0o777


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_gets_what_the_mask_leaves(folder: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write(folder, b"new", ABSENT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "a").stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(folder: Path) -> None:
    (folder / "a").write_bytes(b"old")
    os.chown(folder / "a", 12345, 54321)
    write(folder, b"new", state(folder / "a"))
    found = (folder / "a").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_content_that_waits_to_replace_another_is_not_open_to_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_bytes(b"old")
    (folder / "a").chmod(0o644)
    modes: list[int] = []
    real = os.write

    def watch(fd: int, data: memoryview) -> int:
        modes.append(stat.S_IMODE(os.fstat(fd).st_mode))
        return real(fd, data)

    monkeypatch.setattr(os, "write", watch)
    write(folder, b"new")
    assert modes == [0o600]


def test_what_is_not_expected_is_left_as_it_is(folder: Path) -> None:
    (folder / "a").write_bytes(b"old")
    expected = state(folder / "a")
    (folder / "a").write_bytes(b"changed")
    with pytest.raises(StaleFileError, match=r"^a has changed since it was checked$"):
        write(folder, b"new", expected)
    assert (folder / "a").read_bytes() == b"changed"


def test_a_file_that_can_be_executed_by_now_is_not_the_one_looked_at(folder: Path) -> None:
    (folder / "a").write_bytes(b"old")
    expected = state(folder / "a")
    (folder / "a").chmod(0o755)
    with pytest.raises(StaleFileError):
        write(folder, b"new", expected)
    assert (folder / "a").read_bytes() == b"old"


def test_a_file_that_is_gone_is_not_made_again(folder: Path) -> None:
    (folder / "a").write_bytes(b"old")
    expected = state(folder / "a")
    (folder / "a").unlink()
    with pytest.raises(StaleFileError):
        write(folder, b"new", expected)
    assert not (folder / "a").exists()


def test_a_file_that_was_not_there_is_not_replaced(folder: Path) -> None:
    (folder / "a").write_bytes(b"a stranger's")
    with pytest.raises(StaleFileError):
        write(folder, b"new", ABSENT)
    assert (folder / "a").read_bytes() == b"a stranger's"


def test_a_file_changed_in_the_last_moment_is_given_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_bytes(b"old")
    expected = state(folder / "a")
    stranger = folder / "b"
    stranger.write_bytes(b"a stranger's")
    stranger.chmod(0o4711)
    inode = stranger.stat().st_ino
    just_before_the_switch(monkeypatch, lambda: stranger.rename(folder / "a"))
    with pytest.raises(StaleFileError):
        write(folder, b"new", expected)
    found = (folder / "a").stat()
    assert (folder / "a").read_bytes() == b"a stranger's"
    assert (found.st_ino, stat.S_IMODE(found.st_mode)) == (inode, 0o4711)


def test_a_file_made_in_the_last_moment_is_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_before_the_switch(monkeypatch, lambda: (folder / "a").write_bytes(b"a stranger's"))
    with pytest.raises(StaleFileError, match=r"^a was created meanwhile$"):
        write(folder, b"new", ABSENT)
    assert (folder / "a").read_bytes() == b"a stranger's"


def test_a_file_removed_in_the_last_moment_stays_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_bytes(b"old")
    just_before_the_switch(monkeypatch, (folder / "a").unlink)
    with pytest.raises(StaleFileError):
        write(folder, b"new", state(folder / "a"))
    assert not (folder / "a").exists()


def test_who_expects_nothing_does_not_mind_what_comes_or_goes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_before_the_switch(monkeypatch, lambda: (folder / "a").write_bytes(b"came"))
    write(folder, b"new")
    assert (folder / "a").read_bytes() == b"new"
    just_before_the_switch(monkeypatch, (folder / "a").unlink)
    write(folder, b"newer")
    assert (folder / "a").read_bytes() == b"newer"


def make_link(path: Path) -> None:
    path.symlink_to("elsewhere")


def make_second_name(path: Path) -> None:
    path.write_bytes(b"old")
    path.with_name("second").hardlink_to(path)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            make_link,
            PathValidationError,
            "a is a link; name the file that it leads to, or change the link with a command",
        ),
        (os.mkfifo, PathValidationError, "a is not a regular file"),
        (os.mkdir, FolderError, "a is a directory"),
        (
            make_second_name,
            PathValidationError,
            "a has a second name (a hard link), which may be outside the workspace",
        ),
    ],
    ids=["link", "pipe", "directory", "hard-link"],
)
@pytest.mark.parametrize("when", ["before", "in-the-last-moment"])
@pytest.mark.parametrize("expecting", [True, False])
def test_what_is_not_to_be_displaced_is_left_as_it_is(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    error: type[ToolError],
    message: str,
    when: str,
    expecting: bool,
) -> None:
    (folder / "a").write_bytes(b"old")
    expected = state(folder / "a") if expecting else None

    def put_another_there() -> None:
        (folder / "a").unlink()
        make(folder / "a")

    if when == "before":
        put_another_there()
    else:
        just_before_the_switch(monkeypatch, put_another_there)
    before = (folder / "a").lstat() if when == "before" else None
    with pytest.raises(error) as caught:
        write(folder, b"new", expected)
    assert caught.value.message == message
    after = (folder / "a").lstat()
    assert before is None or (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert not stat.S_ISREG(after.st_mode) or (folder / "a").read_bytes() == b"old"


@by_exchange
def test_a_file_put_there_while_another_is_given_back_is_the_one_that_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_bytes(b"old")
    (folder / "b").write_bytes(b"first stranger's")
    (folder / "c").write_bytes(b"second stranger's")
    deeds = [
        lambda: (folder / "b").rename(folder / "a"),
        lambda: (folder / "c").rename(folder / "a"),
    ]

    def meddled(folder_fd: int, one: str, other: str) -> bool:
        if deeds:
            deeds.pop(0)()
        return rename.exchange(folder_fd, one, other)

    monkeypatch.setattr(atomic, "exchange", meddled)
    with pytest.raises(StaleFileError):
        write(folder, b"new", state(folder / "a"))
    assert (folder / "a").read_bytes() == b"second stranger's"
    (kept,) = folder.glob(".handrail-*")
    assert kept.read_bytes() == b"first stranger's", "what nobody has looked at is not removed"
    kept.unlink()


@by_exchange
def test_a_file_is_put_back_though_the_new_one_was_removed_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").write_bytes(b"old")
    deeds = [lambda: (folder / "a").write_bytes(b"a stranger's"), (folder / "a").unlink]

    def meddled(folder_fd: int, one: str, other: str) -> bool:
        deeds.pop(0)()
        return rename.exchange(folder_fd, one, other)

    monkeypatch.setattr(atomic, "exchange", meddled)
    with pytest.raises(StaleFileError):
        write(folder, b"new", state(folder / "a"))
    assert (folder / "a").read_bytes() == b"a stranger's"


@pytest.mark.parametrize("step", ["write", "fsync", "fchmod"])
def test_a_disk_that_fails_leaves_the_old_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    (folder / "a").write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="no space"):
        write(folder, b"new")
    assert (folder / "a").read_bytes() == b"old"


def test_a_disk_that_takes_little_at_a_time_gets_it_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def write_little(fd: int, data: memoryview) -> int:
        return real(fd, data[:7])

    monkeypatch.setattr(os, "write", write_little)
    write(folder, b"x" * 100)
    assert (folder / "a").read_bytes() == b"x" * 100


def test_a_file_system_that_does_not_sync_folders_is_no_hindrance(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not for folders")
        real(fd)

    monkeypatch.setattr(os, "fsync", only_files)
    write(folder, b"new")
    assert (folder / "a").read_bytes() == b"new"


@pytest.mark.parametrize("size", [100_000_001, 10**12])
def test_a_file_grown_out_of_all_measure_is_not_read_to_its_end(folder: Path, size: int) -> None:
    (folder / "a").write_bytes(b"old")
    expected = state(folder / "a")
    os.truncate(folder / "a", size)
    with pytest.raises(StaleFileError):
        write(folder, b"new", expected)
    assert (folder / "a").stat().st_size == size


def test_readers_meet_the_old_or_the_new_file_and_never_a_half(folder: Path) -> None:
    faces = [letter * 200_000 for letter in (b"a", b"b", b"c")]
    write(folder, faces[0])
    done = threading.Event()
    seen: Counter[str] = Counter()

    def read_on() -> None:
        while not done.is_set():
            found = (folder / "a").read_bytes()
            seen["whole" if found in faces else "half"] += 1

    reader = threading.Thread(target=read_on)
    reader.start()
    try:
        end = time.monotonic() + 0.7
        while time.monotonic() < end:
            for face in faces:
                write(folder, face)
    finally:
        done.set()
        reader.join()
    assert seen["half"] == 0
    assert seen["whole"] > 20


def test_of_many_writers_who_expect_the_same_one_wins(folder: Path) -> None:
    def attempt(number: int, expected: FileState) -> int | None:
        try:
            write(folder, f"writer {number}".encode(), expected)
        except StaleFileError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            (folder / "a").write_bytes(b"old")
            expected = state(folder / "a")
            told = list(pool.map(attempt, range(8), [expected] * 8))
            (winner,) = (number for number in told if number is not None)
            assert (folder / "a").read_text() == f"writer {winner}"


def test_of_many_makers_of_one_file_one_wins(folder: Path) -> None:
    def attempt(number: int) -> int | None:
        try:
            write(folder, f"writer {number}".encode(), ABSENT)
        except ToolError:
            return None
        return number

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            (folder / "a").unlink(missing_ok=True)
            (winner,) = (number for number in pool.map(attempt, range(8)) if number is not None)
            assert (folder / "a").read_text() == f"writer {winner}"


KILLED = """
import os, sys
from handrail.executors.files import rename
from handrail.executors.files.atomic import put
from handrail.executors.files.place import Place
if sys.argv[2] == "portable":
    rename._renameat2 = lambda *_: False
root = os.open(sys.argv[1], os.O_RDONLY)
print("ready", flush=True)
while True:
    for letter in (b"a", b"b"):
        with Place(root, "a") as place:
            put(place, letter * 50_000, None)
"""


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path, way: str) -> None:
    (tmp_path / "a").write_bytes(b"a" * 50_000)
    for round_number in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), way], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.02 + 0.013 * round_number)
            writer.kill()
        assert (tmp_path / "a").read_bytes() in (b"a" * 50_000, b"b" * 50_000)


@pytest.mark.slow
async def test_a_hundred_megabytes_are_written_while_others_go_on(tmp_path: Path) -> None:
    data = b"0123456789" * 10_000_000
    turns = 0

    async def go_on() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.001)
            turns += 1

    with FileSystemExecutor(tmp_path) as executor:
        other = asyncio.create_task(go_on())
        await executor.write("big", data, expected=ABSENT)
        await executor.write("big", data[::-1], expected=FileContent(data, 0, 0o644).state)
        other.cancel()
    assert (tmp_path / "big").read_bytes() == data[::-1]
    assert turns > 10

import asyncio
import errno
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.core.errors import (
    FileOperationError,
    FolderError,
    PathValidationError,
    StaleFileError,
    ToolError,
)
from handrail.core.hands import FileContent, Files, FileState
from handrail.executors.files import beneath, filesystem, place
from handrail.executors.files import reading as reading_module
from handrail.executors.files.beneath import has_openat2, open_beneath, walk_beneath
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.rulebook.rules import Rules
from handrail.testing import FakeFiles
from tests.executors.conftest import somebody_else

LIMIT = 100_000_000

WAYS = [
    pytest.param(
        beneath._by_kernel,
        id="kernel",
        marks=pytest.mark.skipif(not has_openat2(), reason="this kernel has no openat2"),
    ),
    pytest.param(walk_beneath, id="walk"),
]
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="there is no /proc on this system"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "dir").mkdir(parents=True)
    (made / "dir" / "f").write_bytes(b"inside")
    (made / ".env").write_bytes(b"KEY=1")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(b"stolen")
    return made


@pytest.fixture(params=WAYS)
def executor(
    request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FileSystemExecutor]:
    monkeypatch.setattr(filesystem, "open_beneath", request.param)
    monkeypatch.setattr(place, "open_beneath", request.param)
    with FileSystemExecutor(root) as made:
        yield made


async def refusal(
    files: Files, path: str, *, max_bytes: int = LIMIT
) -> tuple[type[ToolError], str]:
    with pytest.raises(ToolError) as caught:
        await files.read(path, max_bytes=max_bytes)
    return type(caught.value), caught.value.message


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", bytes(range(256)), b"x" * 256_000, b"y" * 256_001, os.urandom(3_000_000)],
    ids=["empty", "text", "every-byte", "largest-inline", "smallest-in-a-thread", "large"],
)
async def test_file_is_read_whole(executor: FileSystemExecutor, root: Path, data: bytes) -> None:
    (root / "a").write_bytes(data)
    assert await executor.read("a", max_bytes=LIMIT) == FileContent(data, len(data))


@pytest.mark.parametrize(
    ("size", "on_the_loop"), [(256_000, True), (256_001, False)], ids=["small", "large"]
)
async def test_only_a_large_file_is_read_in_a_thread(
    executor: FileSystemExecutor,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    on_the_loop: bool,
) -> None:
    (root / "a").write_bytes(b"x" * size)
    readers: set[threading.Thread] = set()
    read = os.read

    def read_and_tell(fd: int, count: int) -> bytes:
        readers.add(threading.current_thread())
        return read(fd, count)

    monkeypatch.setattr(os, "read", read_and_tell)
    await executor.read("a", max_bytes=LIMIT)
    assert (threading.main_thread() in readers) is on_the_loop
    assert len(readers) == 1


async def test_name_that_is_no_text_is_read(executor: FileSystemExecutor, root: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (root / name).write_bytes(b"au lait")
    assert (await executor.read(name, max_bytes=LIMIT)).data == b"au lait"


async def test_file_that_just_fits_is_read(executor: FileSystemExecutor) -> None:
    assert (await executor.read("dir/f", max_bytes=6)).data == b"inside"


async def test_missing_file_is_said_to_be_missing(executor: FileSystemExecutor) -> None:
    assert await refusal(executor, "nothing") == (FileOperationError, "nothing does not exist")


@pytest.mark.parametrize("path", ["dir", "."])
async def test_directory_is_refused_with_advice(executor: FileSystemExecutor, path: str) -> None:
    assert await refusal(executor, path) == (
        FileOperationError,
        f"{path} is a directory; list_directory shows what is in it",
    )


async def test_file_on_the_way_is_no_directory(executor: FileSystemExecutor) -> None:
    assert await refusal(executor, "dir/f/x") == (
        FileOperationError,
        "a part of dir/f/x is not a directory",
    )


async def test_pipe_is_refused_without_waiting(executor: FileSystemExecutor, root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert await refusal(executor, "pipe") == (
        PathValidationError,
        "pipe is not a regular file",
    )


async def test_device_is_refused(executor: FileSystemExecutor, root: Path) -> None:
    try:
        os.mknod(root / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        os.close(os.open(root / "zero", os.O_RDONLY))
    except PermissionError:
        pytest.skip("this user or file system may not have devices")
    assert await refusal(executor, "zero") == (
        PathValidationError,
        "zero is not a regular file",
    )


async def test_too_large_file_is_refused_by_its_size(
    executor: FileSystemExecutor, root: Path
) -> None:
    # A hole of a terabyte: whoever tries to read it is not back soon.
    with (root / "huge").open("wb") as file:
        file.truncate(10**12)
    assert await refusal(executor, "huge") == (
        FileOperationError,
        "huge is 1,000,000,000,000 bytes; at most 100,000,000 can be read",
    )


async def test_file_one_byte_too_large_is_refused(executor: FileSystemExecutor) -> None:
    assert await refusal(executor, "dir/f", max_bytes=5) == (
        FileOperationError,
        "dir/f is 6 bytes; at most 5 can be read",
    )


@pytest.mark.parametrize("size", [10, 300_000], ids=["inline", "in-a-thread"])
async def test_file_that_grows_while_it_is_read_is_refused(
    executor: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    (root / "log").write_bytes(b"x" * size)
    read = os.read

    def read_and_grow(fd: int, count: int) -> bytes:
        with (root / "log").open("ab") as log:
            log.write(b"y" * 100)
        return read(fd, count)

    monkeypatch.setattr(os, "read", read_and_grow)
    assert await refusal(executor, "log", max_bytes=size + 50) == (
        FileOperationError,
        f"log grew past {size + 50:,} bytes while it was read",
    )


@needs_proc
async def test_file_that_hides_its_size_is_measured_by_reading() -> None:
    with FileSystemExecutor("/proc/self") as executor:
        found = await executor.read("status", max_bytes=LIMIT)
        assert found.size == len(found.data) > 0
        assert await refusal(executor, "status", max_bytes=16) == (
            FileOperationError,
            "status grew past 16 bytes while it was read",
        )


async def test_link_that_stays_inside_is_followed(executor: FileSystemExecutor, root: Path) -> None:
    (root / "link").symlink_to("dir/f")
    (root / "dir" / "up").symlink_to("../link")
    assert (await executor.read("link", max_bytes=LIMIT)).data == b"inside"
    assert (await executor.read("dir/up", max_bytes=LIMIT)).data == b"inside"


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        ("link", "../outside/f", "link"),
        ("link", "../outside", "link/f"),
        ("link", "/etc/passwd", "link"),
        ("link", "/", "link/etc/passwd"),
        ("dir/link", "../../outside/f", "dir/link"),
        ("link", "dir/../../outside/f", "link"),
    ],
    ids=["file", "folder", "absolute-file", "absolute-folder", "further-down", "detour"],
)
async def test_link_that_leads_outside_is_refused(
    executor: FileSystemExecutor, root: Path, link: str, target: str, path: str
) -> None:
    (root / link).symlink_to(target)
    assert await refusal(executor, path) == (
        PathValidationError,
        f"{path} goes through a link that leads out of the workspace, or is absolute",
    )


async def test_path_that_climbs_out_is_refused_though_nobody_judged_it(
    executor: FileSystemExecutor,
) -> None:
    for path in ("../outside/f", "/etc/passwd", "dir/../../outside/f"):
        assert (await refusal(executor, path))[0] is PathValidationError


async def test_links_in_a_circle_are_refused(executor: FileSystemExecutor, root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    assert await refusal(executor, "one") == (
        PathValidationError,
        "one goes through too many links, or a forbidden one",
    )


@needs_proc
@pytest.mark.parametrize(
    ("target", "true_name", "reason"),
    [
        (".env", ".env", "environment files hold secrets"),
        ("./dir/../.env", ".env", "environment files hold secrets"),
        ("keys/id_rsa", "keys/id_rsa", "private keys stay unread and unwritten"),
        (".ssh/config", ".ssh/config", "this file or folder holds credentials"),
        (".git/config", ".git/config", "this part of .git can hold a remote's password"),
    ],
)
async def test_link_lends_no_harmless_name_to_a_sensitive_file(
    executor: FileSystemExecutor, root: Path, target: str, true_name: str, reason: str
) -> None:
    sensitive = root / true_name
    sensitive.parent.mkdir(exist_ok=True)
    sensitive.write_bytes(b"KEY=1")
    (root / "notes.txt").symlink_to(target)
    assert await refusal(executor, "notes.txt") == (
        PathValidationError,
        f"notes.txt leads to {true_name}: {reason}",
    )


@needs_proc
async def test_linked_folder_lends_no_harmless_name_either(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / ".ssh").mkdir()
    (root / ".ssh" / "config").write_bytes(b"Host *")
    (root / "settings").symlink_to(".ssh")
    assert (await refusal(executor, "settings/config"))[0] is PathValidationError


async def test_rule_against_writing_does_not_hinder_reading(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    (root / "head").symlink_to(".git/HEAD")
    assert (await executor.read("head", max_bytes=LIMIT)).data == b"ref: refs/heads/main\n"


@needs_proc
async def test_other_rules_can_be_given(root: Path) -> None:
    (root / "link").symlink_to(".env")
    with FileSystemExecutor(root, Rules(paths=())) as executor:
        assert (await executor.read("link", max_bytes=LIMIT)).data == b"KEY=1"


async def test_hard_link_inside_is_read(executor: FileSystemExecutor, root: Path) -> None:
    (root / "hard").hardlink_to(root / "dir" / "f")
    assert (await executor.read("hard", max_bytes=LIMIT)).data == b"inside"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_file_without_permission_is_refused(executor: FileSystemExecutor, root: Path) -> None:
    (root / "dir" / "f").chmod(0)
    assert await refusal(executor, "dir/f") == (
        FileOperationError,
        "no permission to read dir/f",
    )


async def test_other_folder_put_in_place_of_the_root_is_not_read(
    executor: FileSystemExecutor, root: Path
) -> None:
    root.rename(root.with_name("moved"))
    (root / "dir").mkdir(parents=True)
    (root / "dir" / "f").write_bytes(b"planted")
    assert (await executor.read("dir/f", max_bytes=LIMIT)).data == b"inside"


@needs_proc
async def test_sensitive_file_is_known_even_when_the_root_has_moved(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "notes.txt").symlink_to(".env")
    root.rename(root.with_name("moved"))
    assert (await refusal(executor, "notes.txt"))[0] is PathValidationError


async def test_root_may_be_given_by_a_link(root: Path) -> None:
    (root.parent / "door").symlink_to(root)
    with FileSystemExecutor(root.parent / "door") as executor:
        assert executor.root == str(root)
        assert (await executor.read("dir/f", max_bytes=LIMIT)).data == b"inside"


@pytest.mark.parametrize(
    ("name", "error"), [("nothing", FileNotFoundError), ("ws/dir/f", NotADirectoryError)]
)
def test_root_must_be_a_folder(root: Path, name: str, error: type[OSError]) -> None:
    with pytest.raises(error):
        FileSystemExecutor(root.parent / name)


async def test_closed_executor_reads_nothing(root: Path) -> None:
    executor = FileSystemExecutor(root)
    executor.close()
    executor.close()
    assert (await refusal(executor, "dir/f"))[0] is FileOperationError


@needs_proc
def test_closing_lets_go_of_the_root(root: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with FileSystemExecutor(root):
        assert os.listdir("/proc/self/fd") != before
    assert os.listdir("/proc/self/fd") == before


@needs_proc
async def test_no_descriptor_is_left_open(executor: FileSystemExecutor, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to("../outside/f")
    (root / "notes.txt").symlink_to(".env")
    (root / "big").write_bytes(b"x" * 300_000)
    await executor.read("big", max_bytes=LIMIT)
    before = os.listdir("/proc/self/fd")
    for path in ("dir/f", "big", "dir", "pipe", "out", "notes.txt", "nothing", "dir/f/x"):
        try:
            await executor.read(path, max_bytes=250_000)
        except ToolError:
            continue
    assert os.listdir("/proc/self/fd") == before


FilesMaker = Callable[[Path], Files]


@pytest.mark.parametrize(
    "make",
    [lambda _: FakeFiles({"a": b"hello"}), FileSystemExecutor],
    ids=["fake", "real"],
)
async def test_stand_in_behaves_like_the_real_one(tmp_path: Path, make: FilesMaker) -> None:
    (tmp_path / "a").write_bytes(b"hello")
    files = make(tmp_path)
    assert await files.read("a", max_bytes=5) == FileContent(b"hello", 5)
    assert (await refusal(files, "a", max_bytes=4))[0] is FileOperationError
    assert await refusal(files, "b") == (FileOperationError, "b does not exist")
    if isinstance(files, FileSystemExecutor):
        files.close()


async def test_a_file_stays_open_until_the_thread_has_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "big").write_bytes(b"x" * 300_000)
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    outcome: list[int] = []

    def read_slowly(fd: int, max_bytes: int) -> bytes:
        begun.set()
        go_on.wait(5)
        try:
            outcome.append(os.fstat(fd).st_size)
        finally:
            ended.set()
        return b""

    monkeypatch.setattr(reading_module, "_read_all", read_slowly)
    with FileSystemExecutor(tmp_path) as executor:
        async with asyncio.timeout(5):
            reading = asyncio.create_task(executor.read("big", max_bytes=10**6))
            await asyncio.to_thread(begun.wait, 5)
            reading.cancel()
            await asyncio.wait([reading])
            go_on.set()
            await asyncio.to_thread(ended.wait, 5)
    assert outcome == [300_000]


async def test_a_link_lends_no_name_where_the_system_does_not_say_where_it_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_bytes(b"KEY=1")
    (tmp_path / "notes.txt").symlink_to(".env")

    def silent(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, "no /proc")

    monkeypatch.setattr(os, "readlink", silent)
    with FileSystemExecutor(tmp_path) as executor, pytest.raises(PathValidationError):
        await executor.read("notes.txt", max_bytes=100)


async def test_a_link_lends_no_name_to_a_file_removed_while_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_bytes(b"KEY=1")
    (tmp_path / "notes.txt").symlink_to(".env")

    def open_and_remove(root_fd: int, path: str, flags: int) -> int:
        fd = open_beneath(root_fd, path, flags)
        (tmp_path / ".env").unlink()
        return fd

    monkeypatch.setattr(filesystem, "open_beneath", open_and_remove)
    with FileSystemExecutor(tmp_path) as executor, pytest.raises(PathValidationError):
        await executor.read("notes.txt", max_bytes=100)


ABSENT = FileState(exists=False)


async def refused_write(files: Files, path: str) -> tuple[type[ToolError], str]:
    """What is said to a write, which must be what is said to a look before it."""
    with pytest.raises(ToolError) as foreseen:
        await files.find(path, max_bytes=LIMIT)
    with pytest.raises(ToolError) as caught:
        await files.write(path, b"planted", expected=None)
    assert caught.value.message == foreseen.value.message
    assert type(caught.value) is type(foreseen.value)
    return type(caught.value), caught.value.message


async def test_mode_of_a_file_is_told(executor: FileSystemExecutor, root: Path) -> None:
    for mode in (0o600, 0o755, 0o4755, 0o2644):
        (root / "dir" / "f").chmod(mode)
        expected = FileContent(b"inside", 6, mode)
        assert await executor.read("dir/f", max_bytes=LIMIT) == expected
        assert await executor.find("dir/f", max_bytes=LIMIT) == expected


async def test_what_would_be_displaced_is_found(executor: FileSystemExecutor, root: Path) -> None:
    (root / "big").write_bytes(b"x" * 300_000)
    found = await executor.find("big", max_bytes=LIMIT)
    assert found is not None
    assert (len(found.data), found.size) == (300_000, 300_000)
    assert await executor.find("nothing", max_bytes=LIMIT) is None
    assert await executor.find("no/such/folder/nothing", max_bytes=LIMIT) is None
    assert not (root / "no").exists()


async def test_file_too_large_to_be_shown_is_not_found_but_refused(
    executor: FileSystemExecutor,
) -> None:
    with pytest.raises(FileOperationError, match=r"^dir/f is 6 bytes; at most 5 can be read$"):
        await executor.find("dir/f", max_bytes=5)


async def test_file_is_written_and_found_again(executor: FileSystemExecutor, root: Path) -> None:
    await executor.write("dir/new", b"one", expected=ABSENT)
    found = await executor.find("dir/new", max_bytes=LIMIT)
    assert found is not None
    await executor.write("dir/new", b"two", expected=found.state)
    assert (root / "dir" / "new").read_bytes() == b"two"
    with pytest.raises(StaleFileError):
        await executor.write("dir/new", b"three", expected=found.state)
    assert sorted(path.name for path in (root / "dir").iterdir()) == ["f", "new"]


async def test_missing_folders_are_made(executor: FileSystemExecutor, root: Path) -> None:
    await executor.write("one/two/three/f", b"deep", expected=ABSENT)
    assert (root / "one" / "two" / "three" / "f").read_bytes() == b"deep"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((root / "one").stat().st_mode) == 0o777 & ~mask


async def test_folder_made_by_another_in_the_same_moment_is_taken(
    executor: FileSystemExecutor, root: Path
) -> None:
    await asyncio.gather(
        *(executor.write(f"new/deep/{n}", b"x", expected=ABSENT) for n in range(20))
    )
    assert len(list((root / "new" / "deep").iterdir())) == 20


async def test_link_put_in_place_of_a_folder_just_made_is_not_followed(
    executor: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapped(name: str, *, dir_fd: int) -> None:
        os.symlink("../outside", name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", swapped)
    with pytest.raises(ToolError):
        await executor.write("made/new", b"planted", expected=ABSENT)
    assert [found.name for found in (root.parent / "outside").iterdir()] == ["f"]


async def test_no_folder_is_made_for_a_file_that_is_gone(
    executor: FileSystemExecutor, root: Path
) -> None:
    expected = FileContent(b"old", 3).state
    with pytest.raises(StaleFileError, match=r"^gone/f is gone$"):
        await executor.write("gone/f", b"new", expected=expected)
    assert not (root / "gone").exists()


@needs_proc
async def test_linked_folder_lends_no_name_to_a_write(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "link").symlink_to("dir")
    before = sorted(root.rglob("*"))
    for path, true_name in (("link/new.py", "dir/new.py"), ("link/a/b.py", "dir/a/b.py")):
        assert await refused_write(executor, path) == (
            PathValidationError,
            f"{path} leads to {true_name}; write it by that name",
        )
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("../outside", "link/f"),
        ("../outside", "link/new"),
        ("../outside", "link/new/deep"),
        ("/tmp", "link/handrail-test-new"),
        ("dir/../../outside", "link/f"),
    ],
)
async def test_nothing_is_written_through_a_link_that_leads_outside(
    executor: FileSystemExecutor, root: Path, target: str, path: str
) -> None:
    (root / "link").symlink_to(target)
    assert await refused_write(executor, path) == (
        PathValidationError,
        f"{path} goes through a link that leads out of the workspace, or is absolute",
    )
    assert [found.name for found in (root.parent / "outside").iterdir()] == ["f"]
    assert (root.parent / "outside" / "f").read_bytes() == b"stolen"


@pytest.mark.parametrize("target", ["dir/f", "../outside/f", "/etc/passwd", "nothing", "link"])
async def test_link_itself_is_not_written(
    executor: FileSystemExecutor, root: Path, target: str
) -> None:
    (root / "link").symlink_to(target)
    assert await refused_write(executor, "link") == (
        PathValidationError,
        "link is a link; name the file that it leads to, or change the link with a command",
    )
    assert (root / "link").is_symlink()
    assert not (root / "nothing").exists()


async def test_nothing_is_made_behind_a_link_that_leads_nowhere(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "link").symlink_to("nothing")
    assert await refused_write(executor, "link/new") == (
        PathValidationError,
        "link/new goes through a link that leads nowhere",
    )
    assert not (root / "nothing").exists()


@pytest.mark.parametrize(
    "path",
    ["../outside/f", "/etc/passwd", "dir/../../outside/f", "..", ".", "dir/..", "", "dir/", "a\0b",
     "\ud800", "nothing/../../outside/f"],
    ids=ascii,
)  # fmt: skip
async def test_path_that_was_never_judged_is_not_written(
    executor: FileSystemExecutor, root: Path, path: str
) -> None:
    assert await refused_write(executor, path) == (
        PathValidationError,
        f"{path!r} does not name a file below the workspace",
    )
    assert (root.parent / "outside" / "f").read_bytes() == b"stolen"


async def test_other_things_than_files_are_not_written(
    executor: FileSystemExecutor, root: Path
) -> None:
    os.mkfifo(root / "pipe")
    (root / "hard").hardlink_to(root / "dir" / "f")
    assert await refused_write(executor, "pipe") == (
        PathValidationError,
        "pipe is not a regular file",
    )
    assert await refused_write(executor, "hard") == (
        PathValidationError,
        "hard has a second name (a hard link), which may be outside the workspace",
    )
    assert await refused_write(executor, "dir") == (FolderError, "dir is a directory")
    assert await refused_write(executor, "dir/f/x") == (
        FileOperationError,
        "a part of dir/f/x is not a directory",
    )
    assert (root / "dir" / "f").read_bytes() == b"inside"


async def test_socket_is_not_written(
    executor: FileSystemExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("talk")
        assert await refused_write(executor, "talk") == (
            PathValidationError,
            "talk is not a regular file",
        )


async def test_device_is_not_written(executor: FileSystemExecutor, root: Path) -> None:
    try:
        os.mknod(root / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        os.close(os.open(root / "zero", os.O_RDONLY))
    except PermissionError:
        pytest.skip("this user or file system may not have devices")
    assert await refused_write(executor, "zero") == (
        PathValidationError,
        "zero is not a regular file",
    )


@needs_proc
@pytest.mark.parametrize(
    ("folder", "name", "reason"),
    [
        (
            ".git",
            "config.md",
            "the inside of .git is git's own; hooks and config there run programs",
        ),
        (".ssh", "notes.md", "this file or folder holds credentials"),
        (".handrail", "x.md", "Handrail's own files are not an agent's to see or change"),
    ],
)
async def test_linked_folder_lends_no_harmless_name_for_writing(
    executor: FileSystemExecutor, root: Path, folder: str, name: str, reason: str
) -> None:
    (root / folder / "deep").mkdir(parents=True)
    (root / "docs").symlink_to(folder)
    for path in (name, f"deep/{name}", f"new/{name}"):
        assert await refused_write(executor, f"docs/{path}") == (
            PathValidationError,
            f"docs/{path} leads to {folder}/{path}: {reason}",
        )
    assert [found.name for found in (root / folder).iterdir()] == ["deep"]


@needs_proc
async def test_linked_folder_lends_no_harmless_kind(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / ".github" / "workflows").mkdir(parents=True)
    (root / "docs").symlink_to(".github/workflows")
    assert await refused_write(executor, "docs/notes.yml") == (
        PathValidationError,
        "docs/notes.yml leads to .github/workflows/notes.yml; write it by that name",
    )


async def test_what_may_not_be_written_is_refused_though_a_rename_would_succeed(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "dir").chmod(0o777)
    (root / "dir" / "f").chmod(0o444)
    (root / "closed").mkdir()
    (root / "closed" / "f").write_bytes(b"old")
    (root / "closed" / "f").chmod(0o666)
    (root / "closed").chmod(0o555)
    with somebody_else():
        assert await refused_write(executor, "dir/f") == (
            FileOperationError,
            "no permission to write dir/f",
        )
        for path in ("closed/f", "closed/new", "closed/deep/new"):
            assert await refused_write(executor, path) == (
                FileOperationError,
                f"no permission to write into the folder of {path}",
            )
    assert (root / "dir" / "f").read_bytes() == b"inside"


async def test_file_of_another_owner_that_may_be_written_is_written(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "dir").chmod(0o777)
    (root / "dir" / "f").chmod(0o666)
    with somebody_else():
        await executor.write("dir/f", b"new", expected=None)
    assert (root / "dir" / "f").read_bytes() == b"new"
    assert stat.S_IMODE((root / "dir" / "f").stat().st_mode) == 0o666


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "there is no space left to write new"),
        (errno.EDQUOT, "there is no space left to write new"),
        (errno.EROFS, "new is on a read-only file system"),
        (errno.EACCES, "no permission to write new"),
        (errno.EIO, "new: Input/output error"),
    ],
    ids=["full", "quota", "read-only", "no-permission", "broken"],
)
async def test_failing_disk_is_told_in_words(
    executor: FileSystemExecutor,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    message: str,
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(FileOperationError) as caught:
        await executor.write("new", b"x", expected=None)
    monkeypatch.undo()
    assert caught.value.message == message
    assert sorted(path.name for path in root.iterdir()) == [".env", "dir"]


async def test_name_too_long_is_told_in_words(executor: FileSystemExecutor) -> None:
    name = "x" * 256
    assert await refused_write(executor, name) == (
        FileOperationError,
        f"{name} has a name that is too long",
    )


async def test_other_folder_put_in_place_of_the_root_is_not_written(
    executor: FileSystemExecutor, root: Path
) -> None:
    root.rename(root.with_name("moved"))
    root.mkdir()
    await executor.write("dir/new.py", b"x", expected=ABSENT)
    assert list(root.iterdir()) == []
    assert (root.with_name("moved") / "dir" / "new.py").read_bytes() == b"x"


async def test_closed_executor_writes_nothing(root: Path) -> None:
    executor = FileSystemExecutor(root)
    executor.close()
    assert (await refused_write(executor, "new"))[0] is FileOperationError


async def test_write_that_is_called_off_is_at_its_end_when_that_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    real = os.write

    def write_slowly(fd: int, data: memoryview) -> int:
        begun.set()
        go_on.wait(5)
        return real(fd, data)

    monkeypatch.setattr(os, "write", write_slowly)
    with FileSystemExecutor(root) as executor:
        writing = asyncio.create_task(executor.write("new", b"whole", expected=ABSENT))
        await asyncio.to_thread(begun.wait, 5)
        writing.cancel()
        await asyncio.sleep(0.05)
        assert not writing.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await writing
    assert (root / "new").read_bytes() == b"whole"


@needs_proc
async def test_no_descriptor_is_left_open_by_writing(
    executor: FileSystemExecutor, root: Path
) -> None:
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to("../outside")
    (root / "docs").symlink_to(".env")
    await executor.write("warm", b"up", expected=None)
    before = os.listdir("/proc/self/fd")
    for path in ("dir/f", "new/deep/f", "dir", "pipe", "out/f", "docs", "dir/f/x", "..", "x" * 300):
        for expected in (None, ABSENT):
            try:
                await executor.find(path, max_bytes=LIMIT)
                await executor.write(path, b"x", expected=expected)
            except ToolError:
                continue
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    "path",
    ["../outside/f", "/etc/passwd", "dir/..", "out/f", "link", "docs/f", "hard", ".env",
     ".git/config", "dir"],
)  # fmt: skip
async def test_what_may_not_be_written_may_not_be_removed_or_moved_either(
    executor: FileSystemExecutor, root: Path, path: str
) -> None:
    (root / ".git").mkdir()
    for name in (".git/config", ".git/f", "one"):
        (root / name).write_bytes(b"inside")
    (root / "hard").hardlink_to(root / "one")
    for name, target in (("out", "../outside"), ("link", "dir/f"), ("docs", ".git")):
        (root / name).symlink_to(target)
    before = sorted(root.parent.rglob("*"))
    expected = FileContent(b"inside", 6, stat.S_IMODE((root / "dir/f").stat().st_mode)).state
    for attempt in (
        executor.remove(path, expected=expected),
        executor.move(path, "new/name", expected=expected),
    ):
        with pytest.raises(ToolError):
            await attempt
    (root / "new").rmdir() if (root / "new").exists() else None
    assert sorted(root.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "to", ["../outside/new", "out/new", "link", "docs/new", ".env.local", "dir", "dir/f/x"]
)
async def test_nothing_is_moved_to_where_it_may_not_be_written(
    executor: FileSystemExecutor, root: Path, to: str
) -> None:
    (root / ".git").mkdir()
    (root / "one").write_bytes(b"inside")
    for name, target in (("out", "../outside"), ("link", "dir/f"), ("docs", ".git")):
        (root / name).symlink_to(target)
    before = sorted(root.parent.rglob("*"))
    expected = FileContent(b"inside", 6, stat.S_IMODE((root / "one").stat().st_mode)).state
    with pytest.raises(ToolError):
        await executor.move("one", to, expected=expected)
    assert sorted(root.parent.rglob("*")) == before


@needs_proc
async def test_no_descriptor_is_left_open_by_removing_and_moving(
    executor: FileSystemExecutor, root: Path
) -> None:
    (root / "out").symlink_to("../outside")
    await executor.write("warm", b"up", expected=None)
    warm = await executor.find("warm", max_bytes=LIMIT)
    assert warm is not None
    before = os.listdir("/proc/self/fd")
    for path in ("dir/f", "dir", "out/f", "nothing", "dir/f/x", "..", "warm"):
        for to in ("moved", "out/f", "new/deep/f"):
            try:
                await executor.move(path, to, expected=warm.state)
            except ToolError:
                continue
        try:
            await executor.remove(path, expected=warm.state)
        except ToolError:
            continue
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    "make", [lambda _: FakeFiles({"a": b"hello"}), FileSystemExecutor], ids=["fake", "real"]
)
async def test_stand_in_is_written_like_the_real_one(tmp_path: Path, make: FilesMaker) -> None:
    (tmp_path / "a").write_bytes(b"hello")
    (tmp_path / "a").chmod(0o644)
    files = make(tmp_path)
    assert await files.find("a", max_bytes=5) == FileContent(b"hello", 5)
    assert await files.find("b", max_bytes=5) is None
    await files.write("b", b"new", expected=ABSENT)
    with pytest.raises(StaleFileError):
        await files.write("b", b"newer", expected=ABSENT)
    await files.write("a", b"bye", expected=FileContent(b"hello", 5).state)
    with pytest.raises(StaleFileError):
        await files.write("a", b"bye", expected=FileContent(b"hello", 5).state)
    await files.write("b", b"newest", expected=None)
    assert (await files.read("a", max_bytes=9)).data == b"bye"
    assert (await files.read("b", max_bytes=9)).data == b"newest"
    stale, newest = FileContent(b"new", 3).state, FileContent(b"newest", 6).state
    with pytest.raises(StaleFileError):
        await files.move("b", "c/d", expected=stale)
    with pytest.raises(StaleFileError):
        await files.move("b", "a", expected=newest)
    await files.move("b", "c/d", expected=newest)
    assert await files.find("b", max_bytes=9) is None
    with pytest.raises(StaleFileError):
        await files.remove("c/d", expected=stale)
    await files.remove("c/d", expected=newest)
    assert await files.find("c/d", max_bytes=9) is None
    assert (await files.read("a", max_bytes=9)).data == b"bye"
    if isinstance(files, FileSystemExecutor):
        files.close()

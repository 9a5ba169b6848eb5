import asyncio
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.core.errors import FileOperationError, PathValidationError, ToolError
from handrail.core.hands import FileContent, Files
from handrail.executors import beneath, filesystem
from handrail.executors.beneath import has_openat2, open_beneath, walk_beneath
from handrail.executors.filesystem import FileSystemExecutor
from handrail.policy.rules import Rules
from handrail.testing import FakeFiles

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

    monkeypatch.setattr(filesystem, "_read_all", read_slowly)
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

import ctypes
import errno
import os
import platform
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.executors.files import beneath
from handrail.executors.files.beneath import has_openat2, open_beneath, walk_beneath

Opener = Callable[..., int]

READ = os.O_RDONLY | os.O_NONBLOCK
NO_TEXT = os.fsdecode(b"caf\xe9")

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


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Opener:
    return request.param


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with every kind of link in it, and something outside worth stealing."""
    outside = tmp_path / "outside"
    root = tmp_path / "ws"
    (root / "dir" / "deep").mkdir(parents=True)
    outside.mkdir()
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "f").write_bytes(b"stolen")
    (outside / "f").write_bytes(b"stolen")
    (root / "dir" / "f").write_bytes(b"inside")
    (root / NO_TEXT).write_bytes(b"no text")
    (root / "dir" / NO_TEXT).mkdir()
    (root / "dir" / NO_TEXT / "f").write_bytes(b"deep")
    links = {
        "in": "dir",
        "in-file": "dir/f",
        "in-dots": "./dir/../dir/./f",
        "in-twice": "in-file",
        "dir/up": "../dir/f",
        "dir/deep/up": "../../in/f",
        "in-no-text": NO_TEXT,
        "out": "../outside",
        "out-file": "../outside/f",
        "out-absolute": str(outside),
        "out-later": "dir/../../outside",
        "out-twice": "out-file",
        "dir/deep/out": "../../../outside/f",
        "out-and-in": "../ws/dir",
        "in-absolute": str(root / "dir"),
        "out-sibling": "../ws-evil",
        "slash": "/",
        "proc-root": "/proc/self/root",
        "proc-cwd": "/proc/self/cwd",
        "dangling": "nothing",
        "loop": "loop",
        "loop-one": "loop-two",
        "loop-two": "loop-one",
        "self": ".",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "hard").hardlink_to(outside / "f")
    os.mkfifo(root / "fifo")
    return root


@pytest.fixture
def root_fd(root: Path) -> Iterator[int]:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def content(fd: int) -> bytes:
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def error_of(way: Opener, root_fd: int, path: str, flags: int = READ) -> str:
    """The name of the error that opening the path ends with."""
    try:
        os.close(way(root_fd, path, flags))
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    pytest.fail(f"{path!a} was opened")


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("dir/f", b"inside"),
        ("./dir//./f", b"inside"),
        ("dir/../dir/f", b"inside"),
        ("dir/deep/../f", b"inside"),
        ("dir/deep/../../dir/f", b"inside"),
        ("in/f", b"inside"),
        ("in/../dir/f", b"inside"),
        ("in-file", b"inside"),
        ("in-dots", b"inside"),
        ("in-twice", b"inside"),
        ("dir/up", b"inside"),
        ("dir/deep/up", b"inside"),
        ("self/self/dir/f", b"inside"),
        ("hard", b"stolen"),
        (NO_TEXT, b"no text"),
        (f"dir/{NO_TEXT}/f", b"deep"),
        ("in-no-text", b"no text"),
    ],
    ids=ascii,
)
def test_path_that_stays_inside_is_opened(
    way: Opener, root_fd: int, path: str, data: bytes
) -> None:
    assert content(way(root_fd, path, READ)) == data


@pytest.mark.parametrize(
    "path",
    [
        "out/f",
        "out",
        "out-file",
        "out-absolute/f",
        "out-later/f",
        "out-twice",
        "dir/deep/out",
        "in/deep/out",
        "..",
        "../outside/f",
        "../ws/dir/f",
        "../ws-evil/f",
        "dir/..//../outside/f",
        "in/../../outside/f",
        "dir/deep/../../../outside/f",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "out-and-in/f",
        "in-absolute/f",
        "out-sibling/f",
        "slash",
        "slash/etc/passwd",
        "proc-root/etc/passwd",
        "proc-cwd/x",
    ],
)
def test_path_that_leads_outside_is_refused(way: Opener, root_fd: int, path: str) -> None:
    assert error_of(way, root_fd, path) == "EXDEV"


def test_absolute_path_to_a_file_inside_is_refused_too(
    way: Opener, root_fd: int, root: Path
) -> None:
    assert error_of(way, root_fd, str(root / "dir" / "f")) == "EXDEV"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("nothing", "ENOENT"),
        ("nothing/f", "ENOENT"),
        ("nothing/../dir/f", "ENOENT"),
        ("dangling", "ENOENT"),
        ("dir/f/x", "ENOTDIR"),
        ("dir/f/../f", "ENOTDIR"),
        ("in-file/x", "ENOTDIR"),
        ("fifo/x", "ENOTDIR"),
        ("loop", "ELOOP"),
        ("loop/f", "ELOOP"),
        ("loop-one", "ELOOP"),
        ("dir/../loop-two/f", "ELOOP"),
        ("x" * 300, "ENAMETOOLONG"),
        ("a\0b", "EINVAL"),
        ("dir/f\0", "EINVAL"),
        ("\0/../../outside/f", "EINVAL"),
        (os.fsdecode(b"\xff\xfe"), "ENOENT"),
    ],
    ids=lambda value: ascii(value[:20]),
)
def test_what_cannot_be_opened_says_why(way: Opener, root_fd: int, path: str, name: str) -> None:
    assert error_of(way, root_fd, path) == name


@needs_proc
@pytest.mark.parametrize("path", ["self/root/etc/passwd", "self/cwd", "self/exe", "self/fd/0"])
def test_magic_links_are_not_followed(way: Opener, path: str) -> None:
    proc_fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert error_of(way, proc_fd, path) in {"ELOOP", "EXDEV"}
    finally:
        os.close(proc_fd)


# The kernel allows 40, and counts on when it has to walk a path up to three times, which it does
# while other processes change the folders: 13 links always open.
@pytest.mark.parametrize(
    ("links", "opens"), [(13, True), (41, False)], ids=["a-few-links", "too-many"]
)
def test_a_chain_of_links_is_followed_up_to_a_limit(
    way: Opener, root: Path, root_fd: int, links: int, opens: bool
) -> None:
    target = "dir/f"
    for number in range(links):
        (root / f"chain-{number}").symlink_to(target)
        target = f"chain-{number}"
    if opens:
        assert content(way(root_fd, target, READ)) == b"inside"
    else:
        assert error_of(way, root_fd, target) == "ELOOP"


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("dir", "dir"),
        ("dir/", "dir"),
        ("dir/deep", "dir/deep"),
        ("dir/deep/..", "dir"),
        ("in", "dir"),
        ("in/.", "dir"),
        ("in/deep", "dir/deep"),
        (".", "."),
        ("dir/..", "."),
        ("dir/deep/../..", "."),
        ("self", "."),
    ],
)
def test_directory_as_last_part_is_opened(
    way: Opener, root: Path, root_fd: int, path: str, folder: str
) -> None:
    fd = way(root_fd, path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert os.path.samestat(os.fstat(fd), (root / folder).stat())
    finally:
        os.close(fd)


def test_file_is_no_directory(way: Opener, root_fd: int) -> None:
    assert error_of(way, root_fd, "dir/f", os.O_RDONLY | os.O_DIRECTORY) == "ENOTDIR"
    assert error_of(way, root_fd, "in-file", os.O_RDONLY | os.O_DIRECTORY) == "ENOTDIR"


def test_pipe_is_opened_without_waiting_for_a_writer(way: Opener, root_fd: int) -> None:
    assert content(way(root_fd, "fifo", READ)) == b""


def test_socket_cannot_be_opened(way: Opener, root: Path, root_fd: int) -> None:
    with socket.socket(socket.AF_UNIX) as door:
        here = os.open(".", os.O_RDONLY)
        # The address of a socket may have hardly a hundred bytes; a temporary folder's is longer.
        os.chdir(root)
        try:
            door.bind("door")
        finally:
            os.fchdir(here)
            os.close(here)
        assert error_of(way, root_fd, "door") == "ENXIO"


def test_new_file_is_made_with_its_mode(way: Opener, root: Path, root_fd: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    os.close(way(root_fd, "in/new", flags, 0o600))
    assert (root / "dir" / "new").stat().st_mode & 0o777 == 0o600
    assert error_of(way, root_fd, "in/new", flags) == "EEXIST"


@pytest.mark.parametrize("path", ["out/new", "../outside/new", "out-later/new"])
def test_nothing_is_made_outside(way: Opener, root: Path, root_fd: int, path: str) -> None:
    assert error_of(way, root_fd, path, os.O_WRONLY | os.O_CREAT) == "EXDEV"
    assert os.listdir(root.parent / "outside") == ["f"]


def test_link_to_a_missing_file_outside_makes_nothing(
    way: Opener, root: Path, root_fd: int
) -> None:
    (root / "trap").symlink_to("../outside/new")
    assert error_of(way, root_fd, "trap", os.O_WRONLY | os.O_CREAT) == "EXDEV"
    assert os.listdir(root.parent / "outside") == ["f"]


def test_mode_without_making_a_file_is_no_error(way: Opener, root_fd: int) -> None:
    assert content(way(root_fd, "dir/f", READ, 0o644)) == b"inside"


def test_what_was_opened_is_not_inherited(way: Opener, root_fd: int) -> None:
    fd = way(root_fd, "in/f", READ)
    try:
        assert os.get_inheritable(fd) is False
    finally:
        os.close(fd)


def test_root_stays_open(way: Opener, root_fd: int) -> None:
    error_of(way, root_fd, "out/f")
    assert content(way(root_fd, "dir/f", READ)) == b"inside"
    assert content(way(root_fd, "in/f", READ)) == b"inside"


@needs_proc
def test_no_descriptor_is_left_open(way: Opener, root_fd: int) -> None:
    paths = ["dir/f", "in/../dir/deep/up", "out/f", "dir/deep/out", "loop", "nothing/f", "dir/f/x"]
    paths += [".", "dir/..", "..", "/", "a\0b", "dir/deep/../../../x", "in-absolute/f"]
    before = os.listdir("/proc/self/fd")
    for path in paths:
        try:
            os.close(way(root_fd, path, READ))
        except OSError:
            continue
    assert os.listdir("/proc/self/fd") == before


def test_closed_root_opens_nothing(way: Opener, root: Path) -> None:
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    os.close(fd)
    assert error_of(way, fd, "dir/f") == "EBADF"


def test_kernel_is_asked_wherever_it_can_answer() -> None:
    known = sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}
    how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
    fd = ctypes.CDLL(None).syscall(437, -100, b"/", how, len(how)) if known else -1
    if fd >= 0:
        os.close(fd)
    assert has_openat2() is (fd >= 0)


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EINTR], ids=["changed", "interrupted"])
@pytest.mark.parametrize(
    ("troubles", "tries"), [(2, 3), (10**6, 64)], ids=["for-a-moment", "for-ever"]
)
def test_kernel_is_asked_again_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch, number: int, troubles: int, tries: int
) -> None:
    asked: list[object] = []

    class Restless:
        def syscall(self, *args: object) -> int:
            asked.append(args)
            ctypes.set_errno(number)
            return -1 if len(asked) <= troubles else 123

    monkeypatch.setattr(beneath, "_libc", Restless)
    try:
        outcome = beneath._by_kernel(0, "dir/f", READ)
    except OSError as error:
        outcome = errno.errorcode[error.errno or 0]
    assert (outcome, len(asked)) == (123 if troubles == 2 else "EAGAIN", tries)


def test_kernel_is_preferred(root_fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beneath, "has_openat2", lambda: True)
    monkeypatch.setattr(beneath, "_by_kernel", lambda *_: 123)
    assert open_beneath(root_fd, "dir/f", READ) == 123


def test_without_openat2_the_walk_opens(root_fd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beneath, "has_openat2", lambda: False)
    monkeypatch.setattr(beneath, "_by_kernel", None)
    assert content(open_beneath(root_fd, "in/f", READ)) == b"inside"
    assert error_of(open_beneath, root_fd, "out/f") == "EXDEV"


def test_walk_looks_again_when_the_path_changed_meanwhile(
    root_fd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def restless(root_fd: int, path: str, flags: int, mode: int) -> int:
        tries.append(path)
        if len(tries) < 3:
            raise OSError(errno.EAGAIN, "changed")
        return 123

    monkeypatch.setattr(beneath, "_walk", restless)
    assert walk_beneath(root_fd, "dir/f", READ) == 123
    assert tries == ["dir/f"] * 3


def test_walk_opens_a_file_that_was_a_link_a_moment_ago(
    root: Path, root_fd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = root / "out-file"
    read_link = os.readlink

    def swap_and_read(name: bytes, *, dir_fd: int) -> bytes:
        link.unlink()
        link.write_bytes(b"a file now")
        return read_link(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "readlink", swap_and_read)
    assert content(walk_beneath(root_fd, "out-file", READ)) == b"a file now"


def test_walk_misses_a_link_that_was_removed_a_moment_ago(
    root: Path, root_fd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = root / "in-file"
    read_link = os.readlink

    def remove_and_read(name: bytes, *, dir_fd: int) -> bytes:
        link.unlink()
        return read_link(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "readlink", remove_and_read)
    assert error_of(walk_beneath, root_fd, "in-file") == "ENOENT"


def test_walk_gives_up_on_a_path_that_keeps_changing(
    root_fd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def restless(root_fd: int, path: str, flags: int, mode: int) -> int:
        raise OSError(errno.EAGAIN, "changed")

    monkeypatch.setattr(beneath, "_walk", restless)
    assert error_of(walk_beneath, root_fd, "dir/f") == "EAGAIN"


@pytest.mark.parametrize("path", ["", "dir/f/", "dir/f/.", "link/", "slashed"])
def test_walk_refuses_what_the_kernel_refuses(tmp_path: Path, path: str) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("dir/f")
    (tmp_path / "slashed").symlink_to("dir/f/")
    root = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError) as caught:
            walk_beneath(root, path, os.O_RDONLY)
    finally:
        os.close(root)
    assert caught.value.errno in (errno.ENOENT, errno.ENOTDIR)


def test_walk_leaves_the_last_link_alone_when_told_to(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "link").symlink_to("f")
    root = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError) as caught:
            walk_beneath(root, "link", os.O_RDONLY | os.O_NOFOLLOW)
    finally:
        os.close(root)
    assert caught.value.errno == errno.ELOOP


def test_walk_opens_through_a_folder_that_was_a_link_a_moment_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "f").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to("..")
    read_link = os.readlink

    def swap_and_read(name: bytes, *, dir_fd: int) -> bytes:
        link.unlink()
        (tmp_path / "dir").rename(link)
        return read_link(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "readlink", swap_and_read)
    root = os.open(tmp_path, os.O_RDONLY)
    try:
        fd = walk_beneath(root, "link/f", os.O_RDONLY)
        assert os.read(fd, 10) == b"x"
        os.close(fd)
    finally:
        os.close(root)


def test_a_name_no_file_can_have_is_an_error_of_the_system(tmp_path: Path) -> None:
    root = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError) as caught:
            open_beneath(root, "\ud800", os.O_RDONLY)
    finally:
        os.close(root)
    assert caught.value.errno == errno.EINVAL

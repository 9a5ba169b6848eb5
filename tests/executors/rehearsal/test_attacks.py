"""A hostile command in a rehearsal gets neither out of it nor at what is hidden from it."""

import asyncio
import os
import platform
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.executors.rehearsal.names import read_name
from handrail.executors.sandbox.system_calls import MACHINES
from tests.executors.rehearsal.conftest import RehearsalSession, snapshot

CALLS = MACHINES[platform.machine()].numbers if platform.machine() in MACHINES else {}
# Each ends with "refused", or prints what it has come to.
TRY = """
import ctypes, os, socket, stat
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *words):
    if libc.syscall(number, *words) < 0:
        raise OSError(ctypes.get_errno(), 'refused')
try:
    print('came through:', {attempt})
except (OSError, ValueError) as error:
    print('refused')
"""
NEW_USERS = 0x10000000


@pytest.fixture(autouse=True)
def outside(root: Path, tmp_path: Path) -> Generator[Path]:
    """What lies beside the workspace and in it is the same after every attack."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary").write_text("canary\n")
    (root / "folder").mkdir()
    (root / "folder/file").write_text("file\n")
    (root / ".env").write_text("TOKEN=hunter2\n")
    os.link(root / ".env", root / "alias")
    (root / "way-out").symlink_to(outside)
    here = os.open(root, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(f"/proc/self/fd/{here}/daemon.sock")
        daemon.listen()
        before = snapshot(outside), snapshot(root)
        yield outside
        assert (snapshot(outside), snapshot(root)) == before
    os.close(here)


async def attempt(session: RehearsalSession, code: str) -> str:
    rehearsal = await session.python(TRY.replace("{attempt}", code))
    assert rehearsal.outcome.stderr == b""
    return rehearsal.outcome.stdout.decode().strip()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unshare", f"{NEW_USERS}"),
        ("mount", "b't', b'/tmp', b'tmpfs', 0, 0"),
        ("umount2", "os.fsencode(os.getcwd()), 2"),
        ("pivot_root", "b'.', b'.'"),
        ("setns", "os.open('/proc/1/ns/mnt', 0), 0"),
        ("chroot", "b'.'"),
        ("fsopen", "b'overlay', 0"),
        ("open_tree", "-100, b'.', 1"),
        ("move_mount", "3, b'', -100, b'.', 4"),
        ("keyctl", "0, 0, 0, 0, 0"),
        ("io_uring_setup", "1, ctypes.create_string_buffer(200)"),
        ("open_by_handle_at", "3, ctypes.create_string_buffer(64), 0"),
        ("bpf", "0, 0, 0"),
        ("userfaultfd", "0"),
        ("perf_event_open", "0, 0, -1, -1, 0"),
        ("ptrace", "0, 0, 0, 0"),
    ],
)
async def test_calls_that_could_undo_the_overlay_are_refused(
    session: RehearsalSession, name: str, words: str
) -> None:
    assert await attempt(session, f"call({CALLS[name]}, {words})") == "refused"


@pytest.mark.parametrize(
    "code",
    [
        "os.mknod('whiteout', stat.S_IFCHR | 0o600, os.makedev(0, 0))",
        "os.mknod('null', stat.S_IFCHR | 0o600, os.makedev(1, 3))",
        "os.setxattr('folder', 'trusted.overlay.opaque', b'y')",
        "os.setxattr('folder/file', 'security.capability', bytes.fromhex('01000002' + 32 * '0'))",
        "os.chmod('folder/file', 0o4755)",
        "os.chmod('folder', 0o2755)",
        "open('.env').read()",
        "open('alias').read()",
        "os.rename('alias', 'renamed')",
        "os.link('.env', 'linked')",
        "open('way-out/canary', 'w')",
        "open('/usr/bin/planted', 'w')",
        "open('/etc/passwd', 'a')",
        "open('/proc/sys/kernel/core_pattern', 'w')",
        "os.kill({pid}, 0)",
        "os.listdir('{outside}')",
        "os.listdir('{sessions}')",
        "os.listdir('/proc/1/root{sessions}')",
        "os.listdir('/proc/{pid}')",
        "os.link('/usr/bin/true', 'linked')",
        "socket.socket(socket.AF_UNIX).connect('\\0handrail-{pid}')",
        "socket.socket(socket.AF_UNIX).connect('daemon.sock')",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    ],
)
async def test_attempts_to_reach_further_are_refused(
    session: RehearsalSession, outside: Path, sessions: Path, code: str
) -> None:
    code = code.replace("{pid}", str(os.getpid())).replace("{outside}", str(outside))
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0handrail-{os.getpid()}")
        abstract.listen()

        assert await attempt(session, code.replace("{sessions}", str(sessions))) == "refused"


DEVICES = ("full", "null", "random", "tty", "urandom", "zero")


async def test_device_files_are_used_and_not_changed(session: RehearsalSession) -> None:
    before = [os.stat(f"/dev/{name}") for name in DEVICES]

    rehearsal = await session.python(
        "import os\n"
        f"for path in [f'/dev/{{name}}' for name in {DEVICES}]:\n"
        "    found = os.stat(path)\n"
        "    for change in (\n"
        "        lambda: os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns)),\n"
        "        lambda: os.chmod(path, found.st_mode & 0o7777),\n"
        "        lambda: os.chown(path, found.st_uid, found.st_gid),\n"
        "    ):\n"
        "        try:\n"
        "            change()\n"
        "        except OSError:\n"
        "            continue\n"
        "        print('changed', path)\n"
        "open('/dev/null', 'w').write('x')\n"
        "print(len(open('/dev/zero', 'rb').read(5)), len(open('/dev/urandom', 'rb').read(5)))\n"
    )

    after = [os.stat(f"/dev/{name}") for name in DEVICES]
    assert rehearsal.outcome.stdout == b"5 5\n", rehearsal.outcome.stderr
    assert [one.st_ctime_ns for one in after] == [one.st_ctime_ns for one in before]


@pytest.mark.parametrize("mark", ["opaque", "redirect", "metacopy", "whiteout", "origin"])
async def test_marks_of_an_overlay_cannot_be_forged(session: RehearsalSession, mark: str) -> None:
    forging = await session.python(
        "import os\n"
        "os.mkdir('made')\n"
        "for path in ('folder', 'folder/file', 'made'):\n"
        f"    os.setxattr(path, 'user.overlay.{mark}', b'y')\n"
        "print(os.listdir('folder'), open('folder/file').read())"
    )

    assert forging.outcome.stdout == b"['file'] file\n\n"
    fd = forging.open_upper()
    found = os.listxattr(f"/proc/self/fd/{fd}/folder/file")
    os.close(fd)
    assert f"user.overlay.overlay.{mark}" in found
    assert f"user.overlay.{mark}" not in found or mark == "origin"


async def test_no_descriptor_leads_out(session: RehearsalSession) -> None:
    rehearsal = await session.shell(
        "ls /proc/self/fd; for one in /proc/1/fd/*; do ls -L $one/; done; cat /proc/1/environ"
    )

    own = rehearsal.outcome.stdout.decode().split()
    assert own[:3] == ["0", "1", "2"]
    assert "canary" not in own
    assert "HANDRAIL_KEEPER" not in rehearsal.outcome.stdout.decode()


async def test_nothing_of_other_processes_is_seen(session: RehearsalSession) -> None:
    rehearsal = await session.shell("ls -d /proc/[0-9]* | wc -l")

    assert int(rehearsal.outcome.stdout) <= 4


async def test_odd_names_and_deep_folders_are_only_names(session: RehearsalSession) -> None:
    rehearsal = await session.python(
        "import os\n"
        "open(b'\\xff\\xfe\\n\\x1b[31mred', 'w').close()\n"
        "fd = os.open('.', os.O_RDONLY)\n"
        "for _ in range(1000):\n"
        "    os.mkdir('d', dir_fd=fd); inner = os.open('d', os.O_RDONLY, dir_fd=fd)\n"
        "    os.close(fd); fd = inner\n"
        "os.mkdir('__pycache__', dir_fd=fd)\n"
    )

    assert rehearsal.outcome.exit_code == 0
    assert rehearsal.dropped == ()
    fd = rehearsal.open_upper()
    assert sorted(map(os.fsencode, os.listdir(fd))) == [b"d", b"\xff\xfe\n\x1b[31mred"]
    os.close(fd)


async def test_a_poisoned_cache_reaches_no_other_session_and_no_file(
    session: RehearsalSession, root: Path
) -> None:
    await session.shell("mkdir folder/__pycache__; ln -s /etc folder/__pycache__/etc; mkfifo p")

    rehearsal = await session.shell("ls folder/__pycache__; echo x > folder/__pycache__/etc/x")

    assert rehearsal.outcome.stdout == b"etc\n"
    assert not (root / "folder/__pycache__").exists()


# The name server


@pytest.mark.parametrize(
    "question",
    [
        b"",
        b"\0" * 11,
        b"\0" * 12,
        b"\0" * 12 + b"\x05abc",
        b"\0" * 12 + b"\xc0\x0c" * 3,
        b"\0" * 12 + b"\x03a\nb\0\0\1\0\1",
        b"\0" * 12 + b"\x02\xff\xfe\0\0\1\0\1",
        b"\0" * 12 + b"\x01a" * 200,
    ],
)
def test_a_question_without_a_name_of_a_host_is_none(question: bytes) -> None:
    assert read_name(question) is None


async def test_garbage_for_the_name_server_is_dropped(session: RehearsalSession) -> None:
    rehearsal = await session.python(
        "import os, socket\n"
        "line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for size in range(0, 600, 7): line.sendto(os.urandom(size), ('127.0.0.1', 53))\n"
        "try: socket.getaddrinfo('after.example.com', 80)\n"
        "except OSError as error: print(error.errno)\n"
    )

    assert rehearsal.outcome.exit_code == 0
    assert rehearsal.hosts[-1] == "after.example.com"


async def test_names_without_end_are_not_all_kept(session: RehearsalSession) -> None:
    rehearsal = await session.python(
        "import socket\n"
        "line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "line.settimeout(5)\n"
        "for number in range(300):\n"
        "    name = f'h{number}'.encode()\n"
        "    head = bytes(12) + bytes([len(name)]) + name + b'\\0\\0\\1\\0\\1'\n"
        "    line.sendto(head, ('127.0.0.1', 53)); line.recv(512)\n"
    )

    assert rehearsal.outcome.exit_code == 0
    assert len(rehearsal.hosts) == 100


async def test_a_name_is_exchanged_for_a_link_while_boxes_are_made(
    session: RehearsalSession, outside: Path
) -> None:
    """In the overlay, and in the temporary folder that boxes of one session share."""
    race = (
        "for i in {1..200}; do mkdir -p a; rm -rf a; ln -s /oldroot/tmp a; rm a;"
        " ln -sfn /oldroot /tmp/l; rm -f /tmp/l; done 2> /dev/null; true"
    )

    found = await asyncio.gather(*[session.shell(race) for _ in range(3)])

    assert [one.outcome.exit_code for one in found] == [0, 0, 0]
    assert [path.name for path in outside.iterdir()] == ["canary"]

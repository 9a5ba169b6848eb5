"""A rehearsed command works as if it were real, and nothing that it does is."""

import asyncio
import os
import socket
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.box import Profile, Wall
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import Ending
from handrail.core.stage import Join, Stage
from handrail.executors.rehearsal.overlay import Maker
from tests.executors.rehearsal.conftest import (
    OpenSession,
    RehearsalSession,
    changed_in,
    snapshot,
)

WRITE = Profile.WRITE
# Told from those of tests that run at the same time.
NAP = f"sleep 1234.{os.getpid()}"


@pytest.fixture(autouse=True)
def project(root: Path) -> Generator[Path]:
    """A workspace with something of every kind; the test ends with it as it was."""
    (root / "src/deep").mkdir(parents=True)
    (root / "src/a.py").write_text("a = 1\n")
    (root / "src/deep/b.py").write_text("b = 1\n")
    (root / "notes.txt").write_text("notes\n")
    (root / "tool.sh").write_text("#!/bin/sh\necho tool\n")
    (root / "tool.sh").chmod(0o755)
    os.link(root / "notes.txt", root / "second.txt")
    (root / "link").symlink_to("src/a.py")
    (root / "kept").mkdir()
    for name in (".env", "kept/.env"):
        (root / name).write_text("TOKEN=hunter2\n")
    before = snapshot(root)
    yield root
    assert snapshot(root) == before


CHANGES = {
    "a file is written": ("echo b > notes.txt", {"notes.txt"}),
    "a file is added to": ("echo b >> src/a.py", {"src/a.py"}),
    "a file is edited in place": ("sed -i s/1/2/ src/deep/b.py", {"src/deep/b.py"}),
    "a file is made": ("echo n > src/new.py", {"src/new.py"}),
    "a file is deleted": ("rm src/a.py", {"src/a.py"}),
    "a folder is deleted": ("rm -r src", {"src"}),
    "a folder is replaced": ("rm -r src; mkdir src; echo n > src/n", {"src/n"}),
    "a file is renamed": ("mv notes.txt other.txt", {"notes.txt", "other.txt"}),
    "a folder is renamed": ("mv src lib", {"src", "lib/a.py", "lib/deep/b.py"}),
    "a mode is changed": ("chmod 600 tool.sh", {"tool.sh"}),
    "a folder loses its rights": ("chmod 500 src", {"src"}),
    "times are changed": ("touch -d 2001-01-01 notes.txt", {"notes.txt"}),
    "a hard link is made": ("ln src/a.py again.py", {"again.py", "src/a.py"}),
    "a link is made": ("ln -sf /etc/passwd link", {"link"}),
    "a fifo is made": ("mkfifo pipe", {"pipe"}),
    "a file is emptied": ("truncate -s 0 tool.sh", {"tool.sh"}),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_is_found_in_the_upper_directory_and_nowhere_else(
    either: RehearsalSession, change: str
) -> None:
    line, expected = CHANGES[change]

    rehearsal = await either.shell(line)

    assert (rehearsal.outcome.stderr, rehearsal.outcome.exit_code) == (b"", 0)
    assert changed_in(rehearsal) == expected
    assert rehearsal.exceeded is None


async def test_a_socket_is_made_without_an_effect(session: RehearsalSession) -> None:
    rehearsal = await session.python("import socket as s; s.socket(s.AF_UNIX).bind('made.sock')")

    assert changed_in(rehearsal) == {"made.sock"}


async def test_a_command_that_changes_nothing_leaves_nothing(either: RehearsalSession) -> None:
    rehearsal = await either.shell("cat src/a.py; ls; ./tool.sh; exit 3")

    assert rehearsal.outcome.stdout.startswith(b"a = 1\n")
    assert rehearsal.outcome.stdout.endswith(b"tool\n")
    assert (rehearsal.outcome.ending, rehearsal.outcome.exit_code) == (Ending.EXITED, 3)
    assert rehearsal.outcome.walls == (Wall.NAMESPACES, Wall.SECCOMP, Wall.LIMITS)
    assert changed_in(rehearsal) == set()
    assert not rehearsal.left_running


async def test_a_rehearsal_does_not_see_what_another_has_changed(session: RehearsalSession) -> None:
    await session.shell("echo b > notes.txt; rm src/a.py")

    rehearsal = await session.shell("cat notes.txt src/a.py")

    assert rehearsal.outcome.stdout == b"notes\na = 1\n"


async def test_it_began_before_anything_was_read(session: RehearsalSession) -> None:
    before = time.time_ns()

    rehearsal = await session.shell("true")

    assert before <= rehearsal.began_ns <= time.time_ns()


# Several stages


async def test_stages_of_one_line_see_what_those_before_them_did(session: RehearsalSession) -> None:
    rehearsal = await session.run(
        Stage(("bash", "-c", "mkdir made; echo x > made/one.txt; echo y > made/two.txt"), WRITE),
        Stage(("cat", "*.txt"), WRITE, Join.AND, patterns=(1,), folder="made"),
    )

    assert rehearsal.outcome.stdout == b"x\ny\n"


async def test_a_program_that_a_stage_has_made_is_run_by_the_next(
    session: RehearsalSession,
) -> None:
    rehearsal = await session.run(
        Stage(("cp", "tool.sh", "src/made"), WRITE),
        Stage(("./made",), WRITE, Join.AND, folder="src"),
    )

    assert rehearsal.outcome.stdout == b"tool\n"


async def test_stages_that_run_into_each_other_change_the_same_files(
    session: RehearsalSession,
) -> None:
    rehearsal = await session.run(
        Stage(("printf", "x"), WRITE),
        Stage(("tee", "one.txt"), WRITE, Join.PIPE),
        Stage(("tee", "two.txt"), WRITE, Join.PIPE),
    )

    assert rehearsal.outcome.stdout == b"x"
    assert changed_in(rehearsal) == {"one.txt", "two.txt"}


async def test_what_only_reads_cannot_write_even_here(session: RehearsalSession) -> None:
    rehearsal = await session.run(
        Stage(("cp", "notes.txt", "n"), Profile.READ),
        Stage(("cp", "notes.txt", "/tmp/n"), Profile.READ, Join.THEN),
        Stage(("cp", "notes.txt", "/tmp/home/n"), Profile.READ, Join.THEN),
    )

    assert rehearsal.outcome.stderr.count(b"Read-only file system") == 3
    assert changed_in(rehearsal) == set()


async def test_a_program_that_does_not_exist_is_told(session: RehearsalSession) -> None:
    with pytest.raises(CommandExecutionError, match="is not installed"):
        await session.run(Stage(("no-such-program",), WRITE))


# What is hidden


async def test_guarded_files_are_hidden_and_told(session: RehearsalSession) -> None:
    rehearsal = await session.shell("cat .env; cp .env copy; ln .env alias; mv .env x; true")

    assert b"hunter2" not in rehearsal.outcome.stdout
    assert changed_in(rehearsal) == set()
    assert sorted(rehearsal.hidden) == [".env", "kept/.env"]


async def test_covers_are_no_effects(session: RehearsalSession) -> None:
    rehearsal = await session.shell("mkdir .git/hooks; echo x > .handrail/x; touch own")

    assert changed_in(rehearsal) == {"own"}


async def test_a_folder_above_a_hidden_file_cannot_be_moved_or_deleted(
    session: RehearsalSession,
) -> None:
    rehearsal = await session.shell("mv kept gone; rm -rf kept; ls gone")

    assert rehearsal.outcome.exit_code != 0
    assert changed_in(rehearsal) <= {"kept"}


# What lasts for the session


async def test_temporary_files_and_the_home_last_for_the_session_only(
    either: RehearsalSession, open_session: OpenSession
) -> None:
    first = await either.shell("echo t > /tmp/kept; echo h > ~/.kept; echo v > /var/tmp/too")

    again = await either.shell("cat /tmp/kept ~/.kept /tmp/too")
    other = await open_session("other").shell("ls -A /tmp/kept ~/.kept")

    assert sorted(first.outside) == ["/tmp/home/.kept", "/tmp/kept", "/tmp/too"]
    assert again.outcome.stdout == b"t\nh\nv\n"
    assert other.outcome.stdout == b""


async def test_the_home_cannot_be_replaced_by_a_link(session: RehearsalSession) -> None:
    first = await session.shell("rm -rf ~; mv ~ /tmp/moved; ln -sfn /oldroot /tmp/home; ls /tmp")

    second = await session.shell("cd ~ && pwd -P && touch ~/fine")

    assert b"moved" not in first.outcome.stdout
    assert second.outcome.stdout == b"/tmp/home\n"


async def test_links_in_the_temporary_folder_lead_no_box_astray(
    session: RehearsalSession, root: Path
) -> None:
    """Where the workspace lies below /tmp, so does the way to it in a box."""
    way = str(root).split("/")[2]
    await session.shell(f"rm -rf /tmp/{way}; mv /tmp/{way} /tmp/x; ln -s /oldroot /tmp/{way}; true")

    rehearsal = await session.shell("cat notes.txt")

    assert rehearsal.outcome.stdout == b"notes\n"


# The network


async def test_there_is_no_network_and_the_hosts_that_were_tried_are_told(
    session: RehearsalSession,
) -> None:
    rehearsal = await session.python(
        "import socket, urllib.request as u\n"
        "for name in ('one.example.com', 'two.example.com'):\n"
        "    try: u.urlopen(f'https://{name}/x')\n"
        "    except OSError as error: print(error)\n"
        "try: socket.create_connection(('192.0.2.1', 80), 1)\n"
        "except OSError as error: print(error)\n"
    )

    lines = rehearsal.outcome.stdout.decode().splitlines()
    assert [line for line in lines if "name resolution" in line] == lines[:2]
    assert "unreachable" in lines[2]
    assert rehearsal.hosts == ("one.example.com", "two.example.com")


async def test_a_server_of_its_own_is_reached_and_none_of_the_machine(
    session: RehearsalSession,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        rehearsal = await session.python(
            "import socket\n"
            "own = socket.create_server(('127.0.0.1', 0))\n"
            "socket.create_connection(own.getsockname()).close(); print('own')\n"
            f"socket.create_connection(('127.0.0.1', {port}))\n"
        )

    assert rehearsal.outcome.stdout == b"own\n"
    assert b"ConnectionRefusedError" in rehearsal.outcome.stderr
    assert rehearsal.hosts == ()


# The end


async def test_what_is_left_running_is_ended_and_told(session: RehearsalSession) -> None:
    rehearsal = await session.shell(f"setsid {NAP} > /dev/null 2>&1 & echo begun")

    assert rehearsal.outcome.stdout == b"begun\n"
    assert rehearsal.outcome.exit_code == 0
    assert rehearsal.left_running
    assert not running(NAP)


async def test_a_command_that_takes_too_long_is_ended(session: RehearsalSession) -> None:
    rehearsal = await session.shell(f"echo x > made; {NAP}", seconds=1)

    assert rehearsal.outcome.ending is Ending.TIMED_OUT
    assert changed_in(rehearsal) == {"made"}
    assert not running(NAP)


async def test_a_rehearsal_that_is_called_off_leaves_nothing(
    session: RehearsalSession, sessions: Path
) -> None:
    rehearsing = asyncio.ensure_future(session.shell(f"echo x > made; {NAP}"))
    while not running(NAP):
        await asyncio.sleep(0.01)

    rehearsing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await rehearsing
    assert not running(NAP)
    assert not [*sessions.glob("*/view-*")]


async def test_several_at_once_do_not_see_each_other(session: RehearsalSession) -> None:
    line = "echo {0} > shared; sleep 0.2; cat shared; mkdir .mypy_cache; echo {0} > .mypy_cache/c"

    found = await asyncio.gather(*[session.shell(line.format(name)) for name in "abc"])
    after = await session.shell("cat .mypy_cache/c")

    assert [one.outcome.stdout for one in found] == [b"a\n", b"b\n", b"c\n"]
    assert after.outcome.stdout in {b"a\n", b"b\n", b"c\n"}


async def test_a_maker_that_has_died_is_replaced(session: RehearsalSession, maker: Maker) -> None:
    await session.shell("echo x > /tmp/lost")
    generation = maker.generation
    maker.close()

    rehearsal = await session.shell("ls /tmp/lost; echo y > made")

    assert maker.generation == generation + 1
    assert rehearsal.outcome.exit_code == 0
    assert b"No such file" in rehearsal.outcome.stderr
    assert changed_in(rehearsal) == {"made"}


async def test_a_closed_rehearsal_and_a_closed_session_leave_nothing(
    either: RehearsalSession, sessions: Path, maker: Maker
) -> None:
    """Of whatever depth, and with whatever rights."""
    rehearsal = await either.python(
        "import os\n"
        "fd = os.open('.', os.O_RDONLY)\n"
        "for _ in range(2000):\n"
        "    os.mkdir('d' * 200, dir_fd=fd)\n"
        "    inner = os.open('d' * 200, os.O_RDONLY, dir_fd=fd)\n"
        "    os.close(fd); fd = inner\n"
        "os.makedirs('closed/off/entirely'); os.chmod('closed/off', 0)\n"
    )
    assert (rehearsal.outcome.stderr, rehearsal.outcome.exit_code) == (b"", 0)

    await either.close()
    await rehearsal.close()

    assert not [*sessions.iterdir()]
    assert str(sessions) not in mounts_of(maker)


def mounts_of(maker: Maker) -> str:
    assert maker.pid is not None
    return Path(f"/proc/{maker.pid}/mountinfo").read_text()


def running(words: str) -> bool:
    """Whether a process with these words runs anywhere."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found = path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if found == words:
            return True
    return False

"""A rehearsed command works as if it were real, and nothing that it does is."""

import socket
import time

import pytest

from handrail.core.box import Profile, Wall
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import Ending
from handrail.core.stage import Join, Stage
from handrail.executors.rehearsal.effects import CLOCK_SLACK_NS
from tests.executors.rehearsal.conftest import (
    RehearsalSession,
    changed_in,
)

WRITE = Profile.WRITE


pytestmark = pytest.mark.usefixtures("project")
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

    assert before - CLOCK_SLACK_NS <= rehearsal.began_ns <= time.time_ns()


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

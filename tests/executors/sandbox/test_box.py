"""A command in a box does what it was let do, and nothing else, and nothing of it stays behind."""

import asyncio
import os
import socket
import tempfile
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile, Room, Wall
from handrail.core.errors import CommandExecutionError, ToolError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.box import Box, Programs
from tests.executors.conftest import PYTHON, one

READ, WRITE = Profile.READ, Profile.WRITE


async def run(
    executor: CommandExecutor, *argv: str, profile: Profile = WRITE, seconds: float = 30
) -> CommandOutcome:
    return await executor.run(one(argv, profile), timeout_seconds=seconds)


async def python(
    executor: CommandExecutor, code: str, *, profile: Profile = WRITE, seconds: float = 30
) -> CommandOutcome:
    return await run(executor, PYTHON.name, "-c", code, profile=profile, seconds=seconds)


async def shell(
    executor: CommandExecutor, line: str, *, profile: Profile = WRITE, seconds: float = 30
) -> CommandOutcome:
    return await run(executor, "sh", "-c", line, profile=profile, seconds=seconds)


# What is the same with a box as without


@pytest.mark.parametrize("profile", [READ, WRITE])
async def test_what_a_program_prints_and_how_it_exits_comes_back(
    executor: CommandExecutor, profile: Profile
) -> None:
    outcome = await shell(executor, "echo out; echo err >&2; exit 3", profile=profile)

    assert (outcome.stdout, outcome.stderr) == (b"out\n", b"err\n")
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 3)
    assert outcome.walls == (Wall.NAMESPACES, Wall.SECCOMP, Wall.LIMITS)


async def test_words_reach_the_program_as_they_are(executor: CommandExecutor) -> None:
    words = [
        "$HOME",
        "*",
        "a b",
        "",
        "; rm -rf /",
        "`id`",
        "é",
        os.fsdecode(b"caf\xe9"),
        "\n",
        "--",
    ]
    code = "import os, sys; print(list(map(os.fsencode, sys.argv[1:])))"

    outcome = await run(executor, PYTHON.name, "-c", code, *words)

    assert outcome.stdout.decode().strip() == str([os.fsencode(word) for word in words])


async def test_it_runs_in_the_workspace_under_its_own_path(
    executor: CommandExecutor, root: Path
) -> None:
    assert (await run(executor, "pwd")).stdout.decode().strip() == str(root)


async def test_nothing_of_our_environment_is_in_it(
    executor: CommandExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")

    outcome = await shell(executor, "env; cat /proc/1/environ /proc/self/environ")

    assert outcome.exit_code == 0
    assert b"SECRET" not in outcome.stdout
    assert b"HOME=/tmp/home\n" in outcome.stdout


async def test_it_gets_no_descriptor_but_three(executor: CommandExecutor) -> None:
    with tempfile.TemporaryFile() as secret:
        os.set_inheritable(secret.fileno(), True)
        outcome = await python(executor, "import os; print(sorted(os.listdir('/proc/self/fd')))")
    assert outcome.stdout == b"['0', '1', '2', '3']\n"


async def test_only_the_beginning_of_much_output_is_kept_and_the_rest_is_counted(
    executor: CommandExecutor,
) -> None:
    outcome = await shell(executor, "head -c 3000000 /dev/zero; head -c 1000001 /dev/zero >&2")

    assert (len(outcome.stdout), outcome.stdout_lost) == (1_000_000, 2_000_000)
    assert (len(outcome.stderr), outcome.stderr_lost) == (1_000_000, 1)


async def test_several_run_side_by_side(executor: CommandExecutor) -> None:
    outcomes = await asyncio.gather(*[run(executor, "echo", str(number)) for number in range(5)])

    assert [outcome.stdout for outcome in outcomes] == [b"0\n", b"1\n", b"2\n", b"3\n", b"4\n"]


async def test_who_is_killed_by_a_signal_is_told_from_who_exits(executor: CommandExecutor) -> None:
    killed = await python(executor, "import os; os.kill(os.getpid(), 11)")
    exits = await shell(executor, "exit 129")

    assert (killed.ending, killed.exit_code) == (Ending.KILLED, -11)
    assert (exits.ending, exits.exit_code) == (Ending.EXITED, 129)


async def test_a_program_that_is_not_there_is_said_to_be_missing(
    executor: CommandExecutor,
) -> None:
    with pytest.raises(ToolError, match="`no-such-program` is not installed on this machine"):
        await run(executor, "no-such-program")


# The end


async def test_it_is_asked_to_end_before_it_is_made_to(executor: CommandExecutor) -> None:
    line = "trap 'echo bye; exit 0' TERM; echo hi; sleep 60 & wait"

    outcome = await shell(executor, line, seconds=2)

    assert (outcome.ending, outcome.stdout) == (Ending.TIMED_OUT, b"hi\nbye\n")


async def test_who_does_not_listen_is_made_to_end(executor: CommandExecutor, root: Path) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open("alive", "a").write("x")
            time.sleep(0.01)
    os._exit(0)
time.sleep(60)
"""
    outcome = await python(executor, code, seconds=3)

    assert outcome.ending is Ending.TIMED_OUT
    written = (root / "alive").stat().st_size
    await asyncio.sleep(0.3)
    assert (root / "alive").stat().st_size == written > 0


async def test_what_is_left_in_the_background_ends_with_the_command(
    executor: CommandExecutor, root: Path
) -> None:
    line = "setsid -f sh -c 'while :; do echo x >> alive; sleep 0.01; done'; sleep 0.3; echo done"
    async with asyncio.timeout(20):
        outcome = await shell(executor, line)

    assert outcome.stdout == b"done\n"
    written = (root / "alive").stat().st_size
    await asyncio.sleep(0.3)
    assert (root / "alive").stat().st_size == written > 0


async def test_cancelling_ends_it(executor: CommandExecutor, root: Path) -> None:
    line = "while :; do echo x >> alive; sleep 0.01; done"
    running = asyncio.create_task(shell(executor, line))
    while not (root / "alive").exists():
        await asyncio.sleep(0.02)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    written = (root / "alive").stat().st_size
    await asyncio.sleep(0.3)
    assert (root / "alive").stat().st_size == written


# The walls


async def test_who_only_reads_can_neither_write_nor_start_anything(
    executor: CommandExecutor, root: Path
) -> None:
    writes = await shell(executor, "echo x > made", profile=READ)
    forks = await shell(executor, "(echo forked)", profile=READ)

    assert (writes.exit_code, forks.exit_code) == (2, 2)
    assert b"forked" not in forks.stdout
    assert os.listdir(root) == []


async def test_threads_are_let_run_where_programs_are_not(executor: CommandExecutor) -> None:
    code = "import threading as t; x = t.Thread(target=print, args=['ran']); x.start(); x.join()"

    assert (await python(executor, code, profile=READ)).stdout == b"ran\n"


async def test_what_was_approved_can_change_the_workspace_and_nothing_else(
    executor: CommandExecutor, root: Path, tmp_path: Path
) -> None:
    line = f"echo x > made; echo x > {tmp_path}/outside; echo x > /usr/made; echo x > /etc/made"
    await shell(executor, line)

    assert os.listdir(root) == ["made"]
    assert sorted(os.listdir(tmp_path)) == ["ws"]


async def test_nothing_of_the_machine_is_seen_but_its_programs(
    executor: CommandExecutor, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("hush")

    outcome = await shell(executor, f"cat {tmp_path}/secret /etc/shadow; ls / {Path.home()}")

    assert b"hush" not in outcome.stdout
    assert b"No such file" in outcome.stderr
    assert b"home" not in outcome.stdout.split()


@pytest.mark.parametrize("profile", [READ, WRITE])
async def test_no_network_is_reached(executor: CommandExecutor, profile: Profile) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        outcome = await python(executor, code, profile=profile)
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()

    assert outcome.exit_code == 1
    assert b"Error" in outcome.stderr


async def test_a_server_and_its_client_can_meet_in_one_box(executor: CommandExecutor) -> None:
    """As the tests of many projects do."""
    code = """
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
print(server.accept()[1] == client.getsockname())
"""
    assert (await python(executor, code)).stdout == b"True\n"


# What is covered


async def test_a_secret_in_the_workspace_is_read_by_nobody(
    executor: CommandExecutor, root: Path
) -> None:
    (root / ".env").write_text("hush")
    os.link(root / ".env", root / "other.txt")

    for profile in (READ, WRITE):
        outcome = await run(executor, "cat", ".env", "other.txt", profile=profile)
        assert (outcome.exit_code, outcome.stdout) == (1, b"")


async def test_a_secret_can_be_changed_moved_or_removed_by_nobody(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "app").mkdir()
    (root / "app" / ".env").write_text("hush")

    await shell(executor, "echo x > app/.env; mv app/.env y; rm -f app/.env; mv app z; rm -rf app")

    assert (root / "app" / ".env").read_text() == "hush"
    assert os.listdir(root) == ["app"]


async def test_the_inside_of_git_is_changed_by_git_alone(
    executor: CommandExecutor, root: Path
) -> None:
    await run(executor, "git", "init", "-q", ".")
    assert (root / ".git" / "config").exists()
    before = sorted(os.listdir(root / ".git"))

    planted = "echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git other; rm -rf .git"
    await shell(executor, planted)

    assert sorted(os.listdir(root / ".git")) == before
    assert "x" not in (root / ".git" / "config").read_text().splitlines()
    assert not (root / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("name", [".git", ".handrail"])
async def test_what_does_not_exist_and_shall_not_is_made_by_nobody(
    executor: CommandExecutor, root: Path, name: str
) -> None:
    outcome = await shell(executor, f"mkdir -p {name}/hooks; echo x > {name}/config; rmdir {name}")

    assert outcome.exit_code != 0
    assert os.listdir(root) == []


async def test_a_cover_stays_as_long_as_somebody_needs_it(
    executor: CommandExecutor, root: Path
) -> None:
    patient = "touch began; while [ ! -e go ]; do sleep 0.02; done; mkdir .git/hooks"
    first = asyncio.create_task(shell(executor, patient))
    while not (root / "began").exists():
        await asyncio.sleep(0.02)

    # It comes later, needs the same cover, and leaves first.
    second = await shell(executor, "mkdir .git/hooks")
    (root / "go").touch()
    outcome = await first

    assert (second.exit_code, outcome.exit_code) == (1, 1)
    assert sorted(os.listdir(root)) == ["began", "go"]


@pytest.mark.parametrize("name", [".git", ".handrail"])
async def test_what_may_write_is_refused_where_a_link_stands_for_what_is_ours(
    executor: CommandExecutor, root: Path, name: str
) -> None:
    (root / "real").mkdir()
    (root / name).symlink_to("real")

    with pytest.raises(CommandExecutionError, match=f"{name} is a link, and no box can prevent"):
        await shell(executor, f"rm {name}; mkdir {name}")

    assert (root / name).is_symlink()
    assert (await shell(executor, "echo seen", profile=READ)).stdout == b"seen\n"


async def test_a_name_that_appears_beside_a_running_command_is_covered_when_that_has_ended(
    executor: CommandExecutor, root: Path
) -> None:
    patient = "mkdir app; echo hush > app/.env; while [ ! -e go ]; do sleep 0.02; done"
    first = asyncio.create_task(shell(executor, patient))
    while not (root / "app" / ".env").exists():
        await asyncio.sleep(0.02)

    with pytest.raises(CommandExecutionError, match=r"app/.env appeared .* try again"):
        await run(executor, "cat", "app/.env", profile=READ)
    (root / "go").touch()
    await first

    outcome = await run(executor, "cat", "app/.env", profile=READ)
    assert (outcome.exit_code, outcome.stdout) == (1, b"")


# What is told of it before


@pytest.mark.parametrize(
    ("argv", "profile", "room"),
    [
        (("cat", "a.txt"), READ, Room(READ, False)),
        (("sh", "-c", "git commit"), WRITE, Room(WRITE, False)),
        (("git", "commit", "-m", "x"), WRITE, Room(WRITE, True)),
        (("git", "status"), READ, Room(READ, False)),
    ],
)
async def test_it_is_known_before_what_a_command_can_do_at_most(
    executor: CommandExecutor, argv: tuple[str, ...], profile: Profile, room: Room
) -> None:
    assert (await executor.look(one(argv, profile))).room == room


# What goes wrong


async def test_a_box_that_cannot_be_made_is_said_and_nothing_runs(
    root: Path, isolation: Isolation, guarded: GuardedNames, programs: Programs
) -> None:
    box = Box(programs, isolation, guarded, toolchains=["/no/such/toolchain"])
    executor = CommandExecutor(root, box=box)

    with pytest.raises(CommandExecutionError, match=r"no box could be made .*/no/such/toolchain"):
        await shell(executor, "echo x > made")
    assert os.listdir(root) == []

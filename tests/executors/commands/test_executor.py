import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, PathValidationError, ToolError
from handrail.core.hands import Commands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.testing import FakeCommands
from tests.executors.conftest import one

PYTHON = Path(os.path.realpath(sys.executable))
SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin", str(PYTHON.parent))
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="there is no /proc on this system"
)

# A grandchild with a session of its own, which its parents leave behind.
DOUBLE_FORK = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("stray", "w").write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
os.wait()
while not os.path.exists("stray") or not open("stray").read():
    time.sleep(0.01)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    return made


@pytest.fixture
def executor(root: Path) -> CommandExecutor:
    return CommandExecutor(root, search_path=SEARCH_PATH, grace_seconds=0.5)


async def python(
    executor: CommandExecutor, code: str, *args: str, timeout_seconds: float = 20
) -> CommandOutcome:
    argv = [PYTHON.name, "-c", code, *args]
    return await executor.run(one(argv), timeout_seconds=timeout_seconds)


async def shell(executor: CommandExecutor, line: str, *, timeout_seconds: float) -> CommandOutcome:
    return await executor.run(one(["sh", "-c", line]), timeout_seconds=timeout_seconds)


async def refusal(executor: CommandExecutor, *argv: str) -> tuple[type[ToolError], str]:
    with pytest.raises(ToolError) as caught:
        await executor.run(one(argv), timeout_seconds=10)
    return type(caught.value), caught.value.message


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return state_of(pid)[0] != "Z"


def state_of(pid: int) -> tuple[str, int]:
    """The state of a process, `Z` for one that waits to be buried, and its parent."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "?", 0
    return told[0], int(told[1])


def unburied() -> set[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return {pid for pid in pids if state_of(pid) == ("Z", os.getpid())}


async def is_gone_soon(pid: int) -> bool:
    for _ in range(200):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.01)
    return False


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


async def test_what_a_program_prints_and_how_it_exits_comes_back(
    executor: CommandExecutor,
) -> None:
    outcome = await python(
        executor, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    )
    assert (outcome.stdout, outcome.stderr, outcome.ending, outcome.exit_code) == (
        b"out\n",
        b"err\n",
        Ending.EXITED,
        3,
    )
    assert (outcome.stdout_lost, outcome.stderr_lost) == (0, 0)
    assert 0 < outcome.seconds < 20


async def test_words_reach_the_program_as_they_are(executor: CommandExecutor) -> None:
    words = ["$HOME", "*", "a b", "", "; rm -rf /", "`id`", "é", os.fsdecode(b"caf\xe9"), "\n"]
    outcome = await python(
        executor, "import os, sys; print(list(map(os.fsencode, sys.argv[1:])))", *words
    )
    assert outcome.stdout.decode().strip() == str([os.fsencode(word) for word in words])


async def test_program_runs_in_the_workspace(executor: CommandExecutor, root: Path) -> None:
    outcome = await executor.run(one(["pwd"]), timeout_seconds=10)
    assert outcome.stdout.decode().strip() == str(root)


async def test_environment_is_made_from_nothing(
    executor: CommandExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    monkeypatch.setenv("LD_PRELOAD_X", "x")
    outcome = await executor.run(one(["env"]), timeout_seconds=10)
    names = {line.partition("=")[0] for line in outcome.stdout.decode().splitlines()}
    of_git = {name for name in names if name.startswith("GIT_")}
    assert "GIT_CONFIG_GLOBAL" in of_git
    assert names - of_git == {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "TERM",
        "NO_COLOR",
        "PAGER",
        "TAR_OPTIONS",
    }


async def test_home_is_empty_elsewhere_and_gone_afterwards(
    executor: CommandExecutor, root: Path
) -> None:
    code = """
import os
home = os.environ["HOME"]
print(home, os.listdir(home), oct(os.stat(home).st_mode & 0o777), sep="|")
open(home + "/left", "w").write("x")
"""
    first = (await python(executor, code)).stdout.decode().strip().split("|")
    second = (await python(executor, code)).stdout.decode().strip().split("|")
    assert first[1:] == second[1:] == ["[]", "0o700"]
    assert first[0] != second[0]
    assert not first[0].startswith(str(root))
    assert not Path(first[0]).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove everything")
async def test_home_is_gone_though_a_tool_has_locked_it(executor: CommandExecutor) -> None:
    line = 'mkdir -p "$HOME/a/b"; touch "$HOME/a/b/c"; chmod 500 "$HOME/a/b" "$HOME/a"; echo $HOME'
    outcome = await shell(executor, line, timeout_seconds=10)
    assert not Path(outcome.stdout.decode().strip()).exists()


async def test_removing_the_home_follows_no_link(executor: CommandExecutor, root: Path) -> None:
    (root / "kept").mkdir(mode=0o555)
    await shell(executor, 'ln -s "$PWD/kept" "$HOME/link"', timeout_seconds=10)
    assert (root / "kept").stat().st_mode & 0o777 == 0o555


async def test_nobody_answers_at_the_other_end_of_stdin(executor: CommandExecutor) -> None:
    assert (await python(executor, "print(repr(open(0).read()))")).stdout == b"''\n"


@needs_proc
async def test_a_text_is_read_to_its_end_without_a_box(executor: CommandExecutor) -> None:
    text = "it's $one é\n" * 20_000
    stages = [Stage(("cat",), Profile.WRITE, stdin=text)]

    assert (await executor.run(stages, timeout_seconds=20)).stdout == text.encode()


async def test_program_gets_no_other_descriptor(executor: CommandExecutor) -> None:
    with tempfile.TemporaryFile() as secret:
        os.set_inheritable(secret.fileno(), True)
        outcome = await python(executor, "import os; print(sorted(os.listdir('/proc/self/fd')))")
    assert outcome.stdout == b"['0', '1', '2', '3']\n"


async def test_program_is_the_leader_of_its_own_session(executor: CommandExecutor) -> None:
    outcome = await python(
        executor, "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))"
    )
    assert outcome.stdout == b"True\n"


async def test_only_the_beginning_of_much_output_is_kept_and_the_rest_is_counted(
    executor: CommandExecutor,
) -> None:
    code = """
import sys
sys.stdout.write("o" * 3_000_000)
sys.stderr.write("e" * 1_000_001)
"""
    outcome = await python(executor, code)
    assert (outcome.exit_code, outcome.stdout_lost, outcome.stderr_lost) == (0, 2_000_000, 1)
    assert outcome.stdout == b"o" * 1_000_000
    assert outcome.stderr == b"e" * 1_000_000


async def test_output_that_just_fits_is_kept_whole(root: Path) -> None:
    executor = CommandExecutor(root, search_path=SEARCH_PATH, max_stream_bytes=10)
    outcome = await executor.run(one(["echo", "123456789"]), timeout_seconds=10)
    assert (outcome.stdout, outcome.stdout_lost) == (b"123456789\n", 0)


async def test_endless_output_ends_with_the_time(executor: CommandExecutor) -> None:
    outcome = await executor.run(one(["yes"]), timeout_seconds=0.3)
    assert outcome.ending is Ending.TIMED_OUT
    assert len(outcome.stdout) == 1_000_000
    assert outcome.stdout_lost > 0


async def test_others_get_on_while_a_command_pours_out(executor: CommandExecutor) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await executor.run(one(["yes"]), timeout_seconds=0.5)
    ticking.cancel()
    assert ticks > 5


async def test_command_that_takes_too_long_is_ended_and_its_output_kept(
    executor: CommandExecutor,
) -> None:
    outcome = await shell(executor, "echo $$; exec sleep 60", timeout_seconds=0.7)
    assert (outcome.ending, outcome.exit_code) == (Ending.TIMED_OUT, None)
    assert outcome.seconds < 20
    assert await is_gone_soon(int(outcome.stdout))


async def test_command_is_asked_to_end_before_it_is_made_to(executor: CommandExecutor) -> None:
    line = "trap 'echo bye; exit 0' TERM; echo hi; sleep 60 & wait"
    outcome = await shell(executor, line, timeout_seconds=0.7)
    assert (outcome.ending, outcome.stdout) == (Ending.TIMED_OUT, b"hi\nbye\n")


async def test_command_that_does_not_listen_is_made_to_end(executor: CommandExecutor) -> None:
    line = "trap '' TERM; echo $$; while :; do sleep 1; done"
    outcome = await shell(executor, line, timeout_seconds=0.7)
    assert outcome.ending is Ending.TIMED_OUT
    assert await is_gone_soon(int(outcome.stdout))


async def test_children_end_with_a_command_that_takes_too_long(executor: CommandExecutor) -> None:
    outcome = await shell(executor, "sleep 60 & echo $!; wait", timeout_seconds=0.7)
    assert await is_gone_soon(int(outcome.stdout))


async def test_nobody_waits_for_those_who_have_ended_but_were_not_buried(root: Path) -> None:
    executor = CommandExecutor(root, search_path=SEARCH_PATH, grace_seconds=60)
    async with asyncio.timeout(10):
        await shell(executor, "sleep 60 & wait", timeout_seconds=0.3)


async def test_child_in_the_background_holds_nobody_up_and_ends(
    executor: CommandExecutor,
) -> None:
    code = """
import subprocess
print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
"""
    async with asyncio.timeout(10):
        outcome = await python(executor, code)
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 0)
    assert await is_gone_soon(int(outcome.stdout))


async def test_what_the_background_says_soon_after_the_end_is_heard(
    executor: CommandExecutor,
) -> None:
    code = """
import os, time
if os.fork() == 0:
    time.sleep(0.1)
    print("late", flush=True)
"""
    assert (await python(executor, code)).stdout == b"late\n"


@needs_proc
@pytest.mark.parametrize("ending", ["exit", "time-out"])
async def test_grandchild_that_left_the_group_ends_as_well(
    executor: CommandExecutor, root: Path, ending: str
) -> None:
    code = DOUBLE_FORK + ("time.sleep(60)" if ending == "time-out" else "")
    async with asyncio.timeout(15):
        await python(executor, code, timeout_seconds=20 if ending == "exit" else 2)
    assert await is_gone_soon(int((root / "stray").read_text()))


@needs_proc
@pytest.mark.parametrize("ending", ["exit", "time-out"])
async def test_child_with_a_group_of_its_own_and_nothing_in_its_environment_ends_as_well(
    executor: CommandExecutor, root: Path, ending: str
) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setpgid(0, 0)
    open("stray", "w").write(str(os.getpid()))
    os.execve("/bin/sleep", ["sleep", "60"], {})
while not os.path.exists("stray") or not open("stray").read():
    time.sleep(0.01)
time.sleep(0.2)
"""
    code += "time.sleep(60)" if ending == "time-out" else ""
    async with asyncio.timeout(15):
        await python(executor, code, timeout_seconds=20 if ending == "exit" else 2)
    assert await is_gone_soon(int((root / "stray").read_text()))


@needs_proc
async def test_what_others_in_this_process_have_started_is_left_alone(
    executor: CommandExecutor,
) -> None:
    others = [
        await asyncio.create_subprocess_exec("sleep", "60", start_new_session=apart)
        for apart in (False, True)
    ]
    try:
        await shell(executor, "sleep 60 & exit", timeout_seconds=10)
        assert [is_alive(other.pid) for other in others] == [True, True]
    finally:
        for other in others:
            other.kill()
            await other.wait()


@needs_proc
async def test_cancelling_ends_the_whole_tree(executor: CommandExecutor, root: Path) -> None:
    code = f"{DOUBLE_FORK}\nopen('main', 'w').write(str(os.getpid()))\ntime.sleep(60)"
    running = asyncio.create_task(python(executor, code, timeout_seconds=60))
    async with asyncio.timeout(15):
        while not (root / "main").exists() or not (root / "main").read_text():
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    for name in ("main", "stray"):
        assert await is_gone_soon(int((root / name).read_text()))


async def test_cancelling_twice_ends_it_at_once(root: Path) -> None:
    executor = CommandExecutor(root, search_path=SEARCH_PATH, grace_seconds=60)
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("main", "w").write(str(os.getpid()))
time.sleep(60)
"""
    running = asyncio.create_task(python(executor, code, timeout_seconds=60))
    async with asyncio.timeout(15):
        while not (root / "main").exists() or not (root / "main").read_text():
            await asyncio.sleep(0.01)
        for _ in range(2):
            running.cancel()
            await asyncio.sleep(0.1)
        with pytest.raises(asyncio.CancelledError):
            await running
    assert await is_gone_soon(int((root / "main").read_text()))


async def test_command_that_closes_its_streams_is_still_waited_for(
    executor: CommandExecutor,
) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(5)"
    outcome = await python(executor, code)
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 5)


async def test_command_killed_by_a_signal_is_told_from_one_that_exits(
    executor: CommandExecutor,
) -> None:
    code = "import os; print('x', flush=True); os.kill(os.getpid(), 9)"
    outcome = await python(executor, code)
    assert (outcome.ending, outcome.exit_code, outcome.stdout) == (
        Ending.KILLED,
        -signal.SIGKILL,
        b"x\n",
    )


async def test_several_commands_run_side_by_side(executor: CommandExecutor) -> None:
    outcomes = await asyncio.gather(
        *(executor.run(one(["echo", str(n)]), timeout_seconds=20) for n in range(10))
    )
    assert [outcome.stdout for outcome in outcomes] == [b"%d\n" % n for n in range(10)]


async def test_program_that_is_not_there_is_said_to_be_missing(executor: CommandExecutor) -> None:
    assert await refusal(executor, "no-such-program") == (
        CommandExecutionError,
        "`no-such-program` is not installed on this machine",
    )


@pytest.mark.parametrize("name", ["", ".", "..", "caf\ud800"])
async def test_name_that_is_none_is_said_to_be_missing(
    executor: CommandExecutor, name: str
) -> None:
    assert (await refusal(executor, name))[0] is CommandExecutionError


@pytest.mark.parametrize("argv", [["ec\0ho"], ["echo", "a\0b"], ["./a\0b"]])
async def test_zero_byte_is_refused(executor: CommandExecutor, argv: list[str]) -> None:
    assert await refusal(executor, *argv) == (
        CommandExecutionError,
        "an argument cannot contain a zero byte",
    )


async def test_bare_name_never_means_a_file_of_the_workspace(root: Path) -> None:
    program(root / "bin" / "tool", "#!/bin/sh\necho planted\n")
    program(root / "tool", "#!/bin/sh\necho planted\n")
    executor = CommandExecutor(root, search_path=(str(root / "bin"), ".", "/usr/bin", "/bin"))
    assert await refusal(executor, "tool") == (
        CommandExecutionError,
        "`tool` is not installed on this machine",
    )
    outcome = await executor.run(one(["env"]), timeout_seconds=10)
    assert str(root / "bin").encode() not in outcome.stdout


async def test_link_from_outside_does_not_make_it_one(root: Path, tmp_path: Path) -> None:
    program(root / "tool", "#!/bin/sh\necho planted\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to(root / "tool")
    executor = CommandExecutor(root, search_path=(str(tmp_path / "bin"),))
    assert (await refusal(executor, "tool"))[0] is CommandExecutionError


async def test_file_that_may_not_be_run_is_passed_over(root: Path, tmp_path: Path) -> None:
    for name, says in (("first", "no"), ("second", "yes")):
        program(tmp_path / name / "tool", f"#!/bin/sh\necho {says}\n")
    (tmp_path / "first" / "tool").chmod(0o644)
    executor = CommandExecutor(
        root, search_path=(str(tmp_path / "first"), str(tmp_path / "second"))
    )
    assert (await executor.run(one(["tool"]), timeout_seconds=10)).stdout == b"yes\n"


@pytest.mark.parametrize("name", ["./run.sh", "scripts/../run.sh", "{root}/run.sh", "./link"])
async def test_program_of_the_workspace_runs_by_its_path(
    executor: CommandExecutor, root: Path, name: str
) -> None:
    program(root / "run.sh", "#!/bin/sh\necho mine $1\n")
    (root / "scripts").mkdir()
    (root / "link").symlink_to("run.sh")
    argv = [name.format(root=root), "x"]
    assert (await executor.run(one(argv), timeout_seconds=10)).stdout == b"mine x\n"


@pytest.mark.parametrize("name", ["/bin/echo", "../outside", "./link", "folder/echo"])
async def test_path_that_leads_out_of_the_workspace_is_refused(
    executor: CommandExecutor, root: Path, name: str
) -> None:
    program(root.parent / "outside", "#!/bin/sh\necho outside\n")
    (root / "link").symlink_to("/bin/echo")
    (root / "folder").symlink_to("/bin")
    assert await refusal(executor, name) == (
        PathValidationError,
        f"{name} leads out of the workspace",
    )


async def test_file_that_is_no_program_is_refused(executor: CommandExecutor, root: Path) -> None:
    (root / "notes").write_text("x")
    (root / "folder").mkdir()
    for name in ("./notes", "./folder", "./nothing"):
        assert await refusal(executor, name) == (
            CommandExecutionError,
            f"{name} does not exist, or is not a program",
        )


async def test_program_that_cannot_be_started_is_said_to_be_so(
    executor: CommandExecutor, root: Path
) -> None:
    program(root / "odd", "#!/no/such/interpreter\n")
    kind, message = await refusal(executor, "./odd")
    assert kind is CommandExecutionError
    assert message == f"{root}/odd could not be started: No such file or directory"


async def test_workspace_that_is_gone_is_said_to_be_so(
    executor: CommandExecutor, root: Path
) -> None:
    root.rmdir()
    kind, message = await refusal(executor, "echo")
    assert kind is CommandExecutionError
    assert "could not be started" in message


@needs_proc
async def test_nothing_is_left_behind(
    executor: CommandExecutor, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(homes))
    program(root / "odd", "#!/no/such/interpreter\n")
    await executor.run(one(["true"]), timeout_seconds=10)
    descriptors, dead = os.listdir("/proc/self/fd"), unburied()
    for argv in (["echo", "x"], ["sleep", "60"], ["yes"], ["./odd"], ["nothing"], ["false"]):
        try:
            await executor.run(one(argv), timeout_seconds=0.2)
        except ToolError:
            continue
    assert os.listdir("/proc/self/fd") == descriptors
    assert list(homes.iterdir()) == []
    assert unburied() <= dead


Making = Callable[[Path], Commands]


@pytest.mark.parametrize(
    "make", [lambda _: FakeCommands({"pwd": b""}), CommandExecutor], ids=["fake", "real"]
)
async def test_stand_in_behaves_like_the_real_one(root: Path, make: Making) -> None:
    commands = make(root)
    outcome = await commands.run(one(["pwd"]), timeout_seconds=10)
    assert (outcome.ending, outcome.exit_code, outcome.stderr) == (Ending.EXITED, 0, b"")
    with pytest.raises(
        CommandExecutionError, match=r"^`nothing` is not installed on this machine$"
    ):
        await commands.run(one(["nothing"]), timeout_seconds=10)


def on_uvloop(work: Coroutine[Any, Any, CommandOutcome]) -> CommandOutcome:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


@pytest.mark.parametrize(
    ("argv", "ending", "stdout"),
    [
        (["echo", "x"], Ending.EXITED, b"x\n"),
        (["sleep", "60"], Ending.TIMED_OUT, b""),
        ([PYTHON.name, "-c", "import os; os.kill(os.getpid(), 9)"], Ending.KILLED, b""),
        (
            [PYTHON.name, "-c", "import subprocess; subprocess.Popen(['sleep', '60'])"],
            Ending.EXITED,
            b"",
        ),
    ],
    ids=["exits", "takes too long", "is killed", "leaves a child"],
)
def test_all_is_the_same_on_the_fast_loop(
    executor: CommandExecutor, argv: list[str], ending: Ending, stdout: bytes
) -> None:
    outcome = on_uvloop(executor.run(one(argv), timeout_seconds=2))
    assert (outcome.ending, outcome.stdout) == (ending, stdout)


def test_missing_program_is_told_on_the_fast_loop_too(
    executor: CommandExecutor, root: Path
) -> None:
    program(root / "odd", "#!/no/such/interpreter\n")
    with pytest.raises(CommandExecutionError, match="could not be started"):
        on_uvloop(executor.run(one(["./odd"]), timeout_seconds=5))

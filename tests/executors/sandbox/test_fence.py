"""Behind a fence, what was approved changes the workspace and nothing else that a fence knows."""

import asyncio
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile, Wall
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.sandbox import fence_probe
from handrail.executors.sandbox.bubblewrap import View
from handrail.executors.sandbox.fence import Fence, ground
from handrail.executors.sandbox.fence_probe import prove_fence
from handrail.executors.sandbox.landlock import LOOK, Allowed, Right, make_ruleset, version
from handrail.executors.sandbox.seccomp import filter_for
from tests.executors.conftest import one

READ, WRITE, NET = Profile.READ, Profile.WRITE, Profile.NET
BASE = os.path.realpath(sys.base_prefix)


@pytest.fixture(scope="session")
def walls() -> tuple[Wall, ...]:
    found = prove_fence()
    if not found:
        pytest.skip(f"no fence holds here: Landlock of this kernel has version {version()}")
    return found


@pytest.fixture
def executor(root: Path, guarded: GuardedNames, walls: tuple[Wall, ...]) -> CommandExecutor:
    fence = Fence(walls, guarded, [BASE])
    search_path = (f"{BASE}/bin", *SEARCH_PATH)
    identity = [("user.name", "Ada"), ("user.email", "ada@example.com")]
    return CommandExecutor(
        root, fence=fence, search_path=search_path, grace_seconds=0.5, identity=identity
    )


async def shell(
    executor: CommandExecutor, script: str, *words: str, profile: Profile = WRITE
) -> CommandOutcome:
    return await executor.run(one(["sh", "-c", script, "sh", *words], profile), timeout_seconds=60)


async def python(executor: CommandExecutor, script: str, profile: Profile = WRITE) -> str:
    outcome = await executor.run(one(["python3", "-c", script], profile), timeout_seconds=60)
    return (outcome.stdout + outcome.stderr).decode()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


# What is proven


def test_its_walls_are_proven_here_and_make_no_box(walls: tuple[Wall, ...]) -> None:
    assert walls == (Wall.LANDLOCK, Wall.SECCOMP, Wall.LIMITS)
    assert not Isolation(walls).holds


def test_a_fence_that_keeps_nothing_in_is_not_taken_for_one(
    walls: tuple[Wall, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = [Allowed("/", Right((1 << 16) - 1))]
    monkeypatch.setattr("handrail.executors.sandbox.fence.ground", lambda *_: everything)
    assert prove_fence() == ()


def test_one_without_a_filter_has_no_such_wall(
    walls: tuple[Wall, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
    monkeypatch.setattr(
        "handrail.executors.sandbox.fence.filter_for", lambda profile, fenced: everything
    )
    assert Wall.SECCOMP not in prove_fence()


def test_an_older_landlock_than_one_that_keeps_files_whole_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fence_probe, "version", lambda: 2)
    assert prove_fence() == ()


# What it does


async def test_an_approved_command_changes_the_workspace(
    executor: CommandExecutor, root: Path
) -> None:
    outcome = await shell(executor, "echo hello > made.txt; mkdir sub; mv made.txt sub; ls sub")
    assert (outcome.exit_code, outcome.stdout) == (0, b"made.txt\n")
    assert (root / "sub/made.txt").read_text() == "hello\n"
    assert outcome.walls == (Wall.LANDLOCK, Wall.SECCOMP, Wall.LIMITS)


@pytest.mark.parametrize("profile", [READ, WRITE])
@pytest.mark.parametrize(
    "attempt",
    [
        *('read -r x < "$1/secret.txt" && echo "$x"', 'echo x > "$1/new.txt"'),
        *('echo x >> "$1/secret.txt"', 'cat "$1/secret.txt"', 'ls "$1"', 'rm "$1/secret.txt"'),
        *('ln "$1/secret.txt" mine', 'mv "$1/secret.txt" .', 'truncate -s 0 "$1/secret.txt"'),
        'ln -s "$1/secret.txt" link; cat link',
    ],
)
async def test_nothing_outside_is_read_or_written(
    executor: CommandExecutor, outside: Path, attempt: str, profile: Profile
) -> None:
    in_the_open = CommandExecutor(executor.root)
    before = sorted(os.listdir(outside))

    outcome = await shell(executor, attempt, str(outside), profile=profile)

    assert b"secret\n" not in outcome.stdout
    assert outcome.exit_code != 0
    assert sorted(os.listdir(outside)) == before
    assert (outside / "secret.txt").read_text() == "secret"
    # The same without a fence: else this would say nothing.
    for leftover in ("link", "mine"):
        (Path(executor.root) / leftover).unlink(missing_ok=True)
    assert (await shell(in_the_open, attempt, str(outside))).exit_code in (0, 1)


async def test_who_only_reads_changes_nothing_and_starts_nobody(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "a.txt").write_text("a")
    script = """
import os
for attempt in (
    lambda: open("b.txt", "w"), lambda: open("a.txt", "r+"), lambda: os.truncate("a.txt", 0),
    lambda: os.chmod("a.txt", 0o777), lambda: os.utime("a.txt", (1, 1)), lambda: os.remove("a.txt"),
    lambda: os.setxattr("a.txt", "user.x", b"1"), lambda: os.chown("a.txt", 0, 0),
    lambda: os.fork(), lambda: os.mkdir("sub"), lambda: open(os.environ["HOME"] + "/x", "w"),
):
    try:
        attempt()
        print("succeeded")
    except OSError as error:
        print("refused")
"""
    before = (root / "a.txt").stat()
    assert (await python(executor, script, READ)).split() == ["refused"] * 11
    after = (root / "a.txt").stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_size) == (
        before.st_mode,
        before.st_mtime_ns,
        1,
    )
    assert os.listdir(root) == ["a.txt"]


async def test_who_only_reads_sees_no_guarded_file(executor: CommandExecutor, root: Path) -> None:
    (root / "app/conf").mkdir(parents=True)
    (root / ".env").write_text("top secret")
    (root / "app/conf/id_rsa").write_text("key")
    (root / "app/conf/plain.txt").write_text("plain")
    (root / "notes.txt").write_text("notes")
    (root / "link").symlink_to(".env")

    words = one(["cat", "notes.txt", "app/conf/plain.txt"], READ)
    assert (await executor.run(words, timeout_seconds=60)).stdout == b"notesplain"
    for name in (".env", "app/conf/id_rsa", "link"):
        hidden = await executor.run(one(["cat", name], READ), timeout_seconds=60)
        assert (hidden.stdout, hidden.exit_code) == (b"", 1)


@pytest.mark.parametrize("profile", [READ, WRITE])
async def test_there_is_no_network_not_even_to_this_machine(
    executor: CommandExecutor, profile: Profile
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"""
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    try:
        socket.socket(family)
        print("opened")
    except OSError:
        print("refused")
socket.create_connection(("127.0.0.1", {port}))
"""
        said = await python(executor, script, profile)
    assert said.split()[:4] == ["refused"] * 4
    assert "PermissionError" in said


async def test_what_needs_the_network_is_refused_in_a_sentence(executor: CommandExecutor) -> None:
    with pytest.raises(CommandExecutionError, match="install bubblewrap"):
        await executor.run(one(["true"], NET), timeout_seconds=10)


async def test_others_of_the_same_person_cannot_be_ended(executor: CommandExecutor) -> None:
    if version() < 6:
        pytest.skip(f"Landlock of this kernel has version {version()}, and 6 knows of signals")
    with subprocess.Popen(["sleep", "60"]) as other:
        outcome = await shell(executor, "kill $1", str(other.pid))
        assert outcome.exit_code != 0
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize("name", ["environ", "cmdline", "maps", "root/etc/hostname", "fd/0"])
async def test_nothing_of_other_processes_can_be_read(executor: CommandExecutor, name: str) -> None:
    outcome = await shell(executor, 'cat "/proc/$1/$2" && echo', str(os.getpid()), name)
    assert outcome.stdout == b""
    assert outcome.exit_code != 0


async def test_a_program_sees_what_the_kernel_tells_of_itself(executor: CommandExecutor) -> None:
    script = "print(open('/proc/self/status').readline(), open('/proc/meminfo').readline())"
    assert "MemTotal" in await python(executor, script)


async def test_what_it_starts_ends_with_it(executor: CommandExecutor, root: Path) -> None:
    outcome = await executor.run(
        one(["sh", "-c", "setsid sh -c 'echo $$ > pid; sleep 100' & sleep 100"]),
        timeout_seconds=1,
    )
    assert outcome.ending is Ending.TIMED_OUT
    pid = int((root / "pid").read_text())
    assert not os.path.exists(f"/proc/{pid}") or "Z" in _state(pid)


LEAVING = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        script = "echo $$ > pid.part; mv pid.part pid; while :; do sleep 0.1; done"
        os.execve("/bin/sh", ["sh", "-c", script], {})
    os._exit(0)
while not os.path.exists("pid"):
    time.sleep(0.01)
"""


@pytest.mark.parametrize("rest", ["time.sleep(100)", "sys.exit(3)", "os.abort()"])
async def test_who_has_left_its_session_and_shed_its_environment_ends_too(
    executor: CommandExecutor, root: Path, rest: str
) -> None:
    words = one(["python3", "-c", LEAVING + rest])
    outcome = await executor.run(words, timeout_seconds=3 if "sleep(100)" in rest else 60)

    told = {"time": (Ending.TIMED_OUT, None), "sys": (Ending.EXITED, 3), "os": (Ending.KILLED, -6)}
    assert (outcome.ending, outcome.exit_code) == told[rest.partition(".")[0]]
    assert _state(int((root / "pid").read_text())) == "Z"


async def test_who_has_left_ends_when_handrail_does(root: Path, walls: tuple[Wall, ...]) -> None:
    script = f"""
import asyncio
from handrail.core.box import Profile
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.sandbox.fence import Fence
from handrail.executors.sandbox.bubblewrap import View
class Views:
    root = {str(root)!r}
    def view(self, **_):
        return View({str(root)!r})
fence = Fence((), Views(), [{BASE!r}])
executor = CommandExecutor({str(root)!r}, fence=fence, search_path=({f"{BASE}/bin"!r}, "/usr/bin"))
stage = Stage(("python3", "-c", {LEAVING + "time.sleep(100)"!r}), Profile.WRITE)
asyncio.run(executor.run([stage], timeout_seconds=60))
"""
    with subprocess.Popen([sys.executable, "-c", script]) as other:
        await until(lambda: (root / "pid").exists())
        other.kill()
    pid = int((root / "pid").read_text())
    await until(lambda: _state(pid) == "Z")


async def until(comes_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not comes_true():
            await asyncio.sleep(0.01)


async def test_others_of_the_same_person_cannot_be_limited(executor: CommandExecutor) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        script = "import resource; resource.prlimit({}, resource.RLIMIT_CPU, (1, 1)); print('done')"
        said = await python(executor, script.format(other.pid))
        own = await python(executor, script.format(0))
        other.kill()
    assert "PermissionError" in said
    assert own == "done\n"


@pytest.mark.parametrize(
    "call",
    [
        *("os.setpriority(os.PRIO_PROCESS, {}, 19)", "os.setpriority(os.PRIO_PGRP, 0, 19)"),
        *("os.setpriority(os.PRIO_USER, 0, 19)", "os.sched_setaffinity({}, [0])"),
        "os.sched_setscheduler({}, os.SCHED_IDLE, os.sched_param(0))",
    ],
)
async def test_others_of_the_same_person_cannot_be_slowed_down(
    executor: CommandExecutor, call: str
) -> None:
    said = await python(executor, f"import os; {call.format('os.getppid()')}; print('done')")
    assert "PermissionError" in said


async def test_a_program_may_slow_itself_down(executor: CommandExecutor) -> None:
    script = (
        "import os; os.nice(1); os.sched_setaffinity(0, os.sched_getaffinity(0)); print('done')"
    )
    assert await python(executor, script) == "done\n"


WALKING = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        end = time.time() + 30
        while time.time() < end:
            with open('alive', 'a') as file:
                file.write('x')
            if os.fork():
                os._exit(0)
        os._exit(0)
time.sleep(100)
"""


async def test_who_is_always_another_one_ends_with_the_call(
    executor: CommandExecutor, root: Path
) -> None:
    outcome = await executor.run(one(["python3", "-c", WALKING]), timeout_seconds=2)
    written = (root / "alive").stat().st_size
    await asyncio.sleep(0.5)

    assert outcome.ending is Ending.TIMED_OUT
    assert (root / "alive").stat().st_size == written > 0


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


async def test_work_is_done_behind_it(executor: CommandExecutor, root: Path) -> None:
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / "notes.md").write_text("hello\n")
    for words in (["git", "add", "."], ["git", "commit", "-m", "Say hello"]):
        outcome = await executor.run(one(words), timeout_seconds=60)
        assert outcome.exit_code == 0, outcome.stderr
    told = await executor.run(one(["git", "log", "--format=%s"], READ), timeout_seconds=60)
    assert told.stdout == b"Say hello\n"
    await shell(executor, "printf '#!/bin/sh\\necho built' > tool && chmod +x tool")
    assert (await executor.run(one(["./tool"]), timeout_seconds=60)).stdout == b"built\n"


async def test_a_program_that_is_not_there_is_said(executor: CommandExecutor, root: Path) -> None:
    (root / "odd").write_text("#!/no/such/interpreter\n")
    (root / "odd").chmod(0o755)
    outcome = await executor.run(one(["./odd"]), timeout_seconds=60)
    assert outcome.exit_code == 125
    assert b"could not be started behind a fence" in outcome.stderr


# Without a kernel


def test_beside_what_is_hidden_each_name_is_allowed_by_itself(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / "a/b").mkdir(parents=True)
    for name in ("x", "a/y", "a/b/z", "a/b/.env"):
        (root / name).write_text("")
    view = View(str(root), hidden_files=(str(root / "a/b/.env"),))
    found = {a.path: a.rights for a in ground(READ, view, "/home-of-it")}
    assert found[str(root)] == Right.READ_DIR
    for name in ("x", "a/y", "a/b/z"):
        assert found[str(root / name)] == LOOK
    for name in ("a", "a/b", "a/b/.env"):
        assert str(root / name) not in found


def test_without_anything_hidden_the_workspace_is_one_rule(tmp_path: Path) -> None:
    assert Allowed(str(tmp_path), LOOK) in list(ground(READ, View(str(tmp_path)), "/h"))


def test_there_is_a_filter_for_each_known_machine() -> None:
    for machine in ("x86_64", "aarch64"):
        plain = filter_for(WRITE, machine)
        assert len(filter_for(WRITE, machine, fenced=True)) > len(plain)
        assert len(filter_for(READ, machine, fenced=True)) > len(filter_for(READ, machine))


def test_what_does_not_exist_is_left_out_of_the_rules() -> None:
    if version() < 1:
        pytest.skip("this kernel has no Landlock")
    os.close(make_ruleset([Allowed("/no/such/place", LOOK), Allowed("/usr", LOOK)]))

"""However a tree of processes resists, it is gone when its call has ended; and so is its output."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.outcome import Ending
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.sandbox.box import Programs
from handrail.policy.validators.sizes import MEGABYTE
from tests.adversarial.boxes import boxed, run
from tests.adversarial.people import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

PATIENCE_SECONDS = 20

# Ignores what can be ignored, leaves its parents, their group and their session, and pours out.
# The mark is the last word of each of them.
HYDRA = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            break
        os._exit(0)
open(f"alive-{os.getpid()}", "w").close()
while True:
    for stream in (1, 2):
        try: os.write(stream, b"x" * 65536)
        except OSError: time.sleep(0.01)
"""


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    return made


@pytest.fixture
def mark() -> str:
    """A word that nobody else has; to `sleep` it is a very long time."""
    return str(random.randrange(10**11, 10**12))


@pytest.fixture
def executor(ws: Path, programs: Programs, isolation: Isolation) -> Generator[CommandExecutor]:
    with boxed(ws, programs, isolation, grace_seconds=0.3) as made:
        yield made


def alive(mark: str) -> list[int]:
    """Who has the mark among their words; the dead have no words."""
    found: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in words.split(b"\0"):
            found.append(int(name))
    return found


def are_gone_soon(mark: str) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while alive(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def client(ws: Path, keeper: str, *argv: str) -> Generator[subprocess.Popen[str]]:
    """A client that runs a command, and is killed at the latest with the block."""
    program = Path(__file__).with_name("supervisor.py")
    with subprocess.Popen(
        [sys.executable, program, ws, keeper, *argv],
        env={"PATH": os.defpath, "PYTHONPATH": f"{REPOSITORY}/src:{REPOSITORY}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


async def test_a_tree_that_resists_in_every_way_is_gone_after_the_time_and_the_grace(
    ws: Path, programs: Programs, isolation: Isolation, mark: str
) -> None:
    with boxed(ws, programs, isolation, grace_seconds=5.0) as executor:
        outcome = await run(executor, "python3", "-c", HYDRA, mark, seconds=2)

    assert alive(mark) == []
    assert len(list(ws.glob("alive-*"))) == 5, "they did not all come to life"
    assert outcome.ending is Ending.TIMED_OUT
    assert 7 <= outcome.seconds < 7 + PATIENCE_SECONDS
    for kept, lost in (
        (outcome.stdout, outcome.stdout_lost),
        (outcome.stderr, outcome.stderr_lost),
    ):
        assert len(kept) == MEGABYTE
        assert lost > 0


async def test_what_is_not_kept_is_counted_to_the_byte(executor: CommandExecutor) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for stream, count in ((1, 3_000_003), (2, 1_000_001)):
    data = b"x" * count
    while data: data = data[os.write(stream, data):]
time.sleep(60)
"""
    outcome = await run(executor, "python3", "-c", code, seconds=3)

    assert outcome.ending is Ending.TIMED_OUT
    assert (len(outcome.stdout), outcome.stdout_lost) == (MEGABYTE, 3_000_003 - MEGABYTE)
    assert (len(outcome.stderr), outcome.stderr_lost) == (MEGABYTE, 1_000_001 - MEGABYTE)


@pytest.mark.parametrize("profile", [Profile.READ, Profile.WRITE])
async def test_who_stops_all_that_it_can_is_ended_none_the_less(
    executor: CommandExecutor, mark: str, profile: Profile
) -> None:
    code = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
    if os.fork() == 0:
        while True: signal.pause()
except OSError: pass
for pid in filter(str.isdecimal, os.listdir("/proc")):
    if int(pid) != os.getpid(): os.kill(int(pid), signal.SIGSTOP)
print("stopped", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""
    outcome = await run(executor, "python3", "-c", code, mark, profile=profile, seconds=2)

    assert alive(mark) == []
    assert (outcome.ending, outcome.stdout[:8]) == (Ending.TIMED_OUT, b"stopped\n")


async def test_who_keeps_multiplying_is_ended_with_all_its_kind(
    executor: CommandExecutor, mark: str
) -> None:
    code = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(150):
    try:
        if os.fork() == 0: os.setsid()
        else: os._exit(0) if _ % 3 else None
    except OSError: pass
    time.sleep(0.01)
time.sleep(60)
"""
    outcome = await run(executor, "python3", "-c", code, mark, seconds=2)

    assert alive(mark) == []
    assert outcome.ending in (Ending.TIMED_OUT, Ending.EXITED)


async def test_a_call_that_is_called_off_at_any_moment_leaves_nobody(
    executor: CommandExecutor, mark: str
) -> None:
    for moment in range(24):
        running = asyncio.create_task(run(executor, "sleep", mark, seconds=60))
        await asyncio.sleep(moment * 0.003)
        running.cancel()
        async with asyncio.timeout(PATIENCE_SECONDS):
            with pytest.raises(asyncio.CancelledError):
                await running
        assert alive(mark) == [], f"called off after {moment * 3} ms"


async def test_calling_off_ends_a_tree_that_resists(
    executor: CommandExecutor, ws: Path, mark: str
) -> None:
    running = asyncio.create_task(run(executor, "python3", "-c", HYDRA, mark, seconds=60))
    while len(list(ws.glob("alive-*"))) < 5:
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert alive(mark) == []


def test_a_client_that_is_killed_takes_all_that_it_runs_with_it(
    ws: Path, isolation: Isolation, mark: str
) -> None:
    with client(ws, "", "python3", "-c", HYDRA, mark) as process:
        end = time.monotonic() + PATIENCE_SECONDS
        while len(list(ws.glob("alive-*"))) < 5:
            assert time.monotonic() < end, "they did not come to life"
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()

    assert are_gone_soon(mark)


def test_what_a_client_leaves_that_is_killed_as_it_starts_its_next_life_ends(
    ws: Path, programs: Programs, isolation: Isolation, mark: str
) -> None:
    for moment in range(8):
        with client(ws, mark, "sleep", mark) as process:
            time.sleep(moment * 0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
    # A box that was being made gives up when it comes to what nobody hands it any more.
    time.sleep(0.5)

    with boxed(ws, programs, isolation, keeper=mark) as next_life:
        next_life.end_what_was_left()

    assert are_gone_soon(mark)

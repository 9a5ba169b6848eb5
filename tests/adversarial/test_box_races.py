"""Somebody moves names about while boxes are made of them."""

import asyncio
import os
import platform
import subprocess
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.errors import CommandExecutionError
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.sandbox.box import Programs
from tests.adversarial.boxes import boxed, run

RENAMEAT2 = {"x86_64": 316, "aarch64": 276}.get(platform.machine(), 0)
SECRET = "TOPSECRET"
MOST_SECONDS = 20
TIMES = 12

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(not RENAMEAT2, reason="this processor's number for the call is not known"),
]

# Makes a folder with a guarded name in it, and exchanges it for a link until it is told to stop.
SWAPPER = """
import ctypes, os, sys, time
number, folder, target = int(sys.argv[1]), sys.argv[2], sys.argv[3]
os.chdir(folder)
os.mkdir("decoy"); open("decoy/.env", "w").close(); os.mkdir("decoy/.git")
os.symlink(target, "link")
open("swapping", "w").close()
syscall = ctypes.CDLL(None).syscall
while not os.path.exists("stop"):
    syscall(number, -100, b"decoy", -100, b"link", 2)
    time.sleep(0.0005)
"""
# Reads and writes by every name that the folder outside may have got.
GRAB = "cat decoy/secret link/secret; echo x > decoy/written; echo x > link/written"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    (made / "secret").write_text(SECRET)
    return made


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws" / "inner").mkdir(parents=True)
    return tmp_path / "ws"


@asynccontextmanager
async def swapping(
    executor: CommandExecutor, ws: Path, folder: str, outside: Path
) -> AsyncGenerator[None]:
    """A command that was approved does it, in a box of its own."""
    words = ["python3", "-c", SWAPPER, str(RENAMEAT2), folder, str(outside)]
    async with asyncio.TaskGroup() as group:
        moving = group.create_task(run(executor, *words, seconds=120))
        try:
            while not (ws / folder / "swapping").exists():
                assert not moving.done(), moving.result().stderr
                await asyncio.sleep(0.02)
            yield
            assert not moving.done(), "nobody was swapping any more: the test is void"
        finally:
            (ws / folder / "stop").touch()


async def grab(executor: CommandExecutor, profile: Profile) -> str:
    try:
        outcome = await run(executor, "sh", "-c", GRAB, profile=profile)
    except CommandExecutionError:
        return "refused"
    return "stolen" if SECRET.encode() in outcome.stdout else "nothing"


@pytest.mark.parametrize("profile", [Profile.READ, Profile.WRITE])
async def test_a_command_that_moves_names_gets_nothing_for_the_next_one(
    ws: Path, outside: Path, programs: Programs, isolation: Isolation, profile: Profile
) -> None:
    with boxed(ws, programs, isolation) as executor:
        async with swapping(executor, ws, ".", outside):
            seen = Counter([await grab(executor, profile) for _ in range(TIMES)])

        assert seen["stolen"] == 0
        assert os.listdir(outside) == ["secret"]
        # What had appeared could not be covered safely, so nothing was run; now it can.
        assert seen["refused"] > 0
        assert await grab(executor, profile) == "nothing"


async def test_nor_does_it_for_the_workspace_of_another_client(
    ws: Path, outside: Path, programs: Programs, isolation: Isolation
) -> None:
    """Nobody there knows of the other; what is bound must be what was looked at."""
    with boxed(ws, programs, isolation) as outer, boxed(ws / "inner", programs, isolation) as inner:
        async with swapping(outer, ws, "inner", outside):
            seen = Counter([await grab(inner, Profile.WRITE) for _ in range(TIMES)])

    assert seen["stolen"] == 0
    assert (outside / "secret").read_text() == SECRET
    assert not (outside / "written").exists()


async def test_binding_by_names_alone_is_beaten_in_the_same_place(
    ws: Path, outside: Path, programs: Programs, isolation: Isolation
) -> None:
    told = [programs.bwrap, "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib"]
    told += ["/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin"]
    told += ["--bind", str(ws), str(ws), "--bind", str(ws / "decoy"), str(ws / "decoy")]
    told += ["--chdir", str(ws), "--", "/bin/sh", "-c", GRAB]
    end = time.monotonic() + MOST_SECONDS
    stolen = False
    with boxed(ws, programs, isolation) as executor:
        async with swapping(executor, ws, ".", outside):
            while not stolen and time.monotonic() < end:
                done = await asyncio.to_thread(
                    subprocess.run, told, capture_output=True, text=True, check=False
                )
                stolen = SECRET in done.stdout or (outside / "written").exists()

    assert stolen, "the place is no danger to anyone, so it proves nothing"


async def test_a_secret_stays_covered_while_somebody_tries_to_move_its_folder(
    ws: Path, programs: Programs, isolation: Isolation
) -> None:
    (ws / "keys").mkdir()
    (ws / "keys" / "id_rsa").write_text(SECRET)
    code = """
import ctypes, os, sys
os.mkdir("other")
syscall = ctypes.CDLL(None).syscall
open("swapping", "w").close()
while not os.path.exists("stop"):
    syscall(int(sys.argv[1]), -100, b"keys", -100, b"other", 2)
    syscall(int(sys.argv[1]), -100, b"keys", -100, b"moved", 1)
"""
    with boxed(ws, programs, isolation) as executor:
        async with asyncio.TaskGroup() as group:
            group.create_task(run(executor, "python3", "-c", code, str(RENAMEAT2), seconds=120))
            while not (ws / "swapping").exists():
                await asyncio.sleep(0.02)
            words = ["cat", "keys/id_rsa", "other/id_rsa", "moved/id_rsa"]
            said = [
                (await run(executor, *words, profile=profile)).stdout
                for profile in [Profile.READ, Profile.WRITE] * (TIMES // 2)
            ]
            (ws / "stop").touch()

    assert said == [b""] * TIMES
    assert (ws / "keys" / "id_rsa").read_text() == SECRET


async def test_commands_that_come_and_go_beside_each_other_are_all_run(
    ws: Path, programs: Programs, isolation: Isolation
) -> None:
    """Each covers what does not exist, and the last one out takes the covers away."""
    with boxed(ws, programs, isolation) as executor:

        async def come(number: int) -> int | None:
            await asyncio.sleep(number * 0.01)
            return (await run(executor, "true", seconds=60)).exit_code

        assert await asyncio.gather(*map(come, range(20))) == [0] * 20
    assert os.listdir(ws) == ["inner"]

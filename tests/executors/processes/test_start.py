"""Each process gets the file descriptors that are meant for it, whatever else is inheritable."""

import ast
import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvloop

import handrail
from handrail.app.editor import edit_text
from handrail.core.box import Isolation, Profile
from handrail.core.effects import Effects
from handrail.core.errors import BadInput, CommandExecutionError, FileOperationError
from handrail.core.search import Query
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.commands.starting import BoxStarter, OpenStarter, Starter
from handrail.executors.drafts import patch
from handrail.executors.drafts.patch import write_patch
from handrail.executors.drafts.summing import Summed
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor
from handrail.executors.git.environment import own_identity
from handrail.executors.git.outside import OutsideGit
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.judging.pool import JudgingPool
from handrail.executors.network import listener
from handrail.executors.network.hosts import Networks
from handrail.executors.processes.memory import in_memory
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.programs import ProgramFinder
from handrail.executors.processes.start import Process, start_process
from handrail.executors.rehearsal.git_reading import ReadEffects
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.rehearser import Rehearser
from handrail.executors.sandbox.box import Box, Programs
from handrail.executors.sandbox.fence import Fence
from handrail.executors.sandbox.fence_probe import prove_fence
from handrail.policy.rulebook.book import Rulebook, operator_rules
from tests.executors.conftest import one
from tests.executors.network.net_box import box as net_box

SOURCE = Path(handrail.__file__).parent
LIST = 'for n in /proc/self/fd/*; do [ -L "$n" ] && echo "${n##*/}"; done'
LIST_IN_PYTHON = """
import os, sys
found = [n for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")]
print(*found, *(f"meant:{n}" for n in sys.argv[1:3]), sep="\\n", file=open(OUT, "w"))
"""
LOOPS = {"asyncio": asyncio.run, "uvloop": uvloop.run}

Run = Callable[[Coroutine[Any, Any, None]], None]


@dataclass(frozen=True)
class Place:
    """A workspace, what its boxes and fences are made with, and a folder for programs."""

    root: Path
    folder: Path
    box: Box
    fence: Fence
    files: FileSystemExecutor
    monkeypatch: pytest.MonkeyPatch

    @property
    def told(self) -> Path:
        return self.folder / "told"

    def program(self, name: str) -> str:
        """A program that writes down its descriptors; not those by which a shell reads a script."""
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nexec sh -c '{LIST}' > {self.told}\n")
        path.chmod(0o755)
        return str(path)


@pytest.fixture
def place(
    root: Path,
    tmp_path: Path,
    programs: Programs,
    isolation: Isolation,
    guarded: GuardedNames,
    files: FileSystemExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> Place:
    walls = prove_fence()
    if not walls:
        pytest.skip("no fence holds here")
    box, fence = Box(programs, isolation, guarded), Fence(walls, guarded)
    return Place(root, tmp_path, box, fence, files, monkeypatch)


@contextmanager
def leaking() -> Generator[int]:
    """A folder that is open, and inheritable, in this process."""
    fd = os.open("/", os.O_RDONLY)
    os.set_inheritable(fd, True)
    try:
        yield fd
    finally:
        os.close(fd)


@asynccontextmanager
async def another_box(place: Place) -> AsyncGenerator[None]:
    """While another command runs in a box of the same workspace."""
    executor = CommandExecutor(place.root, box=place.box)
    line = "touch began; while [ ! -e go ]; do sleep 0.02; done"
    running = asyncio.create_task(executor.run(one(["sh", "-c", line]), timeout_seconds=60))
    while not (place.root / "began").exists():
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        (place.root / "go").touch()
        await running


def descriptors(said: str) -> set[int]:
    return {int(word) for word in said.split()}


async def started(starter: Starter, profile: Profile) -> tuple[set[int], set[int]]:
    """What a command lists, and what was meant for it."""
    stage = Stage(("/bin/sh", "-c", LIST), profile)
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        with Output(10_000) as out:
            streams = Streams(nowhere, out.writer, nowhere)
            async with starter.start(stage, streams, 30) as tree:
                out.close_writer()
                await tree.process.wait()
                await out.ended.wait()
            return descriptors(bytes(out.kept).decode()), {0, 1, 2}
    finally:
        os.close(nowhere)


async def in_a_box(place: Place, profile: Profile) -> tuple[set[int], set[int]]:
    return await started(BoxStarter(place.box, "keeper"), profile)


async def behind_a_fence(place: Place, profile: Profile) -> tuple[set[int], set[int]]:
    return await started(OpenStarter(str(place.root), ("/bin",), fence=place.fence), profile)


async def in_the_open(place: Place) -> tuple[set[int], set[int]]:
    return await started(OpenStarter(str(place.root), ("/bin",)), Profile.WRITE)


async def in_a_rehearsal(place: Place, profile: Profile) -> tuple[set[int], set[int]]:
    with closing(Maker()) as maker:
        sessions = place.folder / "sessions"
        proof = await prove_rehearsals(maker, sessions)
        if not proof.holds:
            pytest.skip(f"nothing can be rehearsed on this machine: {proof.why_not}")
        executor = CommandExecutor(place.root, box=place.box)
        rehearser = Rehearser(executor, place.box, maker, sessions / "one", proof)
        rehearsal = await rehearser.rehearse(one(["sh", "-c", LIST], profile), timeout_seconds=30)
        await rehearsal.close()
        await rehearser.close()
    return descriptors(rehearsal.outcome.stdout.decode()), {0, 1, 2}


async def a_search(place: Place) -> tuple[set[int], set[int]]:
    class Lister(Ripgrep):
        @property
        def program(self) -> str:
            return place.program("rg")

    with Lister(str(place.root)) as ripgrep, suppress(CommandExecutionError):
        await SearchExecutor(place.files, ripgrep).search(Query("x"), ".", most=1)
    listed = descriptors(place.told.read_text())
    # The streams, and the folder that is searched.
    return listed, {0, 1, 2, max(listed)}


async def git_outside(place: Place) -> tuple[set[int], set[int]]:
    folder = os.path.dirname(place.program("git"))
    place.monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    await OutsideGit(str(place.folder), "https://example.com/a.git").succeeds("fetch")
    return descriptors(place.told.read_text()), {0, 1, 2}


async def a_package_manager(place: Place) -> tuple[set[int], set[int]]:
    place.program("asked")
    told = '[[network]]\nname = "x"\nask = [["asked"]]'
    rules = Rulebook(operator_rules(told, "policy.toml")).rules_for("")
    finder = ProgramFinder(str(place.root), (str(place.folder / "bin"), "/bin"))
    await Networks(rules, finder).reachable_by(["x"])
    return descriptors(place.told.read_text()), {0, 1, 2}


async def gits_own_identity(place: Place) -> tuple[set[int], set[int]]:
    folder = os.path.dirname(place.program("git"))
    place.monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    await asyncio.to_thread(own_identity)
    return descriptors(place.told.read_text()), {0, 1, 2}


async def a_patch(place: Place) -> tuple[set[int], set[int]]:
    git = place.program("git")
    place.monkeypatch.setattr(patch, "_command", lambda *words: [git])
    layer = place.folder / "layer"
    layer.mkdir()
    summed = Summed(str(place.root), str(layer), 1, ReadEffects(Effects()), {})
    with (place.folder / "a.patch").open("wb") as output, suppress(FileOperationError):
        await asyncio.to_thread(write_patch, summed, output)
    return descriptors(place.told.read_text()), {0, 1, 2}


async def an_editor(place: Place) -> tuple[set[int], set[int]]:
    place.monkeypatch.setenv("VISUAL", place.program("editor"))
    with suppress(BadInput):
        await asyncio.to_thread(edit_text, "text")
    return descriptors(place.told.read_text()), {0, 1, 2}


async def a_socket_in_a_box(place: Place) -> tuple[set[int], set[int]]:
    lister = place.folder / "lister.py"
    lister.write_text(LIST_IN_PYTHON.replace("OUT", repr(str(place.told))))
    place.monkeypatch.setattr(listener, "_PROGRAM", lister)
    place.monkeypatch.setattr(listener, "_take_over", lambda line: line.recv(1))
    with net_box(["/bin/sleep", "60"]) as made:
        await asyncio.to_thread(listener.listen_inside, made.pid)
    words = place.told.read_text().split()
    meant = {int(word.removeprefix("meant:")) for word in words if word.startswith("meant:")}
    return descriptors(" ".join(w for w in words if not w.startswith("meant:"))), {0, 1, 2} | meant


async def a_judging_process(_place: Place) -> tuple[set[int], set[int]]:
    with closing(JudgingPool()) as pool:
        listed = await pool.run("agent", os.listdir, "/proc/self/fd")
    # The fourth is that of the listing itself.
    return {int(name) for name in listed}, {0, 1, 2, 3}


Way = Callable[[Place], Awaitable[tuple[set[int], set[int]]]]

# Every module that starts a process, with each way in which it does.
WAYS: dict[str, dict[str, Way]] = {
    "executors/commands/starting.py": {
        **{f"box-{kind}": partial(in_a_box, profile=kind) for kind in Profile},
        "fence-read": partial(behind_a_fence, profile=Profile.READ),
        "fence-write": partial(behind_a_fence, profile=Profile.WRITE),
        "open": in_the_open,
    },
    "executors/rehearsal/overlay.py": {
        f"rehearsal-{kind}": partial(in_a_rehearsal, profile=kind)
        for kind in (Profile.READ, Profile.WRITE)
    },
    "app/editor.py": {"editor": an_editor},
    "executors/drafts/patch.py": {"patch": a_patch},
    "executors/files/search.py": {"ripgrep": a_search},
    "executors/git/environment.py": {"git-identity": gits_own_identity},
    "executors/git/outside.py": {"git-outside": git_outside},
    "executors/judging/pool.py": {"judging": a_judging_process},
    "executors/network/asking.py": {"package-manager": a_package_manager},
    "executors/network/listener.py": {"socket-in-a-box": a_socket_in_a_box},
}
# The others: what all go through, two programs of their own, and two probes that look themselves.
OTHERS = {
    "executors/processes/start.py",
    "executors/rehearsal/overlay_program.py",
    "executors/sandbox/fence_program.py",
    "executors/sandbox/probe.py",
    "executors/sandbox/fence_probe.py",
}
EACH = {name: way for ways in WAYS.values() for name, way in ways.items()}


def starts_a_process(path: Path) -> bool:
    by_name = {"start_process", "open_process", "execv", "execve", "fork", "posix_spawn", "Popen"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in by_name:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess"), attr="run")):
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in by_name:
                return True
            case _:
                pass
    return False


def test_every_module_that_starts_a_process_is_tried_here() -> None:
    found = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}

    assert {name for name, path in found.items() if starts_a_process(path)} == {*WAYS, *OTHERS}


@pytest.mark.parametrize("run", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("way", EACH.values(), ids=EACH)
def test_a_process_gets_the_descriptors_that_are_meant_for_it(
    place: Place, way: Way, run: Run
) -> None:
    async def compare() -> None:
        async with another_box(place):
            listed, meant = await way(place)
        assert listed == meant

    with leaking():
        run(compare())


@pytest.mark.parametrize("run", LOOPS.values(), ids=LOOPS)
def test_two_that_start_at_the_same_moment_get_nothing_of_each_other(
    place: Place, run: Run
) -> None:
    """In two threads with a loop each, and with several tasks in each of them."""
    found: list[tuple[set[int], set[int]]] = []

    async def several() -> None:
        ways = [in_the_open(place)]
        ways += [in_a_box(place, kind) for kind in Profile]
        found.extend(await asyncio.gather(*ways))

    with leaking():
        threads = [threading.Thread(target=run, args=(several(),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(found) == 8
    assert [listed for listed, _ in found] == [meant for _, meant in found]


# What is handed over


def test_what_is_handed_over_in_memory_can_be_read_and_never_changed() -> None:
    with in_memory(b"--unshare-all") as fd:
        assert not os.get_inheritable(fd)
        for change in (
            lambda: os.pwrite(fd, b"x", 0),
            lambda: os.ftruncate(fd, 0),
            lambda: os.ftruncate(fd, 100),
        ):
            with pytest.raises(PermissionError):
                change()
        assert os.read(fd, 100) == b"--unshare-all"


# A process


def begin(*argv: str) -> Process:
    streams = Streams(subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL)
    return start_process(argv, streams, "/", {})


@pytest.mark.parametrize("run", LOOPS.values(), ids=LOOPS)
def test_its_end_and_its_code_are_heard_of_by_all_who_wait(run: Run) -> None:
    async def follow() -> None:
        process = begin("/bin/sh", "-c", "exit 3")
        await asyncio.gather(process.wait(), process.wait())
        assert process.returncode == 3

        killed = begin("/bin/sleep", "60")
        assert killed.returncode is None
        killed.kill()
        await killed.wait()
        assert killed.returncode == -9
        killed.kill()

    run(follow())


async def test_one_that_cannot_be_started_is_said_to_be_so() -> None:
    with pytest.raises(CommandExecutionError, match=r"^/no/such could not be started: No such"):
        begin("/no/such")


async def test_where_no_thread_can_wait_for_it_it_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    with pytest.raises(CommandExecutionError, match="can't start new thread"):
        begin("/bin/sleep", "61.25")
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "/bin/sleep 61.25" not in running.stdout


def test_a_process_whose_loop_is_gone_is_still_waited_for() -> None:
    async def leave() -> int:
        return begin("/bin/sleep", "0.2").pid

    pid = asyncio.run(leave())
    for thread in threading.enumerate():
        if thread.name == f"wait-{pid}":
            thread.join()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


if sys.platform != "linux":
    pytestmark = pytest.mark.skip("descriptors are listed in /proc")

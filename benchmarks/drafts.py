"""What files of a draft cost against those of the workspace, and what its two hundredth step costs.

Reads and writes go by the tools' port of files, with a view of the draft made for each. Both sides
of a ratio take turns within one run.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.outcome import Outcome
from handrail.core.files import Files
from handrail.core.rehearsal import CallRef
from handrail.executors.agents.profiles import AgentProfile
from handrail.executors.agents.programs import find_program
from handrail.executors.agents.run import AgentCommand, run_agent
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.parts import DraftParts
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import start_process
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.rehearsal.undoing import WorkspaceUndo
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.policy.network.hosts import Host

READS = 300
WRITES = 60
EARLY, LATE = 10, 200
_CONTENT = b"a line of an ordinary source file\n" * 90
_MOST = 1_000_000
# What an agent's own program does: starts programs, reads, computes and writes, for some seconds.
_WORK = """
import hashlib, os, subprocess, sys
for number in range(60):
    for name in range(100):
        with open(f"file-{name}.txt", "w") as file:
            file.write(f"{number} {name}\\n" * 200)
    for name in range(100):
        with open(f"file-{name}.txt", "rb") as file:
            hashlib.sha256(file.read()).digest()
    hashlib.sha256(bytes(40_000_000)).digest()
    subprocess.run(["/bin/sh", "-c", "ls | wc -l"], stdout=subprocess.DEVNULL, check=True)
"""
PROGRAM_ROUNDS = 2
_TARGETS = {"draft-read": 1.2, "draft-write": 1.5, "draft-late-step": 1.15, "draft-program": 1.1}
NAMES = tuple(_TARGETS)


class Bench(NamedTuple):
    root: str
    drafts: ClientDrafts
    plain: Files
    undo: WorkspaceUndo

    def files(self, call: str) -> Files:
        return self.drafts.work_on(CallRef("bench", call), "a step").files

    def plain_for(self, call: str) -> Files:
        return self.undo.files_for(CallRef("bench", call), self.plain)


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    measured = {
        "draft-read": _reads,
        "draft-write": _writes,
        "draft-late-step": _late_steps,
        "draft-program": _programs,
    }
    for name in wanted:
        own = folder / name
        own.mkdir()
        yield asyncio.run(_measure(own, name, measured[name]))


async def _measure(
    folder: Path, name: str, measured: Callable[["Bench"], Awaitable[tuple[float, str]]]
) -> Outcome:
    async with _bench(folder) as bench:
        if bench is None:
            return Outcome(name, 0, _TARGETS[name], ok=False, detail="nothing is drafted here")
        ratio, detail = await measured(bench)
        return Outcome.at_most(name, ratio, _TARGETS[name], detail)


async def _reads(bench: Bench) -> tuple[float, str]:
    await bench.plain.write("a.py", _CONTENT, expected=None)
    await bench.files("first").write("b.py", _CONTENT, expected=None)
    rounds = [
        (
            await _time(bench.files("read").read("a.py", max_bytes=_MOST)),
            await _time(bench.plain.read("a.py", max_bytes=_MOST)),
        )
        for _ in range(READS)
    ]
    return _against(rounds, "read")


async def _writes(bench: Bench) -> tuple[float, str]:
    rounds: list[tuple[float, float]] = []
    for number in range(WRITES):
        in_draft = bench.files(f"draft-{number}")
        plain = bench.plain_for(f"plain-{number}")
        rounds.append(
            (
                await _time(in_draft.write("a.py", _CONTENT, expected=None)),
                await _time(plain.write("b.py", _CONTENT, expected=None)),
            )
        )
    return _against(rounds, "write")


async def _late_steps(bench: Bench) -> tuple[float, str]:
    taken = [
        await _time(bench.files(f"{number}").write(f"{number}.py", _CONTENT, expected=None))
        for number in range(LATE + 10)
    ]
    early, late = median(taken[EARLY - 5 : EARLY + 5]), median(taken[LATE - 5 : LATE + 5])
    return late / early, f"{late * 1e3:.1f} ms for step {LATE}, {early * 1e3:.1f} ms for {EARLY}"


async def _programs(bench: Bench) -> tuple[float, str]:
    """A program in a draft, started and read to its end, against the same one outside."""
    words, outside = ("-c", _WORK), bench.root + "-outside"
    os.mkdir(outside)
    rounds: list[tuple[float, float]] = []
    for number in range(PROGRAM_ROUNDS):
        session = f"program-{number}"
        nothing = os.open(os.devnull, os.O_RDWR)
        command = AgentCommand(
            find_program("python3", "/usr/bin", bench.root),
            words,
            AgentProfile("python3"),
            Streams(nothing, nothing, nothing),
            {},
        )
        call, draft = CallRef(session, "run"), bench.drafts.open(session)
        in_draft = await _time(run_agent(draft, call, command, _refuse, asyncio.Event()))
        began = time.perf_counter()
        streams = Streams(nothing, nothing, nothing)
        await start_process(["/usr/bin/python3", *words], streams, outside, {}).wait()
        rounds.append((in_draft, time.perf_counter() - began))
        os.close(nothing)
    ours, plain = (min(side) for side in zip(*rounds, strict=True))
    return ours / plain, f"{ours:.1f} s in a draft, {plain:.1f} s outside"


async def _refuse(host: Host) -> str:
    return f"{host} is not reached in a benchmark"


def _against(rounds: list[tuple[float, float]], what: str) -> tuple[float, str]:
    ours, plain = (median(side) for side in zip(*rounds, strict=True))
    return ours / plain, f"{ours * 1e3:.2f} ms to {what}, {plain * 1e3:.2f} ms in the workspace"


async def _time(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


@asynccontextmanager
async def _bench(folder: Path) -> AsyncGenerator[Bench | None]:
    root = folder / "workspace"
    root.mkdir()
    programs = find_programs()
    isolation = prove(programs)
    if programs is None or not isolation.holds:
        yield None
        return
    maker = Maker()
    store = UndoStore(os.open(root, os.O_RDONLY), b"benchmark")
    try:
        proof = await prove_rehearsals(maker, folder / "sessions")
        if not proof.holds:
            yield None
            return
        with FileSystemExecutor(root) as files, Ripgrep(str(root)) as ripgrep:
            box = Box(
                programs, isolation, GuardedNames(files.root, files.rules, files.second_names)
            )
            executor = CommandExecutor(root, box=box)
            parts = DraftParts(executor, box, files, maker, proof, store)
            drafts = ClientDrafts(folder / "drafts", parts, ripgrep)
            try:
                yield Bench(str(root), drafts, files, WorkspaceUndo(files, store))
            finally:
                await drafts.close()
    finally:
        maker.close()
        store.close()

"""What a rehearsal costs against running the same command for real, and what it costs to apply one.

Both sides of a ratio take turns within one run.
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.outcome import Outcome
from handrail.core.box import Profile
from handrail.core.outcome import CommandOutcome
from handrail.core.rehearsal import CallRef, Rehearsed
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.probe import find_programs, prove

STARTS = 25
WORKED = 5
WORK_ROUNDS = 5_000
STATUSES = 5
TRACKED_FILES = 100_000
APPLIES = 3
APPLIED_FILES = 1_000
MOST_SECONDS = 2.0
_FILE_BYTES = 2_000
_TIMEOUT_SECONDS = 600
_WORK = """
import hashlib, sys
for number in range(int(sys.argv[1])):
    with open("source", "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    if number % 100 == 0:
        with open(f"built-{number}", "w") as file:
            file.write(digest * 100)
"""
_WRITE = """
import os, sys
os.makedirs("made")
for number in range(int(sys.argv[1])):
    with open(f"made/{number}", "wb") as file:
        file.write(number.to_bytes(4, "big") * (int(sys.argv[2]) // 4))
"""


@dataclass
class Bench:
    """A workspace with both ways to run a command in it."""

    root: Path
    executor: CommandExecutor
    kept: KeptRehearsals
    calls: Iterator[int] = field(default_factory=itertools.count)

    async def run(self, *argv: str) -> None:
        outcome = await self.executor.run([_stage(argv)], timeout_seconds=_TIMEOUT_SECONDS)
        _check(outcome)

    async def read(self, *argv: str) -> None:
        stage = Stage(argv, Profile.READ)
        _check(await self.executor.run([stage], timeout_seconds=_TIMEOUT_SECONDS))

    async def rehearse(self, *argv: str) -> CallRef:
        call = CallRef("bench", str(next(self.calls)))
        rehearsed = await self.kept.rehearse(call, [_stage(argv)], timeout_seconds=_TIMEOUT_SECONDS)
        _check(rehearsed.outcome)
        _check_complete(rehearsed)
        return call

    async def timed(self, *argv: str) -> float:
        """The time until the effects of a command are known; only then is its overlay removed."""
        began = time.perf_counter()
        call = await self.rehearse(*argv)
        seconds = time.perf_counter() - began
        await self.kept.drop(call)
        return seconds


async def start(bench: Bench, target: float) -> Outcome:
    """From the order to the end of a command that does nothing, its effects read."""
    await bench.timed("true")
    rounds = [(await bench.timed("true"), await _time(bench.run("true"))) for _ in range(STARTS)]
    return _against("rehearse-start", target, rounds, "in a write box")


async def work(bench: Bench, target: float) -> Outcome:
    (bench.root / "source").write_bytes(os.urandom(100_000))
    (bench.root / "work.py").write_text(_WORK)
    argv = ("python3", "work.py", str(WORK_ROUNDS))
    rounds: list[tuple[float, float]] = []
    for _ in range(WORKED):
        rehearsed = await bench.timed(*argv)
        rounds.append((rehearsed, await _time(bench.run(*argv))))
        for built in bench.root.glob("built-*"):
            built.unlink()
    return _against("rehearse-work", target, rounds, "in a write box")


async def git_status(bench: Bench, target: float) -> Outcome:
    _make_repository(bench.root)
    argv = ("git", "status", "--short")

    await bench.read(*argv)
    rounds = [(await bench.timed(*argv), await _time(bench.read(*argv))) for _ in range(STATUSES)]
    what = f"in a read box, {TRACKED_FILES:,} files"
    return _against("rehearse-git-status", target, rounds, what)


async def apply_many(bench: Bench, target: float) -> Outcome:
    """Against a copy of the same files, put on the disk as well; the ratio is of the limit."""
    (bench.root / "write.py").write_text(_WRITE)
    rounds: list[tuple[float, float]] = []
    for number in range(APPLIES):
        call = await bench.rehearse("python3", "write.py", str(APPLIED_FILES), str(_FILE_BYTES))
        seconds = await _time(bench.kept.apply(call))
        made, copy = bench.root / "made", bench.root / f"copy-{number}"
        rounds.append((seconds, await _time(asyncio.to_thread(_copy, made, copy))))
        shutil.rmtree(made)
        shutil.rmtree(copy)
    ours, plain = (median(side) for side in zip(*rounds, strict=True))
    detail = (
        f"{ours:.2f} s to apply {APPLIED_FILES:,} files, {ours / plain:.1f} times as long as to"
        f" copy and sync them; at most {MOST_SECONDS:g} s"
    )
    return Outcome.at_most("apply-1000", ours / MOST_SECONDS, target, detail)


_MEASURED: dict[str, tuple[float, Callable[[Bench, float], Awaitable[Outcome]]]] = {
    "rehearse-start": (1.5, start),
    "rehearse-work": (1.05, work),
    "rehearse-git-status": (1.5, git_status),
    "apply-1000": (1.0, apply_many),
}
NAMES = tuple(_MEASURED)


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    for name in wanted:
        own = folder / name
        own.mkdir()
        yield asyncio.run(_measure(own, name))


async def _measure(folder: Path, name: str) -> Outcome:
    target, measured = _MEASURED[name]
    try:
        async with _bench(folder) as bench:
            return await measured(bench, target)
    except _CannotRehearseError as error:
        return Outcome(name, 0, target, ok=False, detail=str(error))


class _CannotRehearseError(Exception):
    """This machine has no proven box or no overlays."""


@asynccontextmanager
async def _bench(folder: Path) -> AsyncGenerator[Bench]:
    root = folder / "workspace"
    root.mkdir()
    programs = find_programs()
    isolation = prove(programs)
    if programs is None or not isolation.holds:
        raise _CannotRehearseError(isolation.why_not)
    maker = Maker()
    store = UndoStore(os.open(root, os.O_RDONLY), b"benchmark")
    try:
        proof = await prove_rehearsals(maker, folder / "sessions")
        if not proof.holds:
            raise _CannotRehearseError(proof.why_not)
        with FileSystemExecutor(root) as files:
            box = Box(
                programs, isolation, GuardedNames(files.root, files.rules, files.second_names)
            )
            executor = CommandExecutor(root, box=box)
            kept = KeptRehearsals(executor, box, maker, folder / "sessions", proof, store)
            try:
                yield Bench(root, executor, kept)
            finally:
                await kept.close()
    finally:
        maker.close()
        store.close()


def _stage(argv: tuple[str, ...]) -> Stage:
    return Stage(argv, Profile.WRITE)


def _check(outcome: CommandOutcome) -> None:
    if outcome.exit_code != 0:
        raise RuntimeError(f"the command failed: {outcome.stderr.decode(errors='replace')[:500]}")


def _check_complete(rehearsed: Rehearsed) -> None:
    if not rehearsed.is_complete:
        raise RuntimeError(f"the rehearsal has not come to its end: {rehearsed.ended_by}")


def _make_repository(root: Path) -> None:
    for number in range(TRACKED_FILES):
        path = root / f"d{number % 997}" / f"f{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"%d\n" % number)
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "gc.auto=0")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        subprocess.run(["git", *identity, *words], cwd=root, check=True, stdout=sys.stderr)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)
    os.sync()


def _against(name: str, target: float, rounds: list[tuple[float, float]], what: str) -> Outcome:
    ours, theirs = (1000 * median(side) for side in zip(*rounds, strict=True))
    ratio = median(mine / plain for mine, plain in rounds)
    return Outcome.at_most(name, ratio, target, f"{ours:.1f} ms against {theirs:.1f} ms {what}")


async def _time(awaited: Awaitable[object]) -> float:
    began = time.perf_counter()
    await awaited
    return time.perf_counter() - began

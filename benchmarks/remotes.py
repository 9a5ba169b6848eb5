"""What a push through a stand-in costs beside plain git, in a clone of this repository.

Both go by the same ssh command, which starts the remote's git on this machine: what is measured is
git and Handrail, and no network.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from unittest import mock

from benchmarks.outcome import Outcome
from handrail.core.box import Profile
from handrail.core.rehearsal import CallRef
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

NAMES = ("push-remote",)
PUSHES = 7
# A push may cost so much more than plain git.
MOST_SECONDS = 0.5
_TIMEOUT_SECONDS = 300
_HERE = Path(__file__).parent.parent
# git gives it a host and one word, the command there.
_SSH = '#!/bin/sh\nshift $(($# - 1))\nexec sh -c "$1"\n'
_BRANCH = "bench"


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    if "push-remote" in wanted:
        yield asyncio.run(_push(folder))


async def _push(folder: Path) -> Outcome:
    root, settings = folder / "clone", folder / "gitconfig"
    (folder / "ssh").write_text(_SSH)
    (folder / "ssh").chmod(0o700)
    settings.write_text(
        f"[core]\n\tsshCommand = {folder}/ssh\n[user]\n\tname = Ada\n\temail = ada@example.com\n"
    )
    with mock.patch.dict(os.environ, {"GIT_CONFIG_GLOBAL": str(settings)}):
        _git(folder, "clone", "-q", str(_HERE), str(root))
        for name in ("plain", "ours"):
            _git(folder, "clone", "-q", "--bare", str(_HERE), f"{name}.git")
            _git(root, "remote", "add", name, f"bench.invalid:{folder}/{name}.git")
        with FileSystemExecutor(root) as files:
            box = _box(files)
            if box is None:
                return Outcome.at_most("push-remote", 0.0, 1.0, "no sandbox here")
            executor = CommandExecutor(files.root, box=box, mirrors=folder / "mirrors")
            async with _rehearsals(executor, box, folder) as kept:
                if kept is None:
                    return Outcome.at_most("push-remote", 0.0, 1.0, "no overlays here")
                # The first one fetches the mirror.
                first = await _timed(executor, kept, root)
                plain: list[float] = []
                ours: list[float] = []
                for _ in range(PUSHES):
                    plain.append(_timed_plain(root))
                    ours.append(await _timed(executor, kept, root))
    more = median(ours) - median(plain)
    detail = (
        f"{median(ours):.2f} s against {median(plain):.2f} s of plain git;"
        f" the first one, with the mirror, {first:.1f} s"
    )
    return Outcome.at_most("push-remote", more / MOST_SECONDS, 1.0, detail)


@asynccontextmanager
async def _rehearsals(
    executor: CommandExecutor, box: Box, folder: Path
) -> AsyncGenerator[KeptRehearsals | None]:
    maker = Maker()
    store = UndoStore(os.open(executor.root, os.O_RDONLY), b"benchmark")
    try:
        proof = await prove_rehearsals(maker, folder / "sessions")
        if not proof.holds:
            yield None
            return
        kept = KeptRehearsals(executor, box, maker, folder / "sessions", proof, store)
        try:
            yield kept
        finally:
            await kept.close()
    finally:
        maker.close()
        store.close()


def _box(files: FileSystemExecutor) -> Box | None:
    programs = find_programs()
    isolation = prove(programs)
    if programs is None or not isolation.holds:
        return None
    names = GuardedNames(files.root, files.rules, files.second_names)
    return Box(programs, isolation, names)


def _timed_plain(root: Path) -> float:
    _commit(root)
    began = time.perf_counter()
    _git(root, "push", "-q", "plain", f"HEAD:refs/heads/{_BRANCH}")
    return time.perf_counter() - began


async def _timed(executor: CommandExecutor, kept: KeptRehearsals, root: Path) -> float:
    """From the yes to the end: git in the box, the push for real, its effects read and applied."""
    _commit(root)
    argv = ("git", "push", "-q", "ours", f"HEAD:refs/heads/{_BRANCH}")
    stages = [Stage(argv, Profile.NET, programs=("git",), networks=("git",))]
    sight = await executor.look(stages)
    began = time.perf_counter()
    call = CallRef("bench", str(time.time_ns()))
    done = await kept.carry_out(
        call, stages, timeout_seconds=_TIMEOUT_SECONDS, expected=sight.facts
    )
    if done.outcome.exit_code or not done.is_complete:
        raise RuntimeError(done.ended_by or done.outcome.stderr.decode(errors="replace"))
    await kept.apply(call)
    return time.perf_counter() - began


def _commit(root: Path) -> None:
    (root / "README.md").write_text(f"{time.time_ns()}\n")
    _git(root, "commit", "-q", "-a", "-m", "bench")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)

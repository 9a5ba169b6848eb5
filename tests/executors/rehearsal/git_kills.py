"""kill -9 at many steps of an apply that changes git, each in a copy of the repository.

A program of its own: it forks, and prints what it found as JSON. Each child is a client that
rehearses a line and applies it; the parent then goes on as the next client does.
"""

import asyncio
import ctypes
import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from handrail.core.rehearsal import CallRef
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.sandbox.probe import find_programs, prove
from tests.executors.rehearsal.agent import Agent, open_agent, open_store
from tests.executors.rehearsal.overlay import in_child
from tests.executors.rehearsal.repositories import (
    as_same,
    copy_of,
    faults_in,
    locks_in,
    make_template,
    run,
    state_of,
)
from tests.executors.rehearsal.rounds import _STEPS, _STEPS_BY_CTYPES, clear

LINE = (
    r"printf 'y = 2\n' >> src/x.py && git commit -qam 'Change x' && git switch -qc topic"
    r" && git tag t2 && git merge -q --no-ff -m 'Merge feature' feature && printf 'new\n' > new.txt"
)
CUTS = 40
# What an apply to git does besides: locks are put in place, and git is started and waited for.
_STEPS_OF_GIT = frozenset(
    ("rename", "link", "truncate", "ftruncate", "fork_exec", "posix_spawn", "waitpid")
)
_SUBREAPER = 36
State = dict[str, object]


class Countdown:
    """Counts the steps of this process, and has it killed right before the last of them."""

    def __init__(self, last: int):
        self.last, self.count = last, 0
        self.is_over = False

    def begin(self) -> None:
        """Count from here on, in threads that are started from here on too."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        threading.setprofile(self.watch)
        sys.setprofile(self.watch)

    def end_with(self, kept: KeptRehearsals) -> None:
        """Count no further than an apply goes, before the rehearsal is dropped."""
        drop = kept.drop

        async def end_and_drop(call: CallRef) -> None:
            self.is_over = True
            await drop(call)

        kept.drop = end_and_drop

    def watch(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            is_step = called.__name__ in _STEPS | _STEPS_OF_GIT
        else:
            is_step = event == "return" and frame.f_code.co_name in _STEPS_BY_CTYPES
        self.count += is_step and not self.is_over
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


async def apply_line(base: Path, last: int) -> int:
    """The number of steps, unless the process was killed before the last of them."""
    programs, maker = find_programs(), Maker()
    assert programs is not None
    proof = await prove_rehearsals(maker, base / "sessions")
    with FileSystemExecutor(base / "ws") as files:
        guarded = GuardedNames(files.root, files.rules, files.second_names)
        agent = open_agent(
            base / "ws", programs, prove(programs), guarded, maker, proof, base / "sessions"
        )
        steps = await _apply(agent, Countdown(last))
        await agent.close()
    maker.close()
    return steps


async def _apply(agent: Agent, countdown: Countdown) -> int:
    call, rehearsed = await agent.rehearse(as_same(LINE))
    outcome = rehearsed.outcome
    assert rehearsed.is_complete, rehearsed.ended_by
    assert outcome.exit_code == 0, outcome.stderr.decode()
    countdown.end_with(agent.kept)
    countdown.begin()
    await agent.kept.apply(call)
    return countdown.count


class Kills:
    """What became of the repository after each kill."""

    def __init__(self, base: Path):
        self.base, self.template = base, base / "template"
        make_template(self.template)
        self.wrong: list[str] = []
        self.ends: list[str] = []
        steps, self.before, self.after = self._one("whole", -1)
        assert steps is not None
        self.steps: int = steps
        plain = copy_of(self.template, base / "plain/ws")
        run(LINE, plain)
        if self.after != state_of(plain):
            self.wrong.append(f"without a kill: {self._unlike(state_of(plain))}")

    def kill(self, cut: int) -> None:
        """Kill at a step, resume, and see whether all or nothing is there."""
        last = 1 + cut * self.steps // CUTS
        steps, _, found = self._one(str(cut), last)
        where = f"cut {cut}, step {last} of {self.steps}"
        if steps is not None:
            self.wrong.append(f"{where}: it was done in {steps}")
        end = "after" if found == self.after else "before" if found == self.before else "neither"
        self.ends.append(end)
        if end == "neither":
            self.wrong.append(f"{where}: {self._unlike(found)}")

    def _one(self, name: str, last: int) -> tuple[int | None, State, State]:
        """The steps it took, None if it was killed, and the states before it and in the end."""
        base = self.base / name
        root = copy_of(self.template, base / "ws")
        before = state_of(root)
        steps = in_child(lambda: asyncio.run(apply_line(base, last)))
        _wait_for_orphans()
        store = open_store(root)
        store.resume()
        found = state_of(root)
        self.wrong += [f"{name}: {one}" for one in (*faults_in(root), *locks_in(root))]
        if bool(store.undoable()) is (found == before):
            self.wrong.append(f"{name}: the store says otherwise")
        store.close()
        clear(base)
        return steps, before, found

    def _unlike(self, found: State) -> list[str]:
        """What is neither as before nor as after, or else what is not as after."""
        keys = {*self.before, *self.after, *found}
        odd = {
            key for key in keys if found.get(key) not in (self.before.get(key), self.after.get(key))
        }
        return sorted(odd or {key for key in keys if found.get(key) != self.after.get(key)})


def _wait_for_orphans() -> None:
    """Until everything has ended that a killed child has left running."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def main(base: str, part: int, parts: int) -> None:
    """Do every so many of the kills, from one on."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    kills = Kills(Path(base))
    for cut in range(part, CUTS, parts):
        kills.kill(cut)
    told = {"wrong": kills.wrong, "ends": kills.ends, "steps": kills.steps}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

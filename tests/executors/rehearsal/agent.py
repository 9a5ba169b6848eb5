"""An agent for tests: it rehearses lines of bash in a workspace, and applies what they show."""

import os
from pathlib import Path

from handrail.core.box import Isolation, Profile
from handrail.core.rehearsal import CallRef, Rehearsed
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box, Programs
from tests.executors.conftest import PYTHON, TOOLCHAIN


class Agent:
    """Rehearses commands, one call after another, and applies what they show."""

    def __init__(self, kept: KeptRehearsals, executor: CommandExecutor, store: UndoStore):
        self.kept = kept
        self.executor = executor
        self.store = store
        self.count = 0

    async def rehearse(self, line: str, session: str = "first") -> tuple[CallRef, Rehearsed]:
        self.count += 1
        call = CallRef(session, str(self.count))
        return call, await self.again(call, line)

    async def again(self, call: CallRef, line: str) -> Rehearsed:
        return await self.kept.rehearse(call, [stage(line)], timeout_seconds=30)

    async def output(self, line: str, session: str = "first") -> str:
        _, rehearsed = await self.rehearse(line, session)
        return (rehearsed.outcome.stdout + rehearsed.outcome.stderr).decode()

    async def close(self) -> None:
        await self.kept.close()
        self.store.close()


def stage(line: str) -> Stage:
    return Stage(("bash", "-c", line), Profile.WRITE)


def open_store(root: Path) -> UndoStore:
    return UndoStore(os.open(root, os.O_RDONLY), b"key")


def open_agent(
    root: Path,
    programs: Programs,
    isolation: Isolation,
    guarded: GuardedNames,
    maker: Maker,
    proof: Proof,
    sessions: Path,
) -> Agent:
    box = Box(programs, isolation, guarded, toolchains=[TOOLCHAIN])
    search_path = ("/usr/local/bin", "/usr/bin", "/bin", str(PYTHON.parent))
    executor = CommandExecutor(root, box=box, search_path=search_path, grace_seconds=0.2)
    store = open_store(root)
    kept = KeptRehearsals(executor, box, maker, sessions, proof, store)
    return Agent(kept, executor, store)

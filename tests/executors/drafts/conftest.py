"""Drafts of a workspace of its own."""

import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from handrail.core.box import Isolation
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.parts import DraftParts
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box, Programs
from tests.executors.conftest import PYTHON, TOOLCHAIN
from tests.executors.drafts.session import DraftSession

OpenDrafts = Callable[[], ClientDrafts]


@pytest.fixture
def box(programs: Programs, isolation: Isolation, guarded: GuardedNames) -> Box:
    return Box(programs, isolation, guarded, toolchains=[TOOLCHAIN])


@pytest.fixture
def executor_of_drafts(root: Path, box: Box) -> CommandExecutor:
    search_path = ("/usr/local/bin", "/usr/bin", "/bin", str(PYTHON.parent))
    return CommandExecutor(root, box=box, search_path=search_path, grace_seconds=0.2)


@pytest.fixture
async def open_drafts(
    root: Path,
    tmp_path: Path,
    box: Box,
    executor_of_drafts: CommandExecutor,
    files: FileSystemExecutor,
) -> AsyncGenerator[OpenDrafts]:
    """The drafts of one client after another, on the same folder."""
    maker = Maker()
    proof = await prove_rehearsals(maker, tmp_path / "rehearsals")
    if not proof.holds:
        pytest.skip(f"nothing can be rehearsed on this machine: {proof.why_not}")
    store = UndoStore(os.open(root, os.O_RDONLY), b"key")
    opened: list[ClientDrafts] = []

    with Ripgrep(str(root)) as ripgrep:

        def open_them() -> ClientDrafts:
            parts = DraftParts(executor_of_drafts, box, files, maker, proof, store)
            opened.append(ClientDrafts(tmp_path / "drafts", parts, ripgrep))
            return opened[-1]

        yield open_them
        for one in opened:
            await one.close()
    store.close()
    maker.close()


@pytest.fixture
async def session(open_drafts: OpenDrafts) -> DraftSession:
    return DraftSession(open_drafts())

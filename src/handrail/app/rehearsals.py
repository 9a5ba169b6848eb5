"""Rehearsals on this machine, where they are proven to work."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from handrail.core.rehearsal import NoRehearsals
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof, prove_rehearsals
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box

log = structlog.get_logger(__name__)


async def try_rehearsals() -> Proof:
    """Try a rehearsal in a temporary folder, and say whether it works on this machine."""
    maker = Maker()
    try:
        with tempfile.TemporaryDirectory(prefix="handrail-trial-") as folder:
            return await prove_rehearsals(maker, folder)
    finally:
        maker.close()


@asynccontextmanager
async def rehearsals_for(
    commands: CommandExecutor, box: Box | None, store: UndoStore | None, base: Path, keeper: str
) -> AsyncGenerator[KeptRehearsals | NoRehearsals]:
    """The rehearsals of one client, or the reason why commands are asked about beforehand.

    Sessions have their folders below `base`, and all of them go in the end. `store` keeps the files
    that applied effects replace.
    """
    if box is None or store is None:
        yield NoRehearsals("commands are rehearsed on Linux only, where the sandbox works")
        return
    maker = Maker(keeper)
    try:
        proof = await prove_rehearsals(maker, base)
        if not proof.holds:
            log.info("rehearsals.off", reason=proof.why_not)
            yield NoRehearsals(proof.why_not or "")
            return
        rehearsals = KeptRehearsals(commands, box, maker, base, proof, store, keeper)
        try:
            yield rehearsals
        finally:
            await rehearsals.close()
    finally:
        maker.close()

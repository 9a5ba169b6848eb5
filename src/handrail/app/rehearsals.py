"""Rehearsals on this machine, where they are proven to work."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from handrail.executors.command import CommandExecutor
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import prove_rehearsals
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box

log = structlog.get_logger(__name__)


@asynccontextmanager
async def rehearsals_for(
    commands: CommandExecutor, box: Box | None, store: UndoStore | None, base: Path, keeper: str
) -> AsyncGenerator[KeptRehearsals | None]:
    """The rehearsals of one client; None where commands are asked about beforehand.

    Sessions have their folders below `base`, and all of them go in the end. `store` keeps the files
    that applied effects replace.
    """
    if box is None or store is None:
        yield None
        return
    maker = Maker(keeper)
    try:
        proof = await prove_rehearsals(maker, base)
        if not proof.holds:
            log.info("rehearsals.off", reason=proof.why_not)
            yield None
            return
        rehearsals = KeptRehearsals(commands, box, maker, base, proof, store, keeper)
        try:
            yield rehearsals
        finally:
            await rehearsals.close()
    finally:
        maker.close()

"""Rehearsals and drafts on this machine, where they are proven to work."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import structlog

from handrail.core.draft import NoDrafts
from handrail.core.rehearsal import NoRehearsals
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.parts import DraftParts
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof, prove_drafts, prove_rehearsals
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


class Overlays(NamedTuple):
    """What runs commands over the workspace instead of in it."""

    rehearsals: KeptRehearsals | NoRehearsals
    drafts: ClientDrafts | NoDrafts

    @classmethod
    def none(cls, why: str) -> "Overlays":
        return cls(NoRehearsals(why), NoDrafts(why))


class Ground(NamedTuple):
    """What overlays of one workspace are made with.

    `store` keeps the files that applied effects replace. Rehearsals have their folders below
    `rehearsals`, and all of them go in the end. Those below `drafts` stay.
    """

    commands: CommandExecutor
    box: Box | None
    files: FileSystemExecutor
    ripgrep: Ripgrep
    store: UndoStore | None
    rehearsals: Path
    drafts: Path
    keeper: str


@asynccontextmanager
async def overlays_for(ground: Ground) -> AsyncGenerator[Overlays]:
    """Rehearsals and drafts of one client, or the reason why calls are asked about beforehand."""
    commands, box, store, keeper = ground.commands, ground.box, ground.store, ground.keeper
    if box is None or store is None:
        yield Overlays.none("commands are rehearsed on Linux only, where the sandbox works")
        return
    maker = Maker(keeper)
    try:
        proof = await prove_rehearsals(maker, ground.rehearsals)
        if not proof.holds:
            log.info("rehearsals.off", reason=proof.why_not)
            yield Overlays.none(proof.why_not or "")
            return
        rehearsals = KeptRehearsals(commands, box, maker, ground.rehearsals, proof, store, keeper)
        parts = DraftParts(commands, box, ground.files, maker, proof, store, keeper)
        drafts = await _drafts_for(ground, parts)
        try:
            yield Overlays(rehearsals, drafts)
        finally:
            if isinstance(drafts, ClientDrafts):
                await drafts.close()
            await rehearsals.close()
    finally:
        maker.close()


async def _drafts_for(ground: Ground, parts: DraftParts) -> ClientDrafts | NoDrafts:
    drafts = ClientDrafts(ground.drafts, parts, ground.ripgrep)
    if (why_not := await prove_drafts(parts.maker, ground.drafts)) is not None:
        log.info("drafts.off", reason=why_not)
        return NoDrafts(why_not)
    await drafts.recover()
    return drafts

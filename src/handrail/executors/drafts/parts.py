"""What the drafts of a client share, and what one call did in a draft."""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

from handrail.core.rehearsal import Rehearsed
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.rehearsal.git_reading import ReadEffects
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof
from handrail.executors.rehearsal.rehearser import Rehearsal
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box


class DraftParts(NamedTuple):
    """What the drafts of one client share."""

    executor: CommandExecutor
    box: Box
    files: FileSystemExecutor
    maker: Maker
    proof: Proof
    store: UndoStore
    keeper: str = ""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a call did over the layers, before it becomes a step."""

    rehearsed: Rehearsed
    rehearsal: Rehearsal
    read: ReadEffects

    async def close(self) -> None:
        await self.rehearsal.close()
        await asyncio.to_thread(self.read.discard)

"""Undo: bringing back the files that calls have changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from handrail.core.files import Files
from handrail.core.rehearsal import CallRef
from handrail.core.tool import JsonObject


class UndoStatus(StrEnum):
    """What became of the request to undo a call."""

    UNDONE = "undone"
    BEFORE = "undone_before"
    # A file was changed since, or cannot be written: nothing of the call was undone.
    REFUSED = "refused"
    # A later call was refused.
    NOT_TRIED = "not_tried"
    # Nothing was changed by it, or too much has been changed since to keep everything.
    NOT_KEPT = "not_kept"


@dataclass(frozen=True, slots=True)
class Undone:
    """`reason` says why a call was not undone."""

    call: str
    status: UndoStatus
    reason: str = ""

    @property
    def is_undone(self) -> bool:
        return self.status in (UndoStatus.UNDONE, UndoStatus.BEFORE)


class Undo(Protocol):
    """The before-images of one workspace. A call is named by its `tool_id`."""

    def files_for(self, call: CallRef, files: Files) -> Files:
        """The same files; what each change through them takes away is kept for the call."""
        ...

    async def describe(self, call: CallRef) -> JsonObject:
        """The fields of a result that say whether the call can be undone.

        `can_undo` is missing if the call changed no file; if it is false, `why_not` is the reason.
        """
        ...

    async def undo(self, calls: Sequence[str]) -> tuple[Undone, ...]:
        """Undo calls, the last one first, up to the first that cannot be; tells about each."""
        ...


class NoUndo:
    """For hands without a workspace, and for systems on which nothing can be kept."""

    def files_for(self, call: CallRef, files: Files) -> Files:
        return files

    async def describe(self, call: CallRef) -> JsonObject:
        return {}

    async def undo(self, calls: Sequence[str]) -> tuple[Undone, ...]:
        reason = "no earlier files are kept on this machine"
        return tuple(Undone(call, UndoStatus.NOT_KEPT, reason) for call in calls)

"""Undo: bringing back the files that calls have changed."""

from collections.abc import Sequence
from typing import Protocol

from handrail.core.errors import FileOperationError
from handrail.core.files import Files
from handrail.core.rehearsal import CallRef
from handrail.core.tool import JsonObject


class Undo(Protocol):
    """The before-images of one workspace. A call is named by its `tool_id`."""

    def files_for(self, call: CallRef, files: Files) -> Files:
        """The same files; the before-image of each write through them is kept for the call."""
        ...

    async def describe(self, call: CallRef) -> JsonObject:
        """The fields of a result that say whether the call can be undone.

        `can_undo` is missing if the call changed no file; if it is false, `why_not` is the reason.
        """
        ...

    async def undo(self, calls: Sequence[str]) -> tuple[str, ...]:
        """Undo calls, the last one first. Returns those that were undone.

        Calls of which nothing is kept are left out.

        Raises:
            StaleFileError: A file was changed since; the calls before it were not undone.
            FileOperationError: Nothing is kept of any of them, or the file system said no.
        """
        ...


class NoUndo:
    """For hands without a workspace, and for systems on which nothing can be kept."""

    def files_for(self, call: CallRef, files: Files) -> Files:
        return files

    async def describe(self, call: CallRef) -> JsonObject:
        return {}

    async def undo(self, calls: Sequence[str]) -> tuple[str, ...]:
        raise FileOperationError("on this machine nothing is kept for undo")

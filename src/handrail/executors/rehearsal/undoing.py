"""Undo in one workspace, for the event loop: the store blocks, so it works in threads."""

import asyncio
import hashlib
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import structlog

from handrail.core.errors import FileOperationError
from handrail.core.files import FileContent, Files, FileState, Listing
from handrail.core.pattern import NamePattern
from handrail.core.rehearsal import CallRef
from handrail.core.tool import JsonObject
from handrail.core.undo import Undone, UndoStatus
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.processes.threads import to_its_end
from handrail.executors.rehearsal.key import key_in
from handrail.executors.rehearsal.recording import FileChange
from handrail.executors.rehearsal.undo import UndoStore

# Reasons are asked for right after their call.
_MOST_REASONS = 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

log = structlog.get_logger(__name__)


class WorkspaceUndo:
    """The before-images of the workspace that `files` reach.

    `store` keeps them; `resumed` tells of each call that a crash interrupted whether its changes
    are applied now.
    """

    def __init__(self, files: FileSystemExecutor, store: UndoStore):
        self.store = store
        self.resumed: dict[str, bool] = {}
        self.files = files
        self._why_not: OrderedDict[str, str] = OrderedDict()

    def files_for(self, call: CallRef, files: Files) -> Files:
        return KeptFiles(self.files, self, call.tool_id) if files is self.files else files

    async def describe(self, call: CallRef) -> JsonObject:
        if (why_not := self._why_not.pop(call.tool_id, None)) is not None:
            return {"can_undo": False, "why_not": why_not}
        try:
            holds = await asyncio.to_thread(self.store.holds, call.tool_id)
        except (OSError, FileOperationError) as error:
            log.warning("undo.unreadable", error=str(error))
            return {}
        return {"can_undo": True} if holds else {}

    async def undo(self, calls: Sequence[str]) -> tuple[Undone, ...]:
        return tuple(await to_its_end(self._undo_all, calls))

    def _undo_all(self, calls: Sequence[str]) -> list[Undone]:
        if not self.store.is_there:
            why = "no earlier files are kept here"
            return [Undone(call, UndoStatus.NOT_KEPT, why) for call in calls]
        try:
            return self.store.undo_all(calls)
        except (OSError, FileOperationError) as error:
            return [Undone(call, UndoStatus.REFUSED, str(error)) for call in calls]

    def resume(self) -> None:
        """End what a crash has interrupted. A damaged store never keeps a client from starting."""
        if not self.store.is_there:
            return
        try:
            self.resumed = self.store.resume()
            self.store.prune()
        except (OSError, FileOperationError) as error:
            log.error("undo.damaged", error=str(error))
        for journal, why in self.store.left_alone.items():
            log.warning("undo.left-alone", journal=journal, error=why)

    @contextmanager
    def recording(self, call: str, change: Callable[[], FileChange]) -> Generator[None]:
        """Keep what a change takes away. If that is impossible, the change is made all the same.

        Work that was approved is worth more than the possibility to take it back, and the result
        says that it cannot be undone.
        """
        earlier = self._why_not.get(call)
        with ExitStack() as stack:
            try:
                stack.enter_context(self.store.recording(call, change()))
            except (OSError, FileOperationError) as error:
                self._why_not[call] = str(error)
                while len(self._why_not) > _MOST_REASONS:
                    self._why_not.popitem(last=False)
            try:
                yield
            except BaseException:
                # This change was not made; an earlier one of the call may have been.
                if earlier is None:
                    self._why_not.pop(call, None)
                raise


class KeptFiles:
    """The files of a workspace for one call, whose changes can be undone."""

    def __init__(self, files: FileSystemExecutor, undo: WorkspaceUndo, call: str):
        self._files = files
        self._undo = undo
        self._call = call

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        return await self._files.read(path, max_bytes=max_bytes)

    async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
        return await self._files.list(path, pattern, most=most)

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        return await self._files.find(path, max_bytes=max_bytes)

    async def check(self, path: str, *, writing: bool) -> str:
        return await self._files.check(path, writing=writing)

    async def write(self, path: str, data: bytes, *, expected: FileState | None) -> None:
        def change() -> FileChange:
            return FileChange(path, hashlib.sha256(data).hexdigest())

        around = self._undo.recording(self._call, change)
        await self._files.write(path, data, expected=expected, around=around)

    async def remove(self, path: str, *, expected: FileState) -> None:
        around = self._undo.recording(self._call, lambda: FileChange(path))
        await self._files.remove(path, expected=expected, around=around)

    async def move(self, path: str, to: str, *, expected: FileState) -> None:
        change = FileChange(to, expected.sha256, source=path)
        around = self._undo.recording(self._call, lambda: change)
        await self._files.move(path, to, expected=expected, around=around)


@contextmanager
def undo_in(files: FileSystemExecutor, key_file: Path) -> Generator[WorkspaceUndo | None]:
    """Undo in a workspace; None where nothing can be undone.

    The file of the key that seals journals lies outside of the workspace, and is made if need be.
    Files are exchanged by a system call that only Linux has.
    """
    if sys.platform != "linux":
        yield None
        return
    key = key_in(key_file)
    root_fd = os.open(files.root, _FOLDER)
    undo = WorkspaceUndo(files, UndoStore(root_fd, key))
    try:
        yield undo
    finally:
        undo.store.close()

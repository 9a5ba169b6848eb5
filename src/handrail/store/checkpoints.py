"""CheckpointFolder: for each project a file of signed lines, to which is only ever added.

What a crash leaves behind the last whole line was told to nobody: readers pass over it, and the
next one who adds takes it away.
"""

import asyncio
import fcntl
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from handrail.core.audit import AuditHead
from handrail.core.checkpoint import Checkpoint, read_checkpoint, short_key, write_checkpoint
from handrail.core.errors import BrokenRecord, FileOperationError
from handrail.core.ids import ProjectId
from handrail.core.restoration import Restoration
from handrail.store.audit_key import AuditKey, is_signed
from handrail.store.folders import sync_folder

_LONGEST_LINE_BYTES = 4096


class CheckpointFolder:
    def __init__(self, folder: Path, key: AuditKey):
        self._folder = folder
        self._key = key

    @property
    def key(self) -> str:
        """The public half of what it signs with."""
        return self._key.public

    async def find_last(self, project_id: ProjectId) -> Checkpoint | None:
        return await asyncio.to_thread(self._find_last, project_id)

    async def add(
        self,
        project_id: ProjectId,
        head: AuditHead,
        at: datetime,
        *,
        restored: Restoration | None = None,
    ) -> Checkpoint:
        return await asyncio.to_thread(self._add, project_id, head, at, restored)

    def _find_last(self, project_id: ProjectId) -> Checkpoint | None:
        return find_last_checkpoint(checkpoint_file(self._folder, project_id))

    def _add(
        self, project_id: ProjectId, head: AuditHead, at: datetime, restored: Restoration | None
    ) -> Checkpoint:
        file = checkpoint_file(self._folder, project_id)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "r+b", buffering=0) as stream:
                # Also somebody who only makes a folder known may be adding.
                fcntl.flock(stream, fcntl.LOCK_EX)
                return self._append(stream, project_id, head, at, restored)
        except OSError as error:
            raise FileOperationError(f"{file} cannot be written: {error.strerror}") from error

    def _append(
        self,
        stream: BinaryIO,
        project_id: ProjectId,
        head: AuditHead,
        at: datetime,
        restored: Restoration | None,
    ) -> Checkpoint:
        last, end = _last_whole_line(stream)
        if last is not None and last.key != self._key.public:
            raise BrokenRecord(
                f"the checkpoints were signed with another key, {short_key(last.key)}"
            )
        was_left = last is not None and self._was_left(last, restored)
        if last is not None and last.seq >= head.seq and not was_left:
            return last
        number = 1 if last is None else last.number + 1
        sealed = self._key.seal(project_id, number, head, at)
        stream.truncate(end)
        stream.seek(end)
        stream.write(f"{write_checkpoint(sealed)}\n".encode("ascii"))
        os.fsync(stream.fileno())
        if last is None:
            sync_folder(self._folder)
        return sealed

    def _was_left(self, last: Checkpoint, restored: Restoration | None) -> bool:
        """Whether a restore that the owner of the key has signed goes on without this one."""
        if restored is None or not restored.leaves_behind(last.number):
            return False
        if restored.key != self._key.public or not is_signed(restored):
            raise BrokenRecord("the line that says that a backup was restored is forged")
        return True


def checkpoint_file(folder: Path, project_id: ProjectId) -> Path:
    return folder / f"{project_id}.jsonl"


def find_last_checkpoint(file: Path) -> Checkpoint | None:
    """Raises BrokenRecord if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return _last_whole_line(stream)[0]
    except FileNotFoundError:
        return None


@contextmanager
def read_checkpoints(folder: Path, project_id: ProjectId) -> Generator[Iterator[Checkpoint]]:
    """The checkpoints that are there now, in their order; what is added meanwhile is left out.

    The iterator raises BrokenRecord at a line that is no checkpoint.
    """
    try:
        stream = checkpoint_file(folder, project_id).open("rb")
    except FileNotFoundError:
        yield iter(())
        return
    with stream:
        yield _lines(stream, os.fstat(stream.fileno()).st_size)


def _lines(stream: BinaryIO, end: int) -> Iterator[Checkpoint]:
    number = 0
    while stream.tell() < end:
        line, number = stream.readline(_LONGEST_LINE_BYTES), number + 1
        if not line.endswith(b"\n") and len(line) < _LONGEST_LINE_BYTES:
            return
        try:
            yield read_checkpoint(line)
        except BrokenRecord as error:
            raise BrokenRecord(f"checkpoint {number} is forged: it cannot be read") from error


def _last_whole_line(stream: BinaryIO) -> tuple[Checkpoint | None, int]:
    """The last checkpoint that was written whole, and where it ends."""
    size = stream.seek(0, os.SEEK_END)
    start = max(0, size - 2 * _LONGEST_LINE_BYTES)
    stream.seek(start)
    tail = stream.read(size - start)
    whole, feed, _ = tail.rpartition(b"\n")
    if not feed:
        if start > 0:
            raise BrokenRecord("the last checkpoint cannot be read")
        return None, 0
    return read_checkpoint(whole.rpartition(b"\n")[2]), start + len(whole) + 1

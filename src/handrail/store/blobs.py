"""BlobFolder: one file for each blob, written aside and put in place whole."""

import asyncio
import hashlib
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from handrail.core.blob import INLINE_BYTES, Blob, is_sha256
from handrail.core.errors import BadInput, NotFound, TooLarge
from handrail.core.ids import ProjectId
from handrail.store.faults import faults_told
from handrail.store.folders import sync_folder

# As much is moved at once: threads are asked seldom, and memory stays small.
_PIECE_BYTES = 1 << 20


class BlobFolder:
    """Files are for nobody else to read, and lie apart for each project."""

    def __init__(self, path: Path):
        self._path = path
        self._life = secrets.token_hex(4)

    async def put(
        self, project_id: ProjectId, sha256: str, pieces: AsyncIterable[bytes], *, max_bytes: int
    ) -> Blob:
        with faults_told(self._path):
            return await self._put(project_id, sha256, pieces, max_bytes)

    async def _put(
        self, project_id: ProjectId, sha256: str, pieces: AsyncIterable[bytes], max_bytes: int
    ) -> Blob:
        with await asyncio.to_thread(_Draft, self._path, self._life) as draft:
            async for piece in _gathered(pieces):
                if draft.size + len(piece) > max_bytes:
                    raise TooLarge(f"this is more than the {max_bytes:,} bytes allowed")
                await asyncio.to_thread(draft.write, piece)
            if draft.size <= INLINE_BYTES:
                raise BadInput(f"{draft.size:,} bytes are sent as they are, not as a blob")
            if draft.sha256 != sha256:
                raise BadInput(f"the content's hash is {draft.sha256}, not {sha256}")
            await asyncio.to_thread(draft.keep, self._file(project_id, sha256))
            return Blob(sha256, draft.size)

    async def pieces(self, project_id: ProjectId, sha256: str) -> AsyncGenerator[bytes]:
        try:
            file = await asyncio.to_thread(self._file(project_id, sha256).open, "rb")
        except FileNotFoundError:
            raise NotFound(f"there is no blob {sha256!r}") from None
        with file:
            while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
                yield piece

    async def remove(self, project_id: ProjectId, sha256: str) -> None:
        with suppress(FileNotFoundError):
            await asyncio.to_thread(self._file(project_id, sha256).unlink)

    async def list_all(self) -> list[tuple[ProjectId, str]]:
        return await asyncio.to_thread(self._list_all)

    async def clear_drafts(self) -> None:
        await asyncio.to_thread(self._clear_drafts)

    def _clear_drafts(self) -> None:
        for draft in self._path.glob("*.draft"):
            if not draft.name.startswith(self._life):
                draft.unlink(missing_ok=True)

    def _list_all(self) -> list[tuple[ProjectId, str]]:
        files = self._path.glob("*/*")
        return [(ProjectId(f.parent.name), f.name) for f in files if is_sha256(f.name)]

    def _file(self, project_id: ProjectId, sha256: str) -> Path:
        return self._path / project_id / sha256


class _Draft:
    """A blob while it comes in. What is not kept leaves no trace."""

    def __init__(self, folder: Path, life: str):
        folder.mkdir(mode=0o700, exist_ok=True)
        self.size = 0
        self._hash = hashlib.sha256()
        self._path: Path | None = folder / f"{life}-{secrets.token_hex(8)}.draft"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        try:
            # Its lock makes this wait for a write that a thread may still be at.
            self._file.close()
        finally:
            if self._path is not None:
                self._path.unlink()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def write(self, piece: bytes) -> None:
        self._hash.update(piece)
        self.size += len(piece)
        self._file.write(piece)

    def keep(self, place: Path) -> None:
        """Put it in place, to outlast a power cut."""
        assert self._path is not None  # noqa: S101  it is kept once
        self._file.flush()
        os.fsync(self._file.fileno())
        place.parent.mkdir(mode=0o700, exist_ok=True)
        self._path.replace(place)
        self._path = None
        for folder in (place.parent, place.parent.parent):
            sync_folder(folder)


async def _gathered(pieces: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """The same bytes in pieces that are worth a thread's while."""
    waiting: list[bytes] = []
    size = 0
    async for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)

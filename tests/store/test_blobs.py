"""The folder blobs lie in."""

import hashlib
import os
import stat
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from handrail.core.blob import Blob
from handrail.core.errors import BadInput, NotFound, TooLarge
from handrail.core.ids import ProjectId
from handrail.store.blobs import BlobFolder

PROJECT = ProjectId("prj_1")
CONTENT = os.urandom(3_000_000)
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> BlobFolder:
    return BlobFolder(tmp_path / "blobs")


async def in_pieces(data: bytes, size: int = 65_536) -> AsyncGenerator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def torn(data: bytes) -> AsyncGenerator[bytes]:
    yield data
    raise ConnectionResetError


async def read(folder: BlobFolder, project_id: ProjectId = PROJECT) -> bytes:
    return b"".join([piece async for piece in folder.pieces(project_id, SHA)])


def files_in(path: Path) -> list[str]:
    return sorted(str(f.relative_to(path)) for f in path.rglob("*") if f.is_file())


async def test_what_was_put_there_comes_back(folder: BlobFolder) -> None:
    blob = await folder.put(PROJECT, SHA, in_pieces(CONTENT), max_bytes=3_000_000)
    assert blob == Blob(SHA, 3_000_000)
    assert await read(folder) == CONTENT
    assert await folder.list_all() == [(PROJECT, SHA)]


async def test_nobody_else_can_read_it(folder: BlobFolder, tmp_path: Path) -> None:
    await folder.put(PROJECT, SHA, in_pieces(CONTENT), max_bytes=3_000_000)
    for path in (tmp_path / "blobs", *(tmp_path / "blobs").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


async def test_it_lies_in_its_own_project_only(folder: BlobFolder) -> None:
    await folder.put(PROJECT, SHA, in_pieces(CONTENT), max_bytes=3_000_000)
    with pytest.raises(NotFound):
        await read(folder, ProjectId("prj_2"))


async def test_content_of_another_hash_leaves_no_trace(folder: BlobFolder, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the content's hash is"):
        await folder.put(PROJECT, "0" * 64, in_pieces(CONTENT), max_bytes=3_000_000)
    assert files_in(tmp_path) == []


async def test_more_than_is_taken_leaves_no_trace(folder: BlobFolder, tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="more than the 2,999,999 bytes"):
        await folder.put(PROJECT, SHA, in_pieces(CONTENT), max_bytes=2_999_999)
    assert files_in(tmp_path) == []


async def test_an_upload_that_breaks_off_leaves_no_trace(
    folder: BlobFolder, tmp_path: Path
) -> None:
    with pytest.raises(ConnectionResetError):
        await folder.put(PROJECT, SHA, torn(CONTENT), max_bytes=3_000_000)
    assert files_in(tmp_path) == []


async def test_drafts_are_not_counted_as_blobs(folder: BlobFolder, tmp_path: Path) -> None:
    await folder.put(PROJECT, SHA, in_pieces(CONTENT), max_bytes=3_000_000)
    (tmp_path / "blobs" / "0123.draft").write_bytes(b"half")
    (tmp_path / "blobs" / PROJECT / "notes").write_bytes(b"somebody's")
    assert await folder.list_all() == [(PROJECT, SHA)]


async def test_what_an_earlier_life_had_begun_is_dropped(
    folder: BlobFolder, tmp_path: Path
) -> None:
    async def clearing() -> AsyncGenerator[bytes]:
        yield CONTENT
        (tmp_path / "blobs" / "0123.draft").write_bytes(b"half")
        await folder.clear_drafts()

    await folder.put(PROJECT, SHA, clearing(), max_bytes=3_000_000)
    assert files_in(tmp_path / "blobs") == [f"{PROJECT}/{SHA}"]


async def test_what_is_removed_is_gone_and_may_be_removed_again(folder: BlobFolder) -> None:
    await folder.put(PROJECT, SHA, in_pieces(CONTENT), max_bytes=3_000_000)
    await folder.remove(PROJECT, SHA)
    await folder.remove(PROJECT, SHA)
    assert await folder.list_all() == []

"""The file format of a backup: a tar file that begins with a manifest of all that follows."""

import hashlib
import io
import os
import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec

from handrail.core.errors import SetupError

# The number goes up when an older Handrail could not restore the file any more.
KIND = "handrail backup 1"

_MANIFEST = "manifest.json"
_MANIFEST_HASH = "manifest.sha256"
_PIECE_BYTES = 1 << 20
_LARGEST_MANIFEST_BYTES = 256 << 20

# Called with the bytes that are done, and with all.
OnBytes = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Position:
    """How far the audit chain of a project had come; `broken` says why it does not verify."""

    project_id: str
    name: str
    lines: int
    hash: str
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`missing` are blobs that the database names and that were not on disk."""

    kind: str
    version: str
    schema: str
    created_at: datetime
    projects: list[Position]
    files: list[Member]
    missing: list[str]

    @property
    def size_bytes(self) -> int:
        return sum(member.size for member in self.files)


def list_members(folder: Path) -> list[Member]:
    """Every file in a folder, with its hash, in a fixed order."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [
        Member(path.relative_to(folder).as_posix(), path.stat().st_size, _hash_of(path))
        for path in found
    ]


def write_archive(output: BinaryIO, manifest: Manifest, folder: Path, on_bytes: OnBytes) -> None:
    """Write the members from a folder, behind their manifest."""
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    at = int(manifest.created_at.timestamp())
    done = 0
    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as tar:
        digest = hashlib.sha256(encoded).hexdigest().encode()
        for name, data in ((_MANIFEST, encoded), (_MANIFEST_HASH, digest)):
            tar.addfile(_header(name, len(data), at), io.BytesIO(data))
        for member in manifest.files:
            with (folder / member.name).open("rb") as stream:
                tar.addfile(_header(member.name, member.size, at), stream)
            done += member.size
            on_bytes(done, manifest.size_bytes)


def read_archive(file: Path, folder: Path | None, on_bytes: OnBytes) -> Manifest:
    """Check a backup against its manifest and, with a folder, unpack it there.

    Raises:
        SetupError: It is not a backup, a newer Handrail has written it, or it is damaged.
    """
    try:
        with file.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            manifest = _read_manifest(file, tar)
            _read_members(file, tar, manifest, folder, on_bytes)
    except tarfile.ReadError as error:
        raise SetupError(f"{file} is not a backup of Handrail, or it is cut off") from error
    except (tarfile.TarError, EOFError) as error:
        raise _damaged(file, "its end is missing") from error
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror}") from error
    return manifest


def _read_manifest(file: Path, tar: tarfile.TarFile) -> Manifest:
    first, second = tar.next(), tar.next()
    if first is None or first.name != _MANIFEST or first.size > _LARGEST_MANIFEST_BYTES:
        raise SetupError(f"{file} is not a backup of Handrail")
    if second is None or second.name != _MANIFEST_HASH:
        raise _damaged(file, "the hash of its manifest is missing")
    encoded, digest = _content(tar, first), _content(tar, second)
    if hashlib.sha256(encoded).hexdigest().encode() != digest:
        raise _damaged(file, "its manifest has another hash")
    try:
        kind = msgspec.json.decode(encoded, type=dict[str, object]).get("kind")
        if kind != KIND and re.fullmatch(r"handrail backup \d+", str(kind)):
            raise SetupError(
                f"{file} was written by another version of Handrail ({kind}; this one reads {KIND})"
            )
        return msgspec.json.decode(encoded, type=Manifest)
    except msgspec.DecodeError as error:
        raise _damaged(file, "its manifest cannot be read") from error


def _read_members(
    file: Path, tar: tarfile.TarFile, manifest: Manifest, folder: Path | None, on_bytes: OnBytes
) -> None:
    expected = {member.name: member for member in manifest.files}
    done = 0
    while (found := tar.next()) is not None:
        member = expected.pop(found.name, None)
        if member is None or not found.isreg() or not _is_inside(found.name):
            raise _damaged(file, f"{found.name!r} is not part of a backup")
        digest = hashlib.sha256()
        source = tar.extractfile(found)
        with open(os.devnull, "wb") if folder is None else _create(folder / found.name) as target:
            while source is not None and (piece := source.read(_PIECE_BYTES)):
                digest.update(piece)
                target.write(piece)
                done += len(piece)
                on_bytes(done, manifest.size_bytes)
            if folder is not None:
                target.flush()
                os.fsync(target.fileno())
        if (found.size, digest.hexdigest()) != (member.size, member.sha256):
            raise _damaged(file, f"{found.name} has another hash")
    if expected:
        raise _damaged(file, f"{min(expected)} is missing")


def _content(tar: tarfile.TarFile, header: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(header)
    return b"" if stream is None else stream.read()


def _header(name: str, size: int, at: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mtime, header.mode = size, at, 0o600
    return header


def _create(path: Path) -> BinaryIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name


def _hash_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _damaged(file: Path, why: str) -> SetupError:
    return SetupError(f"{file} is damaged: {why}. Nothing was restored; use another backup")

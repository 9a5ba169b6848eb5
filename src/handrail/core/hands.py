"""All that a tool may touch. What a tool was not handed, it cannot do."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from handrail.core.blob import Blob
from handrail.core.errors import FileOperationError
from handrail.core.tool import JsonObject


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of one file, read in one piece, its whole size and its permission bits."""

    data: bytes
    size: int
    mode: int = 0o644

    @property
    def state(self) -> "FileState":
        return FileState(exists=True, sha256=hashlib.sha256(self.data).hexdigest(), mode=self.mode)


@dataclass(frozen=True, slots=True)
class FileState:
    """Enough of a file, or of its absence, to know it again."""

    exists: bool
    sha256: str = ""
    mode: int = 0

    def as_facts(self) -> JsonObject:
        if not self.exists:
            return {"exists": False}
        return {"exists": True, "sha256": self.sha256, "mode": f"{self.mode:04o}"}

    @classmethod
    def from_facts(cls, facts: JsonObject) -> "FileState":
        if not facts["exists"]:
            return cls(exists=False)
        return cls(exists=True, sha256=facts["sha256"], mode=int(facts["mode"], 8))


class Files(Protocol):
    """The files below one workspace root. Paths are relative to it and already judged."""

    async def read(self, path: str, *, max_bytes: int) -> FileContent: ...

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        """What a write to `path` would displace; None where nothing is there yet.

        Raises:
            PathValidationError: A write there would be refused: it leads outside, to a link, to
                something that is no regular file, or to a file with a second name.
            FileOperationError: A write there would fail: no permission, or it is a folder.
        """
        ...

    async def check(self, path: str, *, writing: bool) -> None:
        """Look where `path` leads, for a program that will follow it; nothing there is fine.

        Raises:
            PathValidationError: It leads outside, or is protected under its true name.
        """
        ...

    async def write(self, path: str, data: bytes, *, expected: FileState | None) -> None:
        """Put `data` there whole or not at all, making folders that are missing.

        Raises:
            StaleFileError: What is there is not what was `expected`; nothing was changed.
        """
        ...


class Ending(StrEnum):
    """How a command came to its end."""

    EXITED = "exited"
    KILLED = "killed"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """What a command said and how it ended; `…_lost` counts bytes that were not kept."""

    stdout: bytes
    stderr: bytes
    ending: Ending
    exit_code: int | None
    seconds: float
    stdout_lost: int = 0
    stderr_lost: int = 0


class Commands(Protocol):
    """Programs, started with the workspace as their folder and an environment from nothing."""

    async def run(self, argv: Sequence[str], *, timeout_seconds: float) -> CommandOutcome: ...


class Blobs(Protocol):
    """Payloads that came apart from their call."""

    async def fetch(self, blob: Blob) -> bytes:
        """The content, proven to have that hash and size.

        Raises:
            FileOperationError: It cannot be had.
        """
        ...


class NoBlobs:
    """Where nothing comes apart from its call."""

    async def fetch(self, blob: Blob) -> bytes:
        raise FileOperationError(f"blob {blob.sha256} cannot be fetched here")


@dataclass(frozen=True, slots=True)
class Hands:
    files: Files
    commands: Commands
    blobs: Blobs = field(default_factory=NoBlobs)

"""All that a tool may touch. What a tool was not handed, it cannot do."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of one file, read in one piece, and its whole size."""

    data: bytes
    size: int


class Files(Protocol):
    """The files below one workspace root. Paths are relative to it and already judged."""

    async def read(self, path: str, *, max_bytes: int) -> FileContent: ...


@dataclass(frozen=True, slots=True)
class Hands:
    files: Files

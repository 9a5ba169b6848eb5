"""The files of a workspace: their contents and states, listings, and the port that reaches them."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from handrail.core.pattern import NamePattern
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


class FileVersion(NamedTuple):
    """What the system says of an open file. If none of it changes, neither has the content."""

    device: int
    inode: int
    size: int
    mode: int
    modified_ns: int
    changed_ns: int


class ReadCache(Protocol):
    """What was read before; asked only with the version of a file that is open now."""

    def find(self, version: FileVersion) -> FileContent | None: ...

    def keep(self, version: FileVersion, content: FileContent) -> None: ...


class EntryKind(StrEnum):
    """What a name in a folder stands for. A link is a link, wherever it leads."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; `path` begins at the workspace's root."""

    path: str
    kind: EntryKind
    size: int | None = None
    modified: datetime | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Listing:
    """The first entries that fit, and how many there are in all.

    `skipped` are folders that could not be looked into; unless `whole`, there was more to look at
    than anybody has time for, and `total` counts what was seen.
    """

    entries: tuple[Entry, ...]
    total: int
    skipped: tuple[str, ...] = ()
    whole: bool = True

    def below(self, folder: str) -> "Listing":
        """The same with paths that begin with `folder`."""
        entries = tuple(replace(one, path=f"{folder}/{one.path}") for one in self.entries)
        skipped = tuple(f"{folder}/{path}" for path in self.skipped)
        return replace(self, entries=entries, skipped=skipped)


class Files(Protocol):
    """The files below one workspace root. Paths are relative to it and already judged."""

    async def read(self, path: str, *, max_bytes: int) -> FileContent: ...

    async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
        """The names below a folder that fit a pattern, sorted; no hidden folder is entered.

        Raises:
            PathValidationError: It leads outside, or is protected under its true name.
            FileOperationError: It is not a folder, or may not be read.
        """
        ...

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        """The file that a write, `remove` or `move` would take away; None where nothing is there.

        Raises:
            PathValidationError: A write there would be refused: it leads outside, to a link, to
                something that is no regular file, or to a file with a second name.
            FolderError: It is a folder.
            FileOperationError: A write there would fail, or the file is larger than `max_bytes`.
        """
        ...

    async def check(self, path: str, *, writing: bool) -> str:
        """Where `path` leads, for a program that will follow it; nothing there is fine.

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

    async def remove(self, path: str, *, expected: FileState) -> None:
        """Remove the file at `path`. The folder that held it stays.

        Raises:
            StaleFileError: What is there is not what was `expected`; nothing was changed.
        """
        ...

    async def move(self, path: str, to: str, *, expected: FileState) -> None:
        """Give the file at `path` the path `to`, making folders that are missing.

        It stays the same file, with its mode and times, and never replaces another.

        Raises:
            StaleFileError: What is at `path` is not what was `expected`, or something is at `to`;
                nothing was changed.
        """
        ...

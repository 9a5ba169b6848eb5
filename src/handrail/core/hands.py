"""All that a tool may touch. What a tool was not handed, it cannot do."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, NoReturn, Protocol, Self

from handrail.core.about import About
from handrail.core.blob import Blob
from handrail.core.box import Profile
from handrail.core.configuration import Configuration
from handrail.core.entry import EntryKind
from handrail.core.errors import FileOperationError, ToolError
from handrail.core.memory import Memories
from handrail.core.outcome import CommandOutcome
from handrail.core.pattern import NamePattern
from handrail.core.rehearsal import CallRef, Rehearsals
from handrail.core.search import Searches
from handrail.core.sight import Sight
from handrail.core.skill import Skills
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject
from handrail.core.web import Reader, Web


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


class Files(Protocol):
    """The files below one workspace root. Paths are relative to it and already judged."""

    async def read(self, path: str, *, max_bytes: int) -> FileContent: ...

    async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
        """The names below a folder that fit a pattern, sorted; no hidden folder is entered.

        Raises:
            PathValidationError: It leads outside, or is protected under its true name.
            FileOperationError: It is no folder, or may not be read.
        """
        ...

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        """What a write to `path` would displace; None where nothing is there yet.

        Raises:
            PathValidationError: A write there would be refused: it leads outside, to a link, to
                something that is no regular file, or to a file with a second name.
            FileOperationError: A write there would fail: no permission, or it is a folder.
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


Check = Callable[[int], Awaitable[None]]


class Commands(Protocol):
    """Programs, started with the workspace as their folder and an environment from nothing."""

    async def look(self, stages: Sequence[Stage]) -> Sight:
        """What these programs would run, as the machine stands; nothing is run or changed.

        Raises:
            CommandExecutionError: One of them is not here.
            PathValidationError: One of them lies elsewhere.
        """
        ...

    async def find_workspace_program(self, stage: Stage) -> str | None:
        """The program of the workspace that a stage starts by a bare name, as a path from its root.

        None if the system has a program of that name.
        """
        ...

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
        check: Check | None = None,
    ) -> CommandOutcome:
        """Run programs in boxes of their profiles, or in the open where there is none.

        `expected` are the facts of an earlier look. They are held against the machine right before
        the first program is started, and what they say of files again before each that follows.
        Before each is, `check` is asked with the place of its stage; it objects by raising.

        Raises:
            CommandExecutionError: It could not be started.
            StaleCommandError: They do not hold any more; nothing was started.
        """
        ...


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


class Absent:
    """Stands where there is nothing to touch: whatever is wanted of it is refused in words."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ToolError(f"{self._what} cannot be had here")


_NO_FILES: Any = Absent("files")
_NO_COMMANDS: Any = Absent("commands")
_NO_SEARCHES: Any = Absent("a search")
_NO_WEB: Any = Absent("the web")
_NO_READER: Any = Absent("a reader")
_NO_MEMORIES: Any = Absent("memories")
_NO_SKILLS: Any = Absent("skills")
_NO_CONFIG: Any = Absent("settings")
_NO_ABOUT: Any = Absent("what Handrail knows of itself")
_NO_REHEARSALS: Any = Absent("a rehearsal")


@dataclass(frozen=True, slots=True)
class Hands:
    """On a client they hold a workspace, on the server what one person's agents keep there.

    `call` is the call they are used for, where that is known.
    """

    files: Files = _NO_FILES
    commands: Commands = _NO_COMMANDS
    searches: Searches = _NO_SEARCHES
    blobs: Blobs = field(default_factory=NoBlobs)
    web: Web = _NO_WEB
    reader: Reader = _NO_READER
    memories: Memories = _NO_MEMORIES
    skills: Skills = _NO_SKILLS
    config: Configuration = _NO_CONFIG
    about: About = _NO_ABOUT
    rehearsals: Rehearsals = _NO_REHEARSALS
    call: CallRef | None = None

    def for_call(self, call: CallRef | None) -> Self:
        """The same hands, used for this call."""
        own = copy(self)
        object.__setattr__(own, "call", call)
        return own

    async def run(
        self, *argv: str, profile: Profile = Profile.READ, timeout_seconds: float = 30
    ) -> CommandOutcome:
        """Run one program; unless said otherwise, where it can only look.

        Raises:
            CommandExecutionError: It could not be started.
        """
        return await self.commands.run([Stage(argv, profile)], timeout_seconds=timeout_seconds)

"""All that a tool may touch. What a tool was not handed, it cannot do."""

from copy import copy
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, Self

from handrail.core.about import About
from handrail.core.blob import Blob
from handrail.core.box import Profile
from handrail.core.commands import Commands as Commands
from handrail.core.configuration import Configuration
from handrail.core.draft import Drafts, NoDrafts
from handrail.core.errors import FileOperationError, ToolError
from handrail.core.files import Entry as Entry
from handrail.core.files import EntryKind as EntryKind
from handrail.core.files import FileContent as FileContent
from handrail.core.files import Files as Files
from handrail.core.files import FileState as FileState
from handrail.core.files import FileVersion as FileVersion
from handrail.core.files import Listing as Listing
from handrail.core.files import ReadCache as ReadCache
from handrail.core.memory import Memories
from handrail.core.outcome import CommandOutcome
from handrail.core.rehearsal import CallRef, NoRehearsals, Rehearsals
from handrail.core.search import Searches
from handrail.core.skill import Skills
from handrail.core.stage import Stage
from handrail.core.undo import NoUndo, Undo
from handrail.core.verdict import Verdict
from handrail.core.web import Reader, Web


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
        raise ToolError(f"{self._what} is not available here")


_NO_FILES: Any = Absent("files")
_NO_COMMANDS: Any = Absent("commands")
_NO_SEARCHES: Any = Absent("a search")
_NO_WEB: Any = Absent("the web")
_NO_READER: Any = Absent("a reader")
_NO_MEMORIES: Any = Absent("memories")
_NO_SKILLS: Any = Absent("skills")
_NO_CONFIG: Any = Absent("settings")
_NO_ABOUT: Any = Absent("Handrail's information about itself")


@dataclass(frozen=True, slots=True)
class Hands:
    """On a client they hold a workspace, on the server what one person's agents keep there.

    `call` is the call they are used for, and `verdict` what was ruled on its words, where that is
    known; a call `by_person` was made by no agent. If `in_draft`, all that they change is a step of
    the session's draft.
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
    rehearsals: Rehearsals = field(default_factory=NoRehearsals)
    undo: Undo = field(default_factory=NoUndo)
    drafts: Drafts = field(default_factory=NoDrafts)
    in_draft: bool = False
    by_person: bool = False
    call: CallRef | None = None
    verdict: Verdict | None = None

    def for_call(self, call: CallRef | None, verdict: Verdict | None = None) -> Self:
        """The same hands, used for this call; its writes can be undone, where that is possible."""
        files = self.files if call is None else self.undo.files_for(call, self.files)
        return self._with(files=files, call=call, verdict=verdict)

    def for_draft(self, call: CallRef, title: str, verdict: Verdict | None = None) -> Self:
        """Hands that work on the draft of the call's session; `title` names the step."""
        work = self.drafts.work_on(call, title)._asdict()
        return self._with(**work, undo=NoUndo(), in_draft=True, call=call, verdict=verdict)

    def of_person(self) -> Self:
        """The same hands, for a call that a person has made."""
        return self._with(by_person=True)

    def knowing(self, verdict: Verdict) -> Self:
        """The same hands, with what was ruled since."""
        return self._with(verdict=verdict)

    def _with(self, **fields: object) -> Self:
        own = copy(self)
        for name, value in fields.items():
            object.__setattr__(own, name, value)
        return own

    async def run(
        self, *argv: str, profile: Profile = Profile.READ, timeout_seconds: float = 30
    ) -> CommandOutcome:
        """Run one program; unless said otherwise, where it can only look.

        Raises:
            CommandExecutionError: It could not be started.
        """
        return await self.commands.run([Stage(argv, profile)], timeout_seconds=timeout_seconds)

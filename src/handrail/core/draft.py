"""Drafts: the effects of a session's calls, kept apart from the workspace until a person agrees."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeVar

from handrail.core.commands import Commands
from handrail.core.effects import Effect, Effects, Node
from handrail.core.errors import CommandExecutionError
from handrail.core.files import Files
from handrail.core.rehearsal import CallRef, Contents, Rehearsals
from handrail.core.search import Searches

T = TypeVar("T")

# How the id of a program's run begins; it is no call.
PROGRAM_RUN = "run-"
EXPIRES_SOON = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class DraftStep:
    """The effects of one call on the draft as it was before; `call` is the call's `tool_id`.

    `git` are git's own words for what it changed. `merged` are files that were merged with the
    workspace, and what they were there.

    Of a program that ran for long, `hosts` are those it has reached or tried to, `notes` tell what
    else there is to know, and `uncertain` are paths that others have changed meanwhile. Unless the
    step `is_whole`, it has changed more than `changes` tells, and cannot be applied.
    """

    number: int
    call: str
    title: str
    at: float
    changes: tuple[Effect, ...]
    git: tuple[str, ...] = ()
    exit_code: int | None = None
    merged: tuple[tuple[str, Node], ...] = ()
    hosts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    uncertain: tuple[str, ...] = ()
    is_whole: bool = True

    @property
    def is_call(self) -> bool:
        """True if a call made the step, and False if a draft program did."""
        return not self.call.startswith(PROGRAM_RUN)

    def with_program(
        self, exit_code: int, hosts: tuple[str, ...], notes: tuple[str, ...]
    ) -> "DraftStep":
        return replace(self, exit_code=exit_code, hosts=hosts, notes=(*notes, *self.notes))

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "call": self.call,
            "title": self.title,
            "at": self.at,
            "changes": [change.as_json() for change in self.changes],
            "git": list(self.git),
            "exit_code": self.exit_code,
            "merged": [[path, node.as_json()] for path, node in self.merged],
            "hosts": list(self.hosts),
            "notes": list(self.notes),
            "uncertain": list(self.uncertain),
            "is_whole": self.is_whole,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "DraftStep":
        return cls(
            told["number"],
            told["call"],
            told["title"],
            told["at"],
            tuple(map(Effect.from_json, told["changes"])),
            tuple(told["git"]),
            told["exit_code"],
            tuple((path, Node.from_json(node)) for path, node in told["merged"]),
            tuple(told.get("hosts", ())),
            tuple(told.get("notes", ())),
            tuple(told.get("uncertain", ())),
            told.get("is_whole", True),
        )


class DraftSum(NamedTuple):
    """What the first steps of a draft change together, against the workspace as it is now.

    `conflicts` are paths that others have changed in the workspace after the draft did, each in a
    sentence. `later` counts the steps that are not part of it, and `others` the changes of these
    steps that were not chosen.
    """

    effects: Effects
    steps: tuple[DraftStep, ...]
    conflicts: tuple[str, ...] = ()
    later: int = 0
    why_not: str = ""
    others: int = 0


class DraftSummary(NamedTuple):
    """What a machine tells about a draft that it has; `trouble` says why it cannot be read.

    `files` counts those that were changed, and `bytes` is what they take now. The draft was last
    used at `last_at`.
    """

    session_id: str
    steps: int
    files: int
    bytes: int
    began_at: datetime
    last_at: datetime
    expires_at: datetime
    trouble: str = ""

    def expires_soon(self, now: datetime) -> bool:
        return self.expires_at - now < EXPIRES_SOON


class DraftExpired(NamedTuple):
    """A draft that was not used for too long; `patch` is the file that it was exported to."""

    session_id: str
    steps: int
    files: int
    patch: str


class DraftWork(NamedTuple):
    """What one call does its work with in a draft. What is applied becomes a step."""

    files: Files
    commands: Commands
    searches: Searches
    rehearsals: Rehearsals


class Drafts(Protocol):
    """The drafts on one machine, at most one for each session."""

    def work_on(self, call: CallRef, title: str) -> DraftWork:
        """The draft of a call's session, for this call; `title` names the step that it makes.

        Raises:
            CommandExecutionError: No draft can be kept here.
        """
        ...

    async def sum_up(
        self, call: CallRef, steps: int | None, paths: Sequence[str] | None = None
    ) -> DraftSum:
        """The effects of the first `steps` of the session's draft, or of all.

        With `paths` only what they do to these files, and to all below these folders. A call that
        asks again is told about the same steps, also if there are more by now.

        Raises:
            CommandExecutionError: There is no draft, or it cannot be read.
        """
        ...

    async def look(
        self, session_id: str, steps: int | None, draw: Callable[[DraftSum, Contents], T]
    ) -> T:
        """Draw the effects of the first `steps` of a draft, or of all, and change nothing.

        Files that `sum_up` would merge with the workspace are told as conflicts.

        Raises:
            CommandExecutionError: There is no draft.
            DraftDamaged: It cannot be read.
            StaleFileError: It was changed all the time.
        """
        ...

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        """Draw the effects that the call has asked for, with the contents of the files.

        Raises:
            CommandExecutionError: Nothing was summed up for this call.
        """
        ...

    async def apply(self, call: CallRef) -> None:
        """Make exactly the effects that the call has asked for real; they leave the draft.

        Raises:
            CommandExecutionError: Nothing was summed up for this call.
            StaleFileError: The workspace was changed since; nothing was changed.
            FileOperationError: The file system refused; nothing was changed.
        """
        ...

    async def discard(self, session_id: str, first: int, why: str = "") -> Sequence[DraftStep]:
        """Remove a step and all that came after it; returns them.

        With a `why`, the session's agent does not know, and is told with its next result.
        """
        ...

    def take_note(self, call: CallRef) -> str:
        """What the agent is to be told with the result of this call; empty if there is nothing."""
        ...


class NoDrafts:
    """For machines on which no draft can be kept."""

    def __init__(self, why_not: str = "drafts cannot be kept on this machine"):
        self._why_not = why_not

    def work_on(self, call: CallRef, title: str) -> DraftWork:
        raise CommandExecutionError(self._why_not)

    async def sum_up(
        self, call: CallRef, steps: int | None, paths: Sequence[str] | None = None
    ) -> DraftSum:
        raise CommandExecutionError(self._why_not)

    async def look(
        self, session_id: str, steps: int | None, draw: Callable[[DraftSum, Contents], T]
    ) -> T:
        raise CommandExecutionError(self._why_not)

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        raise CommandExecutionError(self._why_not)

    async def apply(self, call: CallRef) -> None:
        raise CommandExecutionError(self._why_not)

    async def discard(self, session_id: str, first: int, why: str = "") -> Sequence[DraftStep]:
        raise CommandExecutionError(self._why_not)

    def take_note(self, call: CallRef) -> str:
        return ""

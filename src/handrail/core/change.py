"""What the store takes: whole changes, never open transactions.

A change is a list of steps with their preconditions, the events that tell of them and the audit
lines that prove them. It is stored whole or, when a precondition no longer holds, not at all.
"""

from dataclasses import dataclass
from datetime import datetime

from handrail.core.access import Token
from handrail.core.approval import Approval
from handrail.core.audit import AuditRecord
from handrail.core.blob import BlobHold
from handrail.core.event import NewEvent, Topic
from handrail.core.execution import ToolExecution
from handrail.core.grant import Grant
from handrail.core.grant_steps import AboutGrants
from handrail.core.ids import INSIDE, ExecutionId, ProjectId, UserId
from handrail.core.memory import Memory, Vector
from handrail.core.model import Usage
from handrail.core.project import Client, Project, Session, User, Workspace
from handrail.core.revision_steps import Revise
from handrail.core.run import Message, Run
from handrail.core.undo_record import AboutUndo

Row = User | Project | Workspace | Client | Token | Approval | Grant


@dataclass(frozen=True, slots=True)
class Add:
    """A row that was not there before."""

    row: Row


@dataclass(frozen=True, slots=True)
class OpenSession:
    """The session's row, unless somebody was faster."""

    session: Session


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A new call. Refused if its call id is taken, or its session is unknown or stopped.

    A person's own call, made by no agent, enters a stopped session too.

    Refused also where the session is tainted and the call was not `judged_tainted`.

    `raw_params` is what was asked, as canonical JSON, and `masked` whether the record shows less;
    if it does not, the record itself is raw. With `opened_by`, the session must also have been
    opened by that very agent.
    """

    execution: ToolExecution
    raw_params: str
    masked: bool = True
    opened_by: str | None = None
    judged_tainted: bool = False


@dataclass(frozen=True, slots=True)
class Advance:
    """A step along a road. Refused unless status and epoch are still those of `before`.

    Arriving at a final state erases the raw parameters; where the session has been stopped, no
    other step is taken, unless the call is a person's own.
    """

    before: ToolExecution
    after: ToolExecution


@dataclass(frozen=True, slots=True)
class Reoffer:
    """The same state in other hands. Refused unless status and epoch are those of `before`."""

    before: ToolExecution
    after: ToolExecution


@dataclass(frozen=True, slots=True)
class Rejudge:
    """A step with a new judgement. Refused unless status and epoch are those of `before`."""

    before: ToolExecution
    after: ToolExecution


@dataclass(frozen=True, slots=True)
class Reask:
    """An open question with a new judgement. Refused if it was answered, or the call moved on."""

    before: ToolExecution
    after: ToolExecution
    approval: Approval


@dataclass(frozen=True, slots=True)
class Resolve:
    """The answer to a question. Refused unless it is still open: the first answer wins."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class StopSession:
    """Nothing enters by this session from now on, and its grants cover nothing any more.

    Refused if it is unknown, or was stopped before.
    """

    session: Session


@dataclass(frozen=True, slots=True)
class TaintSession:
    """The session of a call is trusted no more, because of what `by` says; the first cause counts.

    Its grants cover nothing until a person clears it.
    """

    execution: ToolExecution
    by: str


@dataclass(frozen=True, slots=True)
class ClearTaint:
    """A session is trusted again. Refused if it is unknown, or was trusted all the time."""

    session: Session


@dataclass(frozen=True, slots=True)
class KeepTold:
    """What the result of a call has told of, as keys; who has told one first stays the one."""

    execution: ToolExecution
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevokeToken:
    """The token, or all of its subject, opens nothing now. Refused if that was so already."""

    token: Token
    all_of_subject: bool = False


@dataclass(frozen=True, slots=True)
class StopAgent:
    """All that an agent has opened is stopped: its sessions, and the grants in them."""

    project_id: ProjectId
    agent_id: str


@dataclass(frozen=True, slots=True)
class KeepLate:
    """A result that came after the end, kept beside it. Refused if there is one already."""

    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """What the policy file of a workspace says from now on, and what keeps commands in there.

    Refused if there is no such place.
    """

    workspace: Workspace


@dataclass(frozen=True, slots=True)
class SetAutonomy:
    """How much agents of the project may do from now on. Refused if there is no such project."""

    project: Project


@dataclass(frozen=True, slots=True)
class ForgetEvents:
    """The project's events up to this number need not be told again."""

    through: int


@dataclass(frozen=True, slots=True)
class KeepBlob:
    """A blob that lies ready is kept for whoever uploaded it, counted from now."""

    hold: BlobHold


@dataclass(frozen=True, slots=True)
class UseBlob:
    """A call names a blob. Refused unless it lies here and, for an agent, is one of its own.

    An agent's own are what it uploaded and what its calls gave back.
    """

    hold: BlobHold
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class LetBlobGo:
    """A reason to keep a blob is gone, unless it was given anew meanwhile."""

    hold: BlobHold


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A new run. Refused if its session has one already, is unknown, or has been stopped."""

    run: Run


@dataclass(frozen=True, slots=True)
class MoveRun:
    """A run changes hands, or ends. Refused unless it still runs, under the epoch of `before`.

    With `last_seq` it is also refused where something has been said in the session since.
    """

    before: Run
    after: Run
    last_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Say:
    """A message. Refused if its place is taken, or its run is over.

    With `epoch`, the run must also be in those very hands.
    """

    message: Message
    epoch: int | None = None


@dataclass(frozen=True, slots=True)
class CountTokens:
    """What a person's agents have used on a day, added to what was counted before."""

    user_id: UserId
    day: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class ForgetTalk:
    """What was said in a session and what its calls brought back are gone; what was asked stays.

    Refused unless the session has been stopped and all its calls have ended.
    """

    session: Session


@dataclass(frozen=True, slots=True)
class RemoveResults:
    """The results of these calls are gone; their records say since when.

    Refused if one of the calls has no result, has not ended, or is still needed.
    """

    ids: tuple[ExecutionId, ...]


@dataclass(frozen=True, slots=True)
class RemoveCalls:
    """The records of these calls and their questions are gone; their ids stay taken.

    Refused if one of them has not ended, or is still needed.
    """

    ids: tuple[ExecutionId, ...]


@dataclass(frozen=True, slots=True)
class ShrinkFile:
    """A few free pages of the database go back to the file system."""


@dataclass(frozen=True, slots=True)
class KeepMemory:
    """A memory of a person. Refused if its key is taken by any other memory than `replaces`."""

    user_id: UserId
    memory: Memory
    vector: Vector | None = None
    replaces: Memory | None = None


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    """The memory is gone, also for a search. Refused if there is none under that key."""

    user_id: UserId
    key: str


@dataclass(frozen=True, slots=True)
class SetVector:
    """The meaning of a memory that had no vector, unless its content has changed meanwhile."""

    user_id: UserId
    memory: Memory
    vector: Vector


AboutPeople = Reask | Revise | Resolve | AboutGrants | StopSession | TaintSession | ClearTaint
AboutTokens = RevokeToken | StopAgent
AboutRuns = OpenRun | MoveRun | Say | CountTokens
AboutBlobs = KeepBlob | UseBlob | LetBlobGo
AboutMemories = KeepMemory | ForgetMemory | SetVector
AboutRetention = RemoveResults | RemoveCalls | ForgetEvents | ShrinkFile
Step = (
    Add | OpenSession | OpenCall | Advance | Reoffer | Rejudge | AboutPeople | AboutTokens
    | AboutBlobs | AboutMemories | KeepLate | KeepTold | SetPolicy | SetAutonomy | AboutRuns
    | ForgetTalk | AboutRetention | AboutUndo
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    project_id: ProjectId
    at: datetime
    steps: tuple[Step, ...]
    events: tuple[NewEvent, ...] = ()
    audit: tuple[AuditRecord, ...] = ()

    @property
    def topics(self) -> tuple[str, ...]:
        """Who must be woken once this is durable."""
        if not self.events:
            return ()
        calls = (Topic.execution(event.execution_id) for event in self.events)
        inside = (Topic.INSIDE,) if any(event.client_id == INSIDE for event in self.events) else ()
        return (Topic.project(self.project_id), *calls, *inside)

"""Sockets in the wall: what the rooms above need and the adapters below provide."""

from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from handrail.core.access import Token
from handrail.core.activity import ActivityReads
from handrail.core.analytics import AnalyticsReads
from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.audit import AuditEntry, AuditHead
from handrail.core.blob import Blob, BlobHold
from handrail.core.card import Card, Choice
from handrail.core.change import Change
from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import StoreUnavailable
from handrail.core.event import Event
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import GrantReads, PastCalls
from handrail.core.ids import (
    ApprovalId,
    CallId,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)
from handrail.core.memory import MemoryReads
from handrail.core.project import Client, Place, Project, Session, User, Workspace
from handrail.core.restoration import Restoration
from handrail.core.retention import RetentionReads
from handrail.core.talks import Talks


class Clock(Protocol):
    def now(self) -> datetime: ...


class Bell(Protocol):
    async def wait(self, timeout_seconds: float) -> bool:
        """Wait for a ring since the last wait; False when the time has passed without one."""
        ...


class Bus(Protocol):
    """The doorbell. It carries no parcel: a lost ring costs time, never correctness."""

    def ring(self, topics: Sequence[str]) -> None: ...

    def listen(self, *topics: str) -> AbstractContextManager[Bell]:
        """One bell for all the topics, for as long as the context is open."""
        ...


class Channel(Protocol):
    """A way to reach a person."""

    @property
    def name(self) -> str: ...

    async def ask(self, card: Card) -> Choice | None:
        """Show a card and wait for the choice; None leaves it to others.

        Cancelled when the question is answered elsewhere, or its time has passed.
        """
        ...

    def tell(self, words: str) -> None:
        """Say something that needs no answer."""
        ...


class Checkpoints(Protocol):
    """Signed words about how far each record has come, kept where the store is not."""

    async def find_last(self, project_id: ProjectId) -> Checkpoint | None:
        """The last one of a project. Raises BrokenRecord when it cannot be read."""
        ...

    async def add(
        self,
        project_id: ProjectId,
        head: AuditHead,
        at: datetime,
        *,
        restored: Restoration | None = None,
    ) -> Checkpoint:
        """Seal a record up to here, durably; if that is sealed already, give the last one.

        After a restore the last one may seal a line that is not in the record any more.

        Raises:
            BrokenRecord: What was sealed before is not ours to go on from.
        """
        ...


class StreamItem(NamedTuple):
    """An event with the call it tells of, as that is now; no event tells of its result.

    There is none where a conversation is told of, or where the record of the call was removed.

    `raw_params` is there only for a signal that still stands: the call has not ended and has
    not been offered anew since.
    """

    event: Event
    execution: ToolExecution | None
    raw_params: str | None


class EventRange(NamedTuple):
    """The events of a project that can still be told: from `first` to `last`, without a gap."""

    first: int
    last: int


class Shelf(Protocol):
    """Where blobs lie, each project's apart. It knows nothing of who holds them."""

    async def put(
        self, project_id: ProjectId, sha256: str, pieces: AsyncIterable[bytes], *, max_bytes: int
    ) -> Blob:
        """Take in a blob piece by piece; it lies there whole and durable, or not at all.

        Raises:
            TooLarge: It is more than that.
            BadInput: Its content has another hash, or is so little that it needs no blob.
        """
        ...

    def pieces(self, project_id: ProjectId, sha256: str) -> AsyncGenerator[bytes]:
        """What lies there, piece by piece."""
        ...

    async def remove(self, project_id: ProjectId, sha256: str) -> None: ...

    async def list_all(self) -> list[tuple[ProjectId, str]]: ...

    async def clear_drafts(self) -> None:
        """Drop what an earlier life of this server had begun to take in."""
        ...


class Store(
    AnalyticsReads, ActivityReads, GrantReads, Talks, MemoryReads, RetentionReads, Protocol
):
    """The truth. Changes go in whole; what comes out are values."""

    @property
    def shelf(self) -> Shelf: ...

    @property
    def fault(self) -> StoreUnavailable | None:
        """Why changes cannot be stored at the moment; None while they can."""
        ...

    async def check(self) -> None:
        """Notice a database that is gone, and one that can be written again; raises nothing."""
        ...

    async def submit(self, change: Change) -> None:
        """Make the change durable, then ring.

        Raises:
            ChangeRefused: It no longer applies.
            StoreUnavailable: Nothing can be stored now.
        """
        ...

    async def find_user(self, name: str) -> User | None: ...

    async def get_user(self, user_id: UserId) -> User: ...

    async def find_token(self, secret_hash: str) -> Token | None: ...

    async def list_tokens(self, user_id: UserId) -> list[Token]:
        """All the tokens of a user, oldest first; also those that are good no more."""
        ...

    async def list_names(self, project_id: ProjectId) -> dict[str, str]: ...

    async def find_project(self, project_id: ProjectId) -> Project | None: ...

    async def list_projects(self, user_id: UserId) -> list[Project]: ...

    async def list_workspaces(self, project_id: ProjectId) -> list[Workspace]: ...

    async def list_clients(self, project_id: ProjectId) -> list[Client]: ...

    async def find_place(self, project_id: ProjectId, session_id: SessionId) -> Place | None: ...

    async def find_execution(self, execution_id: ExecutionId) -> ToolExecution | None: ...

    async def find_call(
        self, project_id: ProjectId, session_id: SessionId, call_id: CallId
    ) -> ToolExecution | None: ...

    async def list_executions(
        self, project_id: ProjectId, *, status: Status | None, agent_id: str | None, limit: int
    ) -> list[ToolExecution]: ...

    async def list_results(
        self, project_id: ProjectId, session_id: SessionId, *, limit: int, most_chars: int
    ) -> list[ToolExecution]:
        """The latest calls of a session that have told something, newest first.

        Not more than about so many characters of it, but at least one call.
        """
        ...

    async def find_teller(
        self, project_id: ProjectId, circle: str, key: str, *, but_for: str | None
    ) -> ExecutionId | None:
        """The first call of a circle whose result told of this; not of the file `but_for`."""
        ...

    async def list_tainted(self, project_id: ProjectId) -> list[Session]:
        """The sessions of a project that are not trusted, and have not been stopped."""
        ...

    async def count_calls(self, project_id: ProjectId, since: datetime) -> int:
        """How many calls of a project were made at that moment or later."""
        ...

    async def list_open(self, workspace_id: WorkspaceId) -> list[ToolExecution]:
        """The calls of a workspace that are APPROVED or EXECUTING, oldest first."""
        ...

    async def list_open_since(self, approved_before: datetime) -> list[ToolExecution]:
        """The calls, of all projects, that are APPROVED or EXECUTING since before a moment."""
        ...

    async def list_open_inside(self) -> list[ToolExecution]:
        """The calls, of all projects, that the server itself is to execute, oldest first."""
        ...

    async def list_unfinished(self, session: Session) -> list[ToolExecution]: ...

    async def list_left_in_stopped(self) -> list[ToolExecution]:
        """The calls, of all projects, that have not ended though their session was stopped."""
        ...

    async def find_execution_of(self, approval_id: ApprovalId) -> ToolExecution | None:
        """The call a question is about, also while it is still being put together."""
        ...

    async def list_unsurveyed(self, asked_before: datetime) -> list[ToolExecution]:
        """The calls, of all projects, that are PENDING since before a moment."""
        ...

    async def list_unchecked(self) -> list[ToolExecution]:
        """The calls, of all projects, whose open question was put before a machine had checked."""
        ...

    async def read_raw_params(self, execution: ToolExecution) -> str:
        """The parameters in full, while the call has not ended."""
        ...

    async def read_asked_params(self, execution: ToolExecution) -> str:
        """The parameters as the agent sent them, also after a person has changed them."""
        ...

    async def find_approval(self, approval_id: ApprovalId) -> Approval | None: ...

    async def list_approvals(
        self, project_id: ProjectId, *, status: ApprovalStatus | None, limit: int
    ) -> list[Approval]:
        """Questions of a project, newest first."""
        ...

    async def count_questions(self, project_id: ProjectId, agent_id: str) -> int:
        """How many open questions an agent has."""
        ...

    async def count_open_questions(self) -> dict[ProjectId, int]:
        """How many questions are open in each project that has any."""
        ...

    async def list_overdue(self, now: datetime) -> list[Approval]:
        """The open questions, of all projects, whose time has passed."""
        ...

    async def list_durations(
        self, project_id: ProjectId, class_key: str, *, limit: int
    ) -> list[int]:
        """How many milliseconds the latest calls took that were asked about under a class."""
        ...

    async def count_of_class(self, execution: ToolExecution, class_key: str) -> PastCalls:
        """How many other calls of its agent in its project were of that class, and no riskier."""
        ...

    async def find_blob(
        self, project_id: ProjectId, sha256: str, *, agent_id: str | None
    ) -> Blob | None:
        """A blob that somebody holds; for an agent, one of its own."""
        ...

    async def weigh_uploads(self, project_id: ProjectId, holder: str) -> int:
        """How many bytes somebody has uploaded that no call has used up yet."""
        ...

    async def list_idle_holds(self, uploaded_before: datetime) -> list[BlobHold]:
        """The holds, of all projects, that nobody needs: their call has ended, or none came."""
        ...

    async def list_heavy_projects(self, most_bytes: int) -> list[tuple[ProjectId, int]]:
        """The projects whose results hold more than this as blobs, and how much."""
        ...

    async def list_oldest_results(self, project_id: ProjectId, *, limit: int) -> list[BlobHold]:
        """The holds of a project's results, oldest first."""
        ...

    async def event_range(self, project_id: ProjectId) -> EventRange: ...

    async def list_long_streams(self, most_events: int) -> list[tuple[ProjectId, EventRange]]:
        """The projects that keep more events than this."""
        ...

    async def read_stream(
        self, project_id: ProjectId, *, after: int, client_id: ClientId | None, limit: int
    ) -> list[StreamItem]:
        """Events after a number: those meant for everyone and, for a client, its own."""
        ...

    async def read_audit(
        self, project_id: ProjectId, *, after: int, limit: int
    ) -> list[AuditEntry]: ...

    async def list_restorations(self, project_id: ProjectId) -> list[Restoration]:
        """The restores that a chain tells of, oldest first.

        Raises:
            BrokenRecord: A line that says so cannot be read.
        """
        ...

    async def find_audit_head(self, project_id: ProjectId) -> AuditHead | None:
        """How far a project says that its chain has come; None for no project of ours."""
        ...

    async def list_audit_heads(self) -> list[tuple[ProjectId, AuditHead]]: ...

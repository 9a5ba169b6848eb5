"""Looking back over calls: which ones are wanted, from where on, and each of them at a glance."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ApprovalId, CallId, ExecutionId, ProjectId, SessionId
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject


class Mark(NamedTuple):
    """A place between two calls of a project, all of which are in order of time, then of id."""

    at: datetime
    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a call must be like to be shown; `text` is looked for without regard to case.

    `before` and `after` are marks: only older calls than the one, only newer ones than the other.
    """

    status: Status | None = None
    tool_name: str | None = None
    risk_level: RiskLevel | None = None
    session_id: SessionId | None = None
    agent_id: str | None = None
    text: str | None = None
    before: Mark | None = None
    after: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Glimpse:
    """A call without what can be large. Of very long parameters, only the telling ones are here.

    `description` is what a person was asked, and `decided_by` the person who answered.
    """

    id: ExecutionId
    session_id: SessionId
    call_id: CallId
    agent_id: str
    client_id: str | None
    tool_name: str
    risk_level: RiskLevel
    requires_approval: bool
    status: Status
    created_at: datetime
    approval_id: ApprovalId | None
    error: str | None
    error_type: str | None
    exit_code: int | None
    execution_time_ms: int | None
    approved_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    approved_by: str | None
    scope: str | None
    description: str | None
    decided_by: str | None
    can_undo: bool | None
    undone_at: datetime | None
    undone_by: str | None
    tool_params: JsonObject

    @property
    def mark(self) -> Mark:
        return Mark(self.created_at, self.id)


class ActivityReads(Protocol):
    """What a store can tell of the past. None of it holds up whoever works with the store."""

    async def list_activity(
        self, project_id: ProjectId, wanted: Wanted, *, limit: int, offset: int = 0
    ) -> list[Glimpse]:
        """The calls that are wanted, newest first, but for the first `offset` of them."""
        ...

    async def count_activity(self, project_id: ProjectId, wanted: Wanted, *, most: int) -> int:
        """How many calls are wanted; at `most` the counting ends."""
        ...

    async def list_records(
        self, project_id: ProjectId, wanted: Wanted, *, limit: int
    ) -> list[ToolExecution]:
        """The same as whole records."""
        ...

    async def list_undoable(
        self, project_id: ProjectId, session_id: SessionId | None, *, limit: int
    ) -> list[ToolExecution]:
        """Calls that can be undone, or were, the latest first; of one session, or of all."""
        ...

    async def find_mark(
        self, project_id: ProjectId, *, before: Mark | None, distance: int
    ) -> Mark | None:
        """The call that lies so many calls back, whatever it is like; None if there is none."""
        ...

"""The life of one call: its eight states and the roads between them."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self

from handrail.core.errors import ErrorType, IllegalTransition
from handrail.core.grant import Scope
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
from handrail.core.project import Autonomy
from handrail.core.revision import Revision
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, JsonObject, Site


class Status(StrEnum):
    PENDING = "pending"
    AWAITING_APPROVAL = "awaiting_approval"
    APPROVED = "approved"
    EXECUTING = "executing"
    COMPLETED = "completed"
    REJECTED = "rejected"
    TIMEOUT = "timeout"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        return self in FINAL


TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.AWAITING_APPROVAL, Status.APPROVED, Status.FAILED}),
    Status.AWAITING_APPROVAL: frozenset(
        {Status.APPROVED, Status.REJECTED, Status.TIMEOUT, Status.FAILED}
    ),
    # Back to a person where a command would no longer do what was approved.
    Status.APPROVED: frozenset(
        {Status.EXECUTING, Status.AWAITING_APPROVAL, Status.TIMEOUT, Status.FAILED}
    ),
    Status.EXECUTING: frozenset({Status.COMPLETED, Status.FAILED}),
    Status.COMPLETED: frozenset(),
    Status.REJECTED: frozenset(),
    Status.TIMEOUT: frozenset(),
    Status.FAILED: frozenset(),
}


FINAL = frozenset(status for status, roads in TRANSITIONS.items() if not roads)

# Which moment is written down on arrival.
_MOMENTS = {
    Status.APPROVED: "approved_at",
    Status.EXECUTING: "started_at",
    **dict.fromkeys(FINAL, "completed_at"),
}


class ToolExecution(NamedTuple):
    """The durable record of one call. Becomes another value by `advance` or `reoffer` alone.

    `tool_params` is the masked form; the raw one lies apart and is erased at the end. `epoch`
    counts how often the call was handed to a client: an answer under an older epoch is late.
    `approved_by` is a person's name, a grant, or `policy` where nobody had to be asked.
    `late_result` is what a client told after the call had ended without it. `claim_key` is what
    the process that claimed it, and nobody else, can show. `origins` names the parameters that
    came out of an earlier call's result, with that call's id. `class_key` says of which class
    it is, where a person may let that pass. `suspicion` is what in its result reads like orders.
    `result_removed_at` is when retention removed the result, which is None from then on.
    `exit_code` is that of a command that ran to its end, and outlives the result; so does
    `can_undo`, which is None where the call changed no file of the workspace. `undone_by` is the
    person who asked last to undo it, and `undone_at` when that was done. `revision` is what a
    person changed in it before it was approved: `tool_params` are as changed.

    A named tuple and not a dataclass, because every call becomes another value several times
    and this way costs a quarter. The fields stand in the order of the table's columns,
    which have `output_field` before `exit_code`.
    """

    id: ExecutionId
    user_id: UserId
    project_id: ProjectId
    workspace_id: WorkspaceId
    session_id: SessionId
    call_id: CallId
    agent_id: str
    tool_name: str
    tool_params: JsonObject
    request_digest: str
    digest: str
    site: Site
    effect: Effect
    autonomy: Autonomy
    risk_level: RiskLevel
    reasons: tuple[str, ...]
    requires_approval: bool
    status: Status
    created_at: datetime
    reasoning: str | None = None
    approval_id: ApprovalId | None = None
    client_id: ClientId | None = None
    epoch: int = 0
    result: JsonObject | None = None
    error: str | None = None
    error_type: ErrorType | None = None
    execution_time_ms: int | None = None
    approved_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    surveyed: bool = False
    approved_by: str | None = None
    scope: Scope | None = None
    late_result: JsonObject | None = None
    claim_key: str | None = None
    origins: Mapping[str, str] | None = None
    class_key: str | None = None
    suspicion: JsonObject | None = None
    result_removed_at: datetime | None = None
    exit_code: int | None = None
    can_undo: bool | None = None
    undone_at: datetime | None = None
    undone_by: str | None = None
    revision: Revision | None = None

    @property
    def told_result(self) -> JsonObject | None:
        """The result as the agent gets it: it says so if a person changed the call."""
        if self.result is None or self.revision is None:
            return self.result
        return self.revision.tell_in(self.result)

    @property
    def tool_id(self) -> ExecutionId:
        """The id under the name that it has in the API."""
        return self.id

    def advance(self, status: Status, at: datetime, **fields: Any) -> Self:
        """Take one step along a road; the moment of arrival is written down on the way."""
        if status not in TRANSITIONS[self.status]:
            raise IllegalTransition(f"{self.id} is {self.status} and cannot become {status}")
        if (moment := _MOMENTS.get(status)) is not None:
            fields[moment] = at
        if status is Status.COMPLETED:
            fields["exit_code"] = _exit_code_in(fields.get("result"))
        if status in FINAL:
            fields["can_undo"] = _can_undo_in(fields.get("result"))
        return self._replace(status=status, **fields)

    def keep_late(self, late_result: JsonObject, suspicion: JsonObject | None) -> Self:
        """Keep a result that came after the end beside it."""
        can_undo = _can_undo_in(late_result.get("result"))
        return self._replace(late_result=late_result, suspicion=suspicion, can_undo=can_undo)

    def fail(self, error_type: ErrorType, error: str, at: datetime) -> Self:
        return self.advance(Status.FAILED, at, error=error, error_type=error_type)

    def approve(self, by: str, scope: Scope, at: datetime) -> Self:
        return self.advance(Status.APPROVED, at, approved_by=by, scope=scope)

    def reopen(self) -> Self:
        """The call as it was before it was approved. What was handed out and answered is void."""
        before = {"approval_id": None, "approved_by": None, "scope": None, "approved_at": None}
        return self._replace(status=Status.PENDING, epoch=self.epoch + 1, **before)

    def assign(self, client_id: ClientId, at: datetime) -> Self:
        """Hand an approved call to a client. For a read that is the claim; others are claimed."""
        if self.effect is Effect.READ:
            return self.advance(Status.EXECUTING, at, client_id=client_id, epoch=self.epoch + 1)
        return self.reoffer(client_id)

    def reoffer(self, client_id: ClientId) -> Self:
        """Hand the call out anew: what was handed out before is void."""
        return self._replace(client_id=client_id, epoch=self.epoch + 1)


def _exit_code_in(result: JsonObject | None) -> int | None:
    """The exit code of a command. Clients report results, so the value is checked."""
    code = None if result is None else result.get("exit_code")
    is_code = isinstance(code, int) and not isinstance(code, bool) and abs(code) < 2**31
    return code if is_code else None


def _can_undo_in(result: JsonObject | None) -> bool | None:
    """What a client says about undo; the value is checked like that of an exit code."""
    told = None if result is None else result.get("can_undo")
    return told if isinstance(told, bool) else None

"""Bodies of the REST surface, parsed once at the border."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from handrail.core.audit import AuditEntry
from handrail.core.errors import ErrorType
from handrail.core.execution import ToolExecution
from handrail.core.names import Names
from handrail.core.revision import Revision
from handrail.core.tool import ToolDefinition
from handrail.core.undo_record import why_not_undone
from handrail.core.visible import visible
from handrail.wire.named import (
    AgentName,
    CanUndo,
    ExitCode,
    RevisedAt,
    RevisedBy,
    RevisionDiff,
    UndoneAt,
    UndoneBy,
)

# Chosen by the asker; kept in rows and logs, so printable and short.
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:@-]{1,128}$")]
# People type these, and addresses hold them: no `..`, and nothing that looks like an option.
SESSION_NAME = r"^[A-Za-z0-9_:@][A-Za-z0-9._:@-]{0,127}$"
SessionName = Annotated[str, StringConstraints(pattern=SESSION_NAME)]

Success = Annotated[bool, Field(description="What goes wrong is told as a problem instead.")]
Count = Annotated[int, Field(description="How many there are in this answer.")]

MAX_WAIT_SECONDS = 3600.0


class Body(BaseModel):
    """A request body is closed: a field nobody declared is an error, and so is `"1"` for 1.

    Only the words of an enumeration come as text, so their fields are `strict=False`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CallWords(Body):
    tool_name: str = Field(
        min_length=1, max_length=100, description="The tool, by its name or an alias of it."
    )
    tool_params: dict[str, Any] = Field(description="Its parameters, as the tool's schema says.")
    call_id: Label = Field(
        description="Chosen by the asker; asking again with the same one is the same call."
    )
    reasoning: str | None = Field(
        default=None,
        max_length=10_000,
        description="Why the agent wants it; shown to people as its claim.",
    )


class ExecuteRequest(CallWords):
    """One tool call."""

    session_id: SessionName = Field(
        description="The conversation or run it belongs to; its first call creates it."
    )
    wait: float = Field(
        default=0.0,
        ge=0.0,
        le=MAX_WAIT_SECONDS,
        description="Seconds to wait for the end before answering.",
    )


class ResultRequest(Body):
    """What became of a call."""

    status: Literal["completed", "failed"] = Field(description="Whether it was done.")
    result: dict[str, Any] | None = Field(
        default=None, description="What the tool gave back; needed where it completed."
    )
    error: str | None = Field(
        default=None,
        max_length=10_000,
        description="What went wrong, in words; needed where it failed.",
    )
    error_type: ErrorType | None = Field(
        default=None, strict=False, description="What kind of failure it was."
    )
    execution_time_ms: int | None = Field(
        default=None, ge=0, lt=2**31, description="How long it took."
    )
    epoch: int | None = Field(
        default=None,
        ge=0,
        lt=2**31,
        description="The epoch of the signal that it answers; an older one is turned away.",
    )

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.status == "completed" and self.result is None:
            raise ValueError("a completed call needs its `result`")
        if self.status == "failed" and not self.error:
            raise ValueError("a failed call needs its `error`")
        return self


class NamedResult(ResultRequest):
    tool_id: str = Field(min_length=1, max_length=100, description="The call.")


class ResultsRequest(Body):
    """Several results in one request."""

    results: list[NamedResult] = Field(
        min_length=1, max_length=1000, description="Each is accepted or rejected on its own."
    )


class ResultResponse(BaseModel):
    success: bool = Field(description="Whether the result was taken.")
    tool_id: str = Field(description="The call.")
    status: str = Field(
        description="The state of the call; `rejected` or `offered_anew` where it was not taken."
    )
    message: str = Field(description="The same in words.")


class ResultsResponse(BaseModel):
    results: list[ResultResponse] = Field(
        description="One answer for each result, in the same order."
    )


class ExecutionView(BaseModel):
    """One call as those who may see it see it."""

    tool_id: str = Field(description="The id of the call, `exe_…`.")
    tool_name: str = Field(description="The tool.")
    status: str = Field(
        description="`pending`, `awaiting_approval`, `approved`, `executing`, or an end: "
        "`completed`, `failed`, `rejected`, `timeout`."
    )
    result: dict[str, Any] | None = Field(
        description="What the tool gave back; `output` is the text for a model."
    )
    error: str | None = Field(description="Why it did not succeed, in words.")
    error_type: str | None = Field(description="What kind of failure it was.")
    approval_id: str | None = Field(
        description="The question that was put to people, if there was one."
    )
    tool_params: dict[str, Any] = Field(description="The parameters, with secrets masked.")
    risk_level: str = Field(description="How risky it was judged to be.")
    reasons: list[str] = Field(description="Why, in words.")
    requires_approval: bool = Field(description="Whether a person had to be asked.")
    approved_by: str | None = Field(description="Who said yes: a person, a grant, or the policy.")
    scope: str | None = Field(description="How far that yes reached: `once`, `class` or `session`.")
    session_id: str = Field(description="The session it belongs to.")
    call_id: str = Field(description="The id the asker gave it.")
    agent_id: str = Field(description="Who asked.")
    agent_name: AgentName
    reasoning: str | None = Field(description="The agent's own claim, not a fact.")
    exit_code: ExitCode
    execution_time_ms: int | None = Field(description="How long the machine took.")
    late_result: dict[str, Any] | None = Field(
        description="What the machine reported after the call had ended."
    )
    origins: dict[str, str] | None = Field(
        description="Parameters that came out of an earlier call's result, and of which."
    )
    suspicion: dict[str, Any] | None = Field(
        description="Text in the result that looks like instructions to the agent: "
        "`source`, `score` and "
        "`findings`; null where nothing does."
    )
    created_at: datetime = Field(description="When it was asked for.")
    approved_at: datetime | None = Field(description="When it was let pass.")
    started_at: datetime | None = Field(description="When a machine began.")
    completed_at: datetime | None = Field(description="When it ended.")
    result_removed_at: datetime | None = Field(
        description="When its result was removed, as the retention settings say; the result is "
        "null from then on."
    )
    can_undo: CanUndo
    why_not_undo: str | None = Field(
        description="Why it cannot be undone, in a few words; null where it can be, or was."
    )
    undone_at: UndoneAt
    undone_by: UndoneBy
    revised_by: RevisedBy
    revised_at: RevisedAt
    revision: RevisionDiff

    @classmethod
    def of(cls, execution: ToolExecution, names: Names) -> Self:
        return cls.model_validate(execution_view(execution, names))

    def or_its_outline(self) -> Self:
        """As it is; without what others wrote, where that cannot be told and would spoil a list."""
        try:
            self.model_dump_json()
        except ValueError:
            what = "it holds something that cannot be shown"
            return self.model_copy(
                update={
                    "tool_name": visible(self.tool_name),
                    "tool_params": {},
                    "result": None,
                    "late_result": None,
                    "reasoning": None,
                    "suspicion": None,
                    "error": what,
                }
            )
        return self


def execution_view(execution: ToolExecution, names: Names) -> dict[str, Any]:
    """The same as plain JSON data, for the routes that count microseconds."""
    return {
        "tool_id": execution.id,
        "tool_name": execution.tool_name,
        "status": execution.status,
        "result": execution.told_result,
        "error": execution.error,
        "error_type": execution.error_type,
        "approval_id": execution.approval_id,
        "tool_params": execution.tool_params,
        "risk_level": execution.risk_level.name,
        "reasons": list(execution.reasons),
        "requires_approval": execution.requires_approval,
        "approved_by": execution.approved_by,
        "scope": execution.scope,
        "session_id": execution.session_id,
        "call_id": execution.call_id,
        "agent_id": execution.agent_id,
        "agent_name": names.get(execution.agent_id),
        "reasoning": execution.reasoning,
        "exit_code": execution.exit_code,
        "execution_time_ms": execution.execution_time_ms,
        "late_result": execution.late_result,
        "origins": execution.origins,
        "suspicion": execution.suspicion,
        "created_at": execution.created_at,
        "approved_at": execution.approved_at,
        "started_at": execution.started_at,
        "completed_at": execution.completed_at,
        "result_removed_at": execution.result_removed_at,
        "can_undo": bool(execution.can_undo) and execution.undone_at is None,
        "why_not_undo": why_not_undone(execution),
        "undone_at": execution.undone_at,
        "undone_by": execution.undone_by if execution.undone_at else None,
        **revision_view(execution.revision),
    }


def revision_view(revision: Revision | None) -> dict[str, Any]:
    if revision is None:
        return {"revised_by": None, "revised_at": None, "revision": None}
    return {
        "revised_by": revision.by,
        "revised_at": revision.at,
        "revision": revision.diff,
    }


class ExecutionsResponse(BaseModel):
    success: Success = True
    executions: list[ExecutionView] = Field(description="The calls.")
    total_count: Count


class ToolView(BaseModel):
    name: str = Field(description="The tool's name.")
    description: str = Field(description="What a model is told about it.")
    parameters: dict[str, Any] = Field(description="JSON Schema of its parameters.")
    requires_approval: bool = Field(description="Whether a plain call of it asks a person.")
    risk_level: str = Field(description="What a plain call of it is rated.")
    timeout_seconds: int = Field(
        description="How long a person would have to answer; 0 where no person is asked."
    )

    @classmethod
    def of(cls, tool: ToolDefinition, *, requires_approval: bool, timeout_seconds: int) -> Self:
        return cls(
            name=tool.name,
            description=tool.description,
            parameters=dict(tool.input_schema),
            requires_approval=requires_approval,
            risk_level=tool.safety_level.name,
            timeout_seconds=timeout_seconds,
        )


class ToolsResponse(BaseModel):
    success: Success = True
    tools: list[ToolView] = Field(description="The tools.")
    total_count: Count


class AuditView(BaseModel):
    seq: int = Field(description="The number of the line; there are no gaps.")
    at: datetime = Field(description="When.")
    action: str = Field(description="What happened.")
    actor: str = Field(description="Who did it.")
    subject: str = Field(description="What it was done to.")
    details: str = Field(description="More about it, as a JSON text.")
    previous: str = Field(description="The hash of the line before.")
    hash: str = Field(description="The hash of this line.")

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        return cls.model_validate(entry, from_attributes=True)


class AuditResponse(BaseModel):
    success: Success = True
    entries: list[AuditView] = Field(description="The lines.")


class ChannelHealth(BaseModel):
    name: str = Field(
        description="`console`: browsers. `terminal`: screens and programs with a user's token. "
        "`client`: machines, which may ask their person."
    )
    state: Literal["open", "idle"] = Field(description="Whether a question reaches a listener.")
    listeners: int = Field(description="How many streams are open.")


class HealthResponse(BaseModel):
    status: Literal["ok", "degraded"] = Field(
        description="`degraded` while nothing can be stored; the status code is 503 then."
    )
    problem: str | None = Field(None, description="What is wrong, and what to do about it.")
    version: str = Field(description="Which Handrail it is.")
    wire_version: str = Field(description="Which version of these bodies and events it speaks.")
    connected_clients: int = Field(description="How many machines listen.")
    channels: list[ChannelHealth] = Field(description="The ways to reach a person.")


class Problem(BaseModel):
    """RFC 9457: what went wrong, in a form a program can tell apart by `type`."""

    type: str = Field(description="Which kind of problem, `urn:handrail:…`.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The status code once more.")
    detail: str = Field(description="What is wrong with this very request.")

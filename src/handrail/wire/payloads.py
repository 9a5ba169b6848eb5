"""Bodies of the REST surface, parsed once at the border."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from handrail.core.audit import AuditEntry
from handrail.core.errors import ErrorType
from handrail.core.execution import ToolExecution
from handrail.core.tool import ToolDefinition

# Chosen by the asker; kept in rows and logs, so printable and short.
Label = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:@-]{1,128}$")]
# People type these, and addresses hold them: no word that means something else there, such as
# `..` or an option.
SessionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_:@][A-Za-z0-9._:@-]{0,127}$")]

MAX_WAIT_SECONDS = 3600.0


class Body(BaseModel):
    """A request body is closed: a field nobody declared is an error, and so is `"1"` for 1.

    Only the words of an enumeration come as text, so their fields are `strict=False`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ExecuteRequest(Body):
    """One tool call."""

    tool_name: str = Field(min_length=1, max_length=100)
    tool_params: dict[str, Any]
    session_id: SessionName
    call_id: Label
    reasoning: str | None = Field(default=None, max_length=10_000)
    wait: float = Field(default=0.0, ge=0.0, le=MAX_WAIT_SECONDS)


class ResultRequest(Body):
    """What became of a call."""

    status: Literal["completed", "failed"]
    result: dict[str, Any] | None = None
    error: str | None = Field(default=None, max_length=10_000)
    error_type: ErrorType | None = Field(default=None, strict=False)
    execution_time_ms: int | None = Field(default=None, ge=0, lt=2**31)
    epoch: int | None = Field(default=None, ge=0, lt=2**31)

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.status == "completed" and self.result is None:
            raise ValueError("a completed call needs its `result`")
        if self.status == "failed" and not self.error:
            raise ValueError("a failed call needs its `error`")
        return self


class NamedResult(ResultRequest):
    tool_id: str = Field(min_length=1, max_length=100)


class ResultsRequest(Body):
    """Several results in one request."""

    results: list[NamedResult] = Field(min_length=1, max_length=1000)


class ResultResponse(BaseModel):
    success: bool
    tool_id: str
    status: str
    message: str


class ResultsResponse(BaseModel):
    results: list[ResultResponse]


class ExecutionView(BaseModel):
    """One call as those who may see it see it."""

    tool_id: str
    tool_name: str
    status: str
    result: dict[str, Any] | None
    error: str | None
    error_type: str | None
    approval_id: str | None
    tool_params: dict[str, Any]
    risk_level: str
    reasons: list[str]
    requires_approval: bool
    approved_by: str | None
    scope: str | None
    session_id: str
    call_id: str
    agent_id: str
    reasoning: str | None
    execution_time_ms: int | None
    late_result: dict[str, Any] | None
    origins: dict[str, str] | None
    created_at: datetime
    approved_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None

    @classmethod
    def of(cls, execution: ToolExecution) -> Self:
        return cls.model_validate(execution_view(execution))


def execution_view(execution: ToolExecution) -> dict[str, Any]:
    """The same as plain JSON data, for the routes that count microseconds."""
    return {
        "tool_id": execution.id,
        "tool_name": execution.tool_name,
        "status": execution.status,
        "result": execution.result,
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
        "reasoning": execution.reasoning,
        "execution_time_ms": execution.execution_time_ms,
        "late_result": execution.late_result,
        "origins": execution.origins,
        "created_at": execution.created_at,
        "approved_at": execution.approved_at,
        "started_at": execution.started_at,
        "completed_at": execution.completed_at,
    }


class ExecutionsResponse(BaseModel):
    success: bool = True
    executions: list[ExecutionView]
    total_count: int


class ToolView(BaseModel):
    name: str
    description: str
    parameters: dict[str, Any]
    requires_approval: bool
    risk_level: str
    timeout_seconds: int

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
    success: bool = True
    tools: list[ToolView]
    total_count: int


class ClientView(BaseModel):
    client_id: str
    name: str
    workspace_id: str
    connected: bool


class ClientsResponse(BaseModel):
    success: bool = True
    clients: list[ClientView]
    total_count: int


class AuditView(BaseModel):
    seq: int
    at: datetime
    action: str
    actor: str
    subject: str
    details: str
    previous: str
    hash: str

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        return cls.model_validate(entry, from_attributes=True)


class AuditResponse(BaseModel):
    success: bool = True
    entries: list[AuditView]


class HealthResponse(BaseModel):
    status: Literal["ok"]
    version: str
    wire_version: str
    connected_clients: int


class Problem(BaseModel):
    """RFC 9457: what went wrong, in a form a program can tell apart by `type`."""

    type: str
    title: str
    status: int
    detail: str

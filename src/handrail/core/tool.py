"""What a tool is, what a call of it is, and what it gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from handrail.core.errors import ErrorType
from handrail.core.ids import CallId, ProjectId, SessionId
from handrail.core.risk import RiskLevel

JsonObject = Mapping[str, Any]


class Site(StrEnum):
    """Where a tool does its work."""

    CLIENT = "client"
    SERVER = "server"


class Effect(StrEnum):
    """Whether doing it twice differs from doing it once."""

    READ = "read"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told about a tool."""

    name: str
    description: str
    input_schema: JsonObject


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """What Handrail knows about a tool before any call of it.

    One that `decides_drafts` is of use only to sessions that work in a draft. Agents are not told
    of one that is not `is_offered`.
    """

    name: str
    description: str
    input_schema: JsonObject
    safety_level: RiskLevel
    site: Site = Site.CLIENT
    effect: Effect = Effect.CHANGE
    decides_drafts: bool = False
    is_offered: bool = True

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.input_schema)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An agent's request to run a tool in a session. `call_id` makes asking again harmless.

    `origins` tells of parameters that were taken from the result of an earlier call, by its id.
    """

    project_id: ProjectId
    session_id: SessionId
    call_id: CallId
    tool_name: str
    tool_params: JsonObject
    reasoning: str | None = None
    origins: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gives back: `output` is for the model, `fields` are the tool's own."""

    success: bool
    output: str = ""
    fields: JsonObject = field(default_factory=dict[str, Any])
    error: str | None = None
    error_type: ErrorType | None = None

    @classmethod
    def failed(cls, error: str, error_type: ErrorType = ErrorType.EXECUTION) -> "ToolResult":
        return cls(success=False, output=error, error=error, error_type=error_type)

    def as_json(self) -> dict[str, Any]:
        """The `result` object of the wire."""
        body: dict[str, Any] = {"success": self.success, **self.fields, "output": self.output}
        if self.error is not None:
            body["error"] = self.error
        return body

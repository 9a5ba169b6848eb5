"""Looking back over calls: which ones, each at a glance, and as lines of a file."""

import csv
import io
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, Self, cast

import msgspec
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from handrail.core.activity import Glimpse, Mark, Wanted
from handrail.core.errors import BadInput
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ExecutionId, SessionId
from handrail.core.names import Names
from handrail.core.risk import RiskLevel
from handrail.wire.named import AgentName, CanUndo, ClientName, ExitCode, UndoneAt, UndoneBy
from handrail.wire.payloads import ExecutionView, Success, execution_view

# Nobody scrolls further; a file has them all.
MOST_CALLS = 100_000
_MOST_CHARS = 300

# Of the fields of a call, those that fit into a cell.
_COLUMNS = (
    "created_at", "tool_id", "session_id", "agent_id", "agent_name", "client_name", "tool_name",
    "tool_params", "risk_level", "status", "requires_approval", "approved_by", "scope",
    "approval_id", "approved_at", "started_at", "completed_at", "exit_code", "execution_time_ms",
    "error_type", "error", "digest", "undone_at", "undone_by", "revised_at", "revised_by",
)  # fmt: skip

# The moment of a call and its id, as `mark_in_words` puts them together.
MarkWords = Annotated[
    str, StringConstraints(max_length=200, pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T.+~.+$")
]

_encode = msgspec.json.Encoder().encode


class WantedQuery(BaseModel):
    """Which calls to show."""

    model_config = ConfigDict(extra="forbid")

    status: Status | None = Field(default=None, description="Only calls in this state.")
    tool: str | None = Field(
        default=None, min_length=1, max_length=100, description="Only calls of this tool."
    )
    risk: Literal["LOW", "MEDIUM", "HIGH", "CRITICAL", "FORBIDDEN"] | None = Field(
        default=None, description="Only calls that were judged to be just this risky."
    )
    session_id: str | None = Field(
        default=None, min_length=1, max_length=200, description="Only calls of this session."
    )
    agent_id: str | None = Field(
        default=None, min_length=1, max_length=200, description="Only calls of this agent."
    )
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Only calls with this in their parameters, claim, error or names; looked for "
        "in the latest 100,000.",
    )

    def wanted(self, before: Mark | None = None, after: Mark | None = None) -> Wanted:
        return Wanted(
            status=self.status,
            tool_name=self.tool,
            risk_level=None if self.risk is None else RiskLevel[self.risk],
            session_id=None if self.session_id is None else SessionId(self.session_id),
            agent_id=self.agent_id,
            text=self.text,
            before=before,
            after=after,
        )


class ActivityQuery(WantedQuery):
    """Which calls to show, and how far back."""

    before: MarkWords | None = Field(
        default=None, description="Only older ones than the call of this mark."
    )
    after: MarkWords | None = Field(
        default=None, description="Only newer ones than the call of this mark."
    )
    offset: int = Field(
        default=0, ge=0, lt=MOST_CALLS, description="Leave out so many of the newest."
    )
    limit: int = Field(default=100, ge=1, le=500, description="How many, at most.")
    count: bool = Field(default=False, description="Whether to count them all.")


class ExportQuery(WantedQuery):
    """Which calls to put into a file."""

    format: Literal["jsonl", "csv"] = Field(
        default="jsonl", description="A line of JSON each, or of a table."
    )


class GlimpseView(BaseModel):
    """A call without what can be large; the whole of it is at `/tools/{tool_id}`."""

    mark: str = Field(description="Its place among all calls, for `before` and `after`.")
    tool_id: str = Field(description="The id of the call, `exe_…`.")
    tool_name: str = Field(description="The tool.")
    description: str | None = Field(description="What a person was asked, where one was.")
    tool_params: dict[str, Any] = Field(
        description="The parameters, with secrets masked and long values cut short. Of very long "
        "ones, only those that say what the call is about."
    )
    status: str = Field(description="The state of the call.")
    risk_level: str = Field(description="How risky it was judged to be.")
    requires_approval: bool = Field(description="Whether a person had to be asked.")
    approval_id: str | None = Field(description="The question that was put to people.")
    approved_by: str | None = Field(description="Who said yes: a person, a grant, or the policy.")
    decided_by: str | None = Field(description="The person who approved or refused it.")
    scope: str | None = Field(description="How far that yes reached.")
    session_id: str = Field(description="The session it belongs to.")
    call_id: str = Field(description="The id the asker gave it.")
    agent_id: str = Field(description="Who asked.")
    agent_name: AgentName
    client_id: str | None = Field(description="The machine that has or had it.")
    client_name: ClientName
    error: str | None = Field(description="Why it did not succeed, cut short.")
    error_type: str | None = Field(description="What kind of failure it was.")
    exit_code: ExitCode
    execution_time_ms: int | None = Field(description="How long the machine took.")
    created_at: datetime = Field(description="When it was asked for.")
    approved_at: datetime | None = Field(description="When it was let pass.")
    started_at: datetime | None = Field(description="When a machine began.")
    completed_at: datetime | None = Field(description="When it ended.")
    can_undo: CanUndo
    undone_at: UndoneAt
    undone_by: UndoneBy

    @classmethod
    def of(cls, call: Glimpse, names: Names) -> Self:
        return cls(
            mark=mark_in_words(call.mark),
            tool_id=call.id,
            tool_name=call.tool_name,
            description=None if call.description is None else _cut(call.description),
            tool_params={name: _brief(value) for name, value in call.tool_params.items()},
            status=call.status,
            risk_level=call.risk_level.name,
            requires_approval=call.requires_approval,
            approval_id=call.approval_id,
            approved_by=call.approved_by,
            decided_by=call.decided_by,
            scope=call.scope,
            session_id=call.session_id,
            call_id=call.call_id,
            agent_id=call.agent_id,
            agent_name=names.get(call.agent_id),
            client_id=call.client_id,
            client_name=names.get(call.client_id or ""),
            error=None if call.error is None else _cut(call.error),
            error_type=call.error_type,
            exit_code=call.exit_code,
            execution_time_ms=call.execution_time_ms,
            created_at=call.created_at,
            approved_at=call.approved_at,
            started_at=call.started_at,
            completed_at=call.completed_at,
            can_undo=bool(call.can_undo) and call.undone_at is None,
            undone_at=call.undone_at,
            undone_by=call.undone_by if call.undone_at else None,
        )


class RecordView(ExecutionView):
    """One call with all that people may know of it; agents are told less."""

    digest: str = Field(
        description="What was judged, and what a yes was bound to: words, plan and facts."
    )
    surveyed: bool = Field(
        description="Whether the digest covers what the machine was seen to hold."
    )
    autonomy: str = Field(description="The freedom the agent had.")
    workspace_id: str = Field(description="The folder it was asked for.")
    client_id: str | None = Field(description="The machine that has or had it.")
    client_name: ClientName


class ActivityResponse(BaseModel):
    """Calls, the newest first."""

    success: Success = True
    calls: list[GlimpseView] = Field(description="As many as were wanted.")
    matching_count: int | None = Field(
        description="How many there are in all, where that was asked; 100,000 stands for more, too."
    )


def mark_in_words(mark: Mark) -> str:
    return f"{mark.at.isoformat()}~{mark.id}"


def read_mark(words: str | None) -> Mark | None:
    if words is None:
        return None
    moment, _, call_id = words.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None or not call_id:
        raise BadInput("a mark is what an earlier answer gave as one")
    return Mark(at, ExecutionId(call_id))


def record_view(call: ToolExecution, names: Names) -> dict[str, Any]:
    return execution_view(call, names) | {
        "digest": call.digest,
        "surveyed": call.surveyed,
        "autonomy": call.autonomy,
        "workspace_id": call.workspace_id,
        "client_id": call.client_id,
        "client_name": names.get(call.client_id or ""),
    }


def lines_of_json(calls: Iterable[ToolExecution], names: Names) -> bytes:
    return b"".join(_encode(record_view(call, names)) + b"\n" for call in calls)


def csv_head() -> bytes:
    return _csv([_COLUMNS])


def lines_of_csv(calls: Iterable[ToolExecution], names: Names) -> bytes:
    views = (record_view(call, names) for call in calls)
    return _csv([[_cell(view[name]) for name in _COLUMNS] for view in views])


def _csv(rows: Iterable[Iterable[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    # Half a letter is none in UTF-8.
    return written.getvalue().encode(errors="replace")


def _cell(value: object) -> str:
    """As text that a table's program takes for text: what begins like a formula is none."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value) if isinstance(value, str | int) else _encode(value).decode()
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _brief(value: Any) -> Any:
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, dict | list):
        words = _encode(cast(object, value)).decode()
        return cast(Any, value) if len(words) <= _MOST_CHARS else _cut(words)
    return value


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"

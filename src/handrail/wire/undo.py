"""Bodies about undoing what calls have changed."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from handrail.core.execution import ToolExecution
from handrail.core.names import Names
from handrail.core.undo import Undone, UndoStatus
from handrail.core.undo_record import files_changed_by
from handrail.wire.named import AgentName
from handrail.wire.payloads import Body, Count, Label, Success

_STATUS = (
    "`undone`; `undone_before`; `refused`: a file was changed since; `not_tried`: a later call was "
    "refused; `not_kept`: the machine does not keep its earlier files."
)


class UndoRequest(Body):
    """From which screen a person undoes a call, or a session."""

    channel: Label = Field(default="api", description="From which screen.")


class CallUndone(BaseModel):
    """What became of the request to undo one call."""

    tool_id: str = Field(description="The call.")
    tool_name: str = Field(description="The tool.")
    status: str = Field(description=_STATUS)
    reason: str = Field(description="Why it was not undone; empty where it was.")
    files: list[str] = Field(description="The files that the call had changed.")
    undone_at: datetime | None = Field(description="When it was undone.")
    undone_by: str | None = Field(description="The person who asked for it.")

    @classmethod
    def of(cls, call: ToolExecution, undone: Undone) -> Self:
        return cls(
            tool_id=call.id,
            tool_name=call.tool_name,
            status=undone.status,
            reason=undone.reason,
            files=[*files_changed_by(call)],
            undone_at=call.undone_at,
            undone_by=call.undone_by if call.undone_at else None,
        )


class UndoResponse(BaseModel):
    success: bool = Field(description="Whether all of the calls are undone now.")
    calls: list[CallUndone] = Field(description="The calls, the last one first.")


class UndoableQuery(BaseModel):
    """Which calls to list."""

    session_id: str | None = Field(
        default=None, min_length=1, max_length=200, description="Only calls of this session."
    )


class UndoableView(BaseModel):
    """A call that can be undone, or was."""

    tool_id: str = Field(description="The call.")
    tool_name: str = Field(description="The tool.")
    session_id: str = Field(description="The session it belongs to.")
    agent_id: str = Field(description="Who asked.")
    agent_name: AgentName
    files: list[str] = Field(description="The files that the call has changed.")
    completed_at: datetime | None = Field(description="When it ended.")
    can_undo: bool = Field(description="Whether it can be undone, as far as the server knows.")
    undone_at: datetime | None = Field(description="When it was undone.")
    undone_by: str | None = Field(description="The person who asked for that.")

    @classmethod
    def of(cls, call: ToolExecution, names: Names) -> Self:
        return cls(
            tool_id=call.id,
            tool_name=call.tool_name,
            session_id=call.session_id,
            agent_id=call.agent_id,
            agent_name=names.get(call.agent_id),
            files=[*files_changed_by(call)],
            completed_at=call.completed_at,
            can_undo=bool(call.can_undo) and call.undone_at is None,
            undone_at=call.undone_at,
            undone_by=call.undone_by if call.undone_at else None,
        )


class UndoableResponse(BaseModel):
    """Calls that can be undone, or were; the latest first, at most 500."""

    success: Success = True
    calls: list[UndoableView] = Field(description="The calls.")
    total_count: Count


class CallAnswer(Body):
    """What a machine says about one call that it was asked to undo."""

    tool_id: str = Field(min_length=1, max_length=100, description="The call.")
    status: UndoStatus = Field(strict=False, description=_STATUS)
    reason: str = Field(default="", max_length=10_000, description="Why it was not undone.")

    @property
    def undone(self) -> Undone:
        return Undone(self.tool_id, self.status, self.reason)


class UndoneRequest(Body):
    """What a machine says about all calls of one request."""

    calls: list[CallAnswer] = Field(
        min_length=1, max_length=1000, description="One answer for each call."
    )


class UndoneResponse(BaseModel):
    success: Success = True

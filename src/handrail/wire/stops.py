"""Bodies about ending a call or a session."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from handrail.core.project import Session
from handrail.wire.payloads import Body, Label


class CancelRequest(Body):
    """Why the call shall end; the reason reaches the agent."""

    reason: str | None = Field(default=None, max_length=2_000)
    channel: Label = "api"


class StopRequest(Body):
    """From which screen the session is stopped."""

    channel: Label = "api"


class StopResponse(BaseModel):
    success: bool = True
    session_id: str
    stopped_at: datetime | None
    calls_ended: int

    @classmethod
    def of(cls, session: Session, calls_ended: int) -> Self:
        return cls(session_id=session.id, stopped_at=session.stopped_at, calls_ended=calls_ended)

"""Bodies about ending a call or a session."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from handrail.core.project import Session
from handrail.wire.payloads import Body, Label, Success


class CancelRequest(Body):
    """Why the call shall end; the reason reaches the agent."""

    reason: str | None = Field(default=None, max_length=2_000, description="Why.")
    channel: Label = Field(default="api", description="From which screen.")


class StopRequest(Body):
    """From which screen the session is stopped."""

    channel: Label = Field(default="api", description="From which screen.")


class StopResponse(BaseModel):
    success: Success = True
    session_id: str = Field(description="The session.")
    stopped_at: datetime | None = Field(description="Since when it is stopped.")
    calls_ended: int = Field(description="How many calls were ended by it.")

    @classmethod
    def of(cls, session: Session, calls_ended: int) -> Self:
        return cls(session_id=session.id, stopped_at=session.stopped_at, calls_ended=calls_ended)

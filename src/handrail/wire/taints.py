"""Bodies about sessions that are not trusted."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from handrail.core.project import Session
from handrail.wire.payloads import Body, Count, Label, Success


class TrustRequest(Body):
    """From which screen the session is trusted again."""

    channel: Label = Field(default="api", description="From which screen.")


class TrustResponse(BaseModel):
    success: Success = True
    session_id: str = Field(description="The session.")
    was_tainted_by: str | None = Field(
        description="The source of the text that looks like instructions; null if it was trusted."
    )


class TaintView(BaseModel):
    """A session that is not trusted."""

    session_id: str = Field(description="The session.")
    tainted_by: str | None = Field(description="Where the text came from, in words.")
    tainted_at: datetime | None = Field(description="Since when.")
    tool_id: str | None = Field(description="The call that brought it.")

    @classmethod
    def of(cls, session: Session) -> Self:
        return cls(
            session_id=session.id,
            tainted_by=session.tainted_by,
            tainted_at=session.tainted_at,
            tool_id=session.tainted_call,
        )


class TaintsResponse(BaseModel):
    success: Success = True
    taints: list[TaintView] = Field(description="The sessions that are not trusted.")
    total_count: Count

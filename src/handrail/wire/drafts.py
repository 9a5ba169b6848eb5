"""Drafts: what machines tell about those that they have, and how they are listed."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, Field

from handrail.core.draft import DraftExpired, DraftSummary
from handrail.wire.named import AgentName, ClientName
from handrail.wire.payloads import Body, SessionName, Success

MOST_DRAFTS = 1_000
_Number = Annotated[int, Field(ge=0, lt=2**53)]
_At = Annotated[AwareDatetime, Field(strict=False)]


class DraftBody(Body):
    """One draft that has at least one step."""

    session_id: SessionName = Field(description="The session that has it.")
    steps: _Number = Field(description="The number of its steps.")
    files: _Number = Field(description="How many files it changes.")
    bytes: _Number = Field(description="How large they are now.")
    began_at: _At = Field(description="When its first step was made.")
    last_at: _At = Field(description="When it was last used.")
    expires_at: _At = Field(description="When it expires unless it is used before.")
    trouble: str = Field(
        default="", max_length=2_000, description="Why it cannot be read; empty if it can."
    )

    @property
    def summary(self) -> DraftSummary:
        return DraftSummary(**self.model_dump())


class ExpiredBody(Body):
    """A draft that was not used for too long, and is in a patch now."""

    session_id: SessionName = Field(description="The session that had it.")
    steps: _Number = Field(description="The number of its steps.")
    files: _Number = Field(description="How many files it changed.")
    patch: str = Field(max_length=4_096, description="The file of the patch on that machine.")

    @property
    def expired(self) -> DraftExpired:
        return DraftExpired(**self.model_dump())


class DraftsRequest(Body):
    """All drafts of the client's workspace, and those that have expired since it last told."""

    drafts: list[DraftBody] = Field(max_length=MOST_DRAFTS, description="The drafts.")
    expired: list[ExpiredBody] = Field(
        default=[], max_length=MOST_DRAFTS, description="Those that have expired."
    )


class DraftsReceipt(BaseModel):
    success: Success = True


class DraftView(BaseModel):
    """A draft on a machine that is connected."""

    session_id: str = Field(description="The session that has it.")
    agent_id: str = Field(description="Who opened the session.")
    agent_name: AgentName
    client_id: str = Field(description="The machine that has it.")
    client_name: ClientName
    workspace: str = Field(description="The folder that it is a draft of.")
    steps: int = Field(description="The number of its steps.")
    files: int = Field(description="How many files it changes.")
    bytes: int = Field(description="How large they are now.")
    began_at: datetime = Field(description="When its first step was made.")
    last_at: datetime = Field(description="When it was last used.")
    expires_at: datetime = Field(description="When it expires unless it is used before.")
    expires_soon: bool = Field(description="Whether that is within two days.")
    trouble: str = Field(description="Why it cannot be read; empty if it can.")

    @classmethod
    def of(
        cls,
        summary: DraftSummary,
        now: datetime,
        *,
        agent: tuple[str, str | None],
        client: tuple[str, str | None],
        workspace: str,
    ) -> Self:
        """`agent` and `client` are an id and a name."""
        return cls(
            **summary._asdict(),
            agent_id=agent[0],
            agent_name=agent[1],
            client_id=client[0],
            client_name=client[1],
            workspace=workspace,
            expires_soon=summary.expires_soon(now),
        )


class DraftsResponse(BaseModel):
    drafts: list[DraftView] = Field(description="The drafts, the one that was used last first.")
    now: datetime = Field(description="What time it is for the server.")

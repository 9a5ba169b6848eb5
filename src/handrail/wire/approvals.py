"""Bodies about questions, answers, grants and claims."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from handrail.core.approval import Approval
from handrail.core.card import Card
from handrail.core.errors import ErrorType
from handrail.core.grant import Grant, Scope
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.wire.payloads import Body, Label

MAX_USES = 10_000
MAX_GRANT_SECONDS = 7 * 24 * 3600
_MAX_EVIDENCE_CHARS = 300_000


class ApproveRequest(Body):
    """A yes: for this call alone, for its class, or for everything in the session."""

    decision: Literal["approved"]
    scope: Scope = Field(default=Scope.ONCE, strict=False)
    uses: int | None = Field(default=None, ge=1, le=MAX_USES)
    expires_in_seconds: int | None = Field(default=None, ge=1, le=MAX_GRANT_SECONDS)
    digest: str | None = Field(default=None, max_length=128)
    channel: Label = "api"

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        limited = self.uses is not None or self.expires_in_seconds is not None
        if limited and self.scope is Scope.ONCE:
            raise ValueError("`uses` and `expires_in_seconds` go with scope `class` or `session`")
        return self


class RejectRequest(Body):
    """A no, and why; the reason reaches the agent."""

    reason: str | None = Field(default=None, max_length=2_000)
    channel: Label = "api"


class DecisionResponse(BaseModel):
    success: bool = True
    approval_id: str
    status: str


class FindingView(Body):
    rule: str = Field(min_length=1, max_length=200)
    reason: str = Field(min_length=1, max_length=2_000)
    risk: str

    @field_validator("risk")
    @classmethod
    def _is_a_risk(cls, name: str) -> str:
        if name not in RiskLevel.__members__:
            raise ValueError(f"a risk is one of {', '.join(RiskLevel.__members__)}")
        return name


class RefusalView(Body):
    error: str = Field(min_length=1, max_length=10_000)
    error_type: ErrorType = Field(default=ErrorType.DENIED, strict=False)


class FactsRequest(Body):
    """What a client has seen: the facts, or why it would not do it at all."""

    facts: dict[str, Any] | None = None
    findings: list[FindingView] = Field(default_factory=list[FindingView], max_length=100)
    evidence: str = Field(default="", max_length=_MAX_EVIDENCE_CHARS)
    refused: RefusalView | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.facts is None) == (self.refused is None):
            raise ValueError("send either `facts` or `refused`")
        return self

    @property
    def survey(self) -> Survey:
        found = (Finding(one.rule, one.reason, RiskLevel[one.risk]) for one in self.findings)
        return Survey(self.facts or {}, tuple(found), self.evidence)


class OfferView(BaseModel):
    scope: str
    words: str
    warning: str | None


class ApprovalView(BaseModel):
    """A question as people see it: the card and, once there is one, the answer."""

    approval_id: str
    tool_id: str
    tool_name: str
    tool_params: dict[str, Any]
    description: str
    risk_level: str
    reasons: list[str]
    reasoning: str | None = Field(description="The agent's own claim, not a fact.")
    notes: list[str]
    evidence: str
    offers: list[OfferView]
    needs_second_step: bool
    agent_id: str
    session_id: str
    timeout_seconds: int
    expires_at: datetime
    digest: str
    status: str
    estimated_duration_ms: int | None
    decided_by: str | None
    decided_at: datetime | None
    channel: str | None
    scope: str | None
    reason: str | None
    grant_id: str | None

    @classmethod
    def of(cls, approval: Approval) -> Self:
        answer = approval.answer
        given = {
            "decided_by": None if answer is None else answer.by,
            "decided_at": None if answer is None else answer.at,
            "channel": None if answer is None else answer.channel,
            "scope": None if answer is None else answer.scope,
            "reason": None if answer is None else answer.reason,
            "grant_id": None if answer is None else answer.grant_id,
        }
        return cls.model_validate({**asdict(Card.of(approval)), **given})


class ApprovalsResponse(BaseModel):
    success: bool = True
    approvals: list[ApprovalView]
    total_count: int


class GrantView(BaseModel):
    grant_id: str
    session_id: str
    scope: str
    words: str
    max_risk: str
    uses_left: int | None
    expires_at: datetime | None
    approval_id: str
    created_at: datetime
    revoked_at: datetime | None

    @classmethod
    def of(cls, grant: Grant) -> Self:
        return cls(
            grant_id=grant.id,
            session_id=grant.session_id,
            scope=grant.scope,
            words=grant.words,
            max_risk=grant.max_risk.name,
            uses_left=grant.uses_left,
            expires_at=grant.expires_at,
            approval_id=grant.approval_id,
            created_at=grant.created_at,
            revoked_at=grant.revoked_at,
        )


class GrantsResponse(BaseModel):
    success: bool = True
    grants: list[GrantView]
    total_count: int


class ClaimRequest(Body):
    """The epoch under which the call was offered, and a key that only this process knows.

    With the same key the claim can be repeated, also by the next life of the process.
    """

    epoch: int = Field(ge=0, lt=2**31)
    key: Label


class ClaimResponse(BaseModel):
    success: bool = True
    tool_id: str
    status: str
    epoch: int

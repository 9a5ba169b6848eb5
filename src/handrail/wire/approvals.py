"""Bodies about questions, answers, grants and claims."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from handrail.core.approval import Approval
from handrail.core.card import Card
from handrail.core.errors import ErrorType
from handrail.core.grant import Grant, Scope
from handrail.core.names import Names
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.wire.named import AgentName, ClientName, RevisedAt, RevisedBy, RevisionDiff
from handrail.wire.payloads import Body, Count, Label, Success

MAX_USES = 10_000
MAX_GRANT_SECONDS = 7 * 24 * 3600
MAX_LASTING_SECONDS = 365 * 24 * 3600
# Masks make a text longer, up to about twice.
_MAX_EVIDENCE_CHARS = 500_000


def _limits_need_a_wider_scope(schema: dict[str, Any]) -> None:
    """As a schema, the rules that `ApproveRequest` checks."""
    wider = [Scope.CLASS, Scope.PROJECT, Scope.SESSION]
    unset = {"type": "null"}
    schema["allOf"] = [
        {
            "if": {"properties": {"scope": {"enum": wider}}, "required": ["scope"]},
            "else": {"properties": {"uses": unset, "expires_in_seconds": unset}},
        },
        {
            "if": {"properties": {"scope": {"const": Scope.PROJECT}}, "required": ["scope"]},
            "else": {"properties": {"expires_in_seconds": {"maximum": MAX_GRANT_SECONDS}}},
        },
    ]


class ApproveRequest(Body):
    """A yes: for this call alone, for its class (in the session or the project), or for all."""

    model_config = ConfigDict(json_schema_extra=_limits_need_a_wider_scope)

    decision: Literal["approved"] = Field(
        description="Said in full, so that nothing is approved by accident."
    )
    scope: Scope = Field(
        default=Scope.ONCE,
        strict=False,
        description="How far the yes reaches: this call, its class in this session, its class in "
        "every session of this agent in the project, or all of the session.",
    )
    uses: int | None = Field(
        default=None,
        ge=1,
        le=MAX_USES,
        description="With a wider scope: for so many further calls.",
    )
    expires_in_seconds: int | None = Field(
        default=None,
        ge=1,
        le=MAX_LASTING_SECONDS,
        description="With a wider scope: for so long, at most 7 days. With scope `project`: at "
        "most 365 days, 30 days if not set.",
    )
    digest: str | None = Field(
        default=None,
        max_length=128,
        description="The digest of the card that was seen; with another one by now, it is no yes.",
    )
    channel: Label = Field(default="api", description="From which screen.")

    @field_validator("expires_in_seconds")
    @classmethod
    def _ends_in_time(cls, seconds: int | None, info: ValidationInfo) -> int | None:
        is_lasting = info.data.get("scope") is Scope.PROJECT
        if seconds is not None and seconds > MAX_GRANT_SECONDS and not is_lasting:
            raise ValueError(f"must be at most {MAX_GRANT_SECONDS:,}, except with scope `project`")
        return seconds

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        limited = self.uses is not None or self.expires_in_seconds is not None
        if limited and self.scope is Scope.ONCE:
            raise ValueError("`uses` and `expires_in_seconds` go with a wider scope than `once`")
        return self


class RejectRequest(Body):
    """A no, and why; the reason reaches the agent."""

    reason: str | None = Field(default=None, max_length=2_000, description="Why not.")
    channel: Label = Field(default="api", description="From which screen.")


class DecisionResponse(BaseModel):
    success: Success = True
    approval_id: str = Field(description="The question.")
    status: str = Field(
        description="What came of it: the state of the question or, for facts, of the call."
    )


class FindingView(Body):
    rule: str = Field(min_length=1, max_length=200, description="The id of the rule that noticed.")
    reason: str = Field(min_length=1, max_length=2_000, description="Why, in words.")
    risk: str = Field(description="How bad it is.")

    @field_validator("risk")
    @classmethod
    def _is_a_risk(cls, name: str) -> str:
        if name not in RiskLevel.__members__:
            raise ValueError(f"a risk is one of {', '.join(RiskLevel.__members__)}")
        return name


class RefusalView(Body):
    error: str = Field(min_length=1, max_length=10_000, description="Why, in words.")
    error_type: ErrorType = Field(
        default=ErrorType.DENIED, strict=False, description="What kind of refusal it is."
    )


class FactsRequest(Body):
    """What a client has seen: the facts, or why it would not do it at all."""

    facts: dict[str, Any] | None = Field(
        default=None, description="What the machine holds now, for the digest."
    )
    findings: list[FindingView] = Field(
        default_factory=list[FindingView],
        max_length=100,
        description="Further reasons for concern.",
    )
    evidence: str = Field(
        default="",
        max_length=_MAX_EVIDENCE_CHARS,
        description="A diff, or the commands and the files that they run.",
    )
    unmasked: bool = Field(
        default=False,
        description="Whether the evidence is in full, as the request to look asked for.",
    )
    summary: str = Field(
        default="",
        max_length=10_000,
        description="The title of the card, where the machine knows more than the call says.",
    )
    changes_nothing: bool = Field(
        default=False, description="Whether the call would change nothing while the facts hold."
    )
    rehearsed: bool = Field(
        default=False,
        description="True if a rehearsal has shown all that the call would change.",
    )
    refused: RefusalView | None = Field(
        default=None, description="Instead of facts: this machine would not do it."
    )
    epoch: int | None = Field(
        default=None, ge=0, lt=2**31, description="The epoch of the request to look."
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.facts is None) == (self.refused is None):
            raise ValueError("send either `facts` or `refused`")
        return self

    @property
    def survey(self) -> Survey:
        found = (Finding(one.rule, one.reason, RiskLevel[one.risk]) for one in self.findings)
        in_full = self.evidence if self.unmasked else None
        return Survey(
            self.facts or {},
            tuple(found),
            self.evidence,
            in_full,
            summary=self.summary,
            changes_nothing=self.changes_nothing,
            rehearsed=self.rehearsed,
        )


class AskAgainRequest(FactsRequest):
    """A new survey of an approved call, with the epoch under which the call was offered."""

    epoch: int = Field(  # pyright: ignore[reportIncompatibleVariableOverride]  frozen
        ge=0, lt=2**31, description="The epoch of the signal."
    )


class OfferView(BaseModel):
    scope: str = Field(description="How far this yes would reach.")
    words: str = Field(description="The same in words.")
    warning: str | None = Field(description="What to think of before.")
    past: str | None = Field(description="How many earlier calls it would have covered, in words.")
    past_calls: int | None = Field(description="How many; null where they were not counted.")


class ApprovalView(BaseModel):
    """A question as people see it: the card and, once there is one, the answer."""

    approval_id: str = Field(description="The id of the question, `apr_…`.")
    tool_id: str = Field(description="The call it is about.")
    tool_name: str = Field(description="The tool.")
    tool_params: dict[str, Any] = Field(description="Its parameters, with secrets masked.")
    masked: int = Field(
        description="How many parts of an open question are masked or cut off here. It can be "
        "approved only in full: see `/approvals/{approval_id}/unmasked`."
    )
    description: str = Field(description="What would happen, in one sentence.")
    risk_level: str = Field(description="How risky it was judged to be.")
    reasons: list[str] = Field(description="Why, in words.")
    reasoning: str | None = Field(description="The agent's own claim, not a fact.")
    notes: list[str] = Field(description="What else to know before deciding.")
    evidence: str = Field(
        description="A diff of what would change, or the commands and the files they are bound to."
    )
    offers: list[OfferView] = Field(description="The ways to say yes.")
    needs_second_step: bool = Field(
        description="Whether a screen should ask twice before it approves."
    )
    agent_id: str = Field(description="Who asks.")
    agent_name: AgentName
    client_name: ClientName
    editable: list[str] = Field(description="The parameters that a person may change.")
    revised_by: RevisedBy
    revised_at: RevisedAt
    revision: RevisionDiff
    session_id: str = Field(description="In which session.")
    timeout_seconds: int = Field(description="How long there is to answer.")
    expires_at: datetime = Field(description="Until when.")
    digest: str = Field(description="What a yes is bound to: words, plan and facts.")
    status: str = Field(
        description="`pending`, or how it ended: `approved`, `rejected`, `expired`, `withdrawn`."
    )
    estimated_duration_ms: int | None = Field(description="How long calls of its class have taken.")
    decided_by: str | None = Field(description="Who answered.")
    decided_at: datetime | None = Field(description="When.")
    channel: str | None = Field(description="From which screen.")
    scope: str | None = Field(description="How far the yes reaches.")
    reason: str | None = Field(description="Why not.")
    grant_id: str | None = Field(description="The grant that came of it.")

    @classmethod
    def of(cls, approval: Approval, names: Names) -> Self:
        answer = approval.answer
        given = {
            "decided_by": None if answer is None else answer.by,
            "decided_at": None if answer is None else answer.at,
            "channel": None if answer is None else answer.channel,
            "scope": None if answer is None else answer.scope,
            "reason": None if answer is None else answer.reason,
            "grant_id": None if answer is None else answer.grant_id,
        }
        card = Card.of(approval, names)
        shown = {name: getattr(card, name) for name in Card.__slots__}
        return cls.model_validate({**shown, **given}, from_attributes=True)


class ApprovalsResponse(BaseModel):
    success: Success = True
    approvals: list[ApprovalView] = Field(description="The questions.")
    total_count: Count
    now: datetime = Field(description="What time it is for the server, to count down by.")


class GrantView(BaseModel):
    grant_id: str = Field(description="The id of the grant, `grt_…`.")
    session_id: str = Field(
        description="The session it was given in; with scope `class` or `session`, it holds there."
    )
    scope: str = Field(description="`class`, `project` or `session`.")
    agent_id: str | None = Field(description="The agent whose calls it lets pass.")
    agent_name: AgentName
    words: str = Field(description="What it lets pass.")
    max_risk: str = Field(description="Nothing riskier passes.")
    uses_left: int | None = Field(description="For how many further calls; null for any number.")
    expires_at: datetime | None = Field(description="Until when; null for the rest of the session.")
    idle: bool = Field(
        description="True if its session has made no call for 12 hours; it still counts."
    )
    last_call_at: datetime | None = Field(
        description="The latest call of its session in the last 12 hours."
    )
    approval_id: str = Field(description="The question it came of.")
    granted_by: str = Field(description="Who gave it.")
    created_at: datetime = Field(description="When it was given.")
    revoked_at: datetime | None = Field(description="When it was taken back.")

    @classmethod
    def of(
        cls,
        grant: Grant,
        agent_id: str | None,
        last_call_at: datetime | None,
        is_idle: bool,
        names: Names,
    ) -> Self:
        return cls(
            grant_id=grant.id,
            session_id=grant.session_id,
            scope=grant.scope,
            agent_id=agent_id,
            agent_name=names.get(agent_id or ""),
            idle=is_idle,
            last_call_at=last_call_at,
            words=grant.words,
            max_risk=grant.max_risk.name,
            uses_left=grant.uses_left,
            expires_at=grant.expires_at,
            approval_id=grant.approval_id,
            granted_by=grant.granted_by,
            created_at=grant.created_at,
            revoked_at=grant.revoked_at,
        )


class GrantsResponse(BaseModel):
    success: Success = True
    grants: list[GrantView] = Field(description="The grants.")
    total_count: Count


class ClaimRequest(Body):
    """The epoch under which the call was offered, and a key that only this process knows.

    With the same key the claim can be repeated, also by the next life of the process.
    """

    epoch: int = Field(ge=0, lt=2**31, description="The epoch of the signal.")
    key: Label = Field(description="Chosen by the client for this call.")


class ClaimResponse(BaseModel):
    success: Success = True
    tool_id: str = Field(description="The call.")
    status: str = Field(description="Its state: `executing`, and yours.")
    epoch: int = Field(description="The epoch under which to report.")

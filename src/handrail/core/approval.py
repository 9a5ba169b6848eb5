"""A question to a person with a deadline, and the answer."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from handrail.core.errors import IllegalTransition
from handrail.core.grant import (
    LASTING_SECONDS,
    WHOLE_SESSION_WORDS,
    CallClass,
    Grant,
    PastCalls,
    Scope,
)
from handrail.core.ids import (
    ApprovalId,
    ClientId,
    ExecutionId,
    GrantId,
    ProjectId,
    SessionId,
    UserId,
    mint,
)
from handrail.core.masks import count_masks
from handrail.core.revision import Revision
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject

# The channel of an answer that a machine's check has given, where no person was needed.
CHECK = "check"


class ApprovalStatus(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    # The call ended before anybody had answered.
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Who answered, from where and when. `by` is a name, or `handrail` for a deadline."""

    by: str
    channel: str
    at: datetime
    scope: Scope | None = None
    reason: str | None = None
    grant_id: GrantId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One question about one call: what the person is shown, and what they said.

    `tool_params` is masked, `evidence` what a survey has to show. `digest` binds the answer to
    what was shown; `surveyed` says whether the machine was looked at before asking.
    `estimated_duration_ms` is how long calls of its class have taken, where some have, and `past`
    how many there were. One that is `reserved` is covered by no answer for the whole session, and
    offers none. `doubted` says that it is let pass for once alone, since its session or
    its words are not trusted; `origins` tell where its words came from, where that is known. What
    `by_server` is done there is nothing to look at on any machine; it speaks to its `hosts` alone.
    `client_id` is the machine that was connected when it was asked. What the call does outside a
    rehearsal, or to others, `cannot_undo` be taken back.
    `looking` is the name of the machine that is still checking a question without facts.
    A person may change the `editable` parameters, and a `revision` tells what one has changed.
    An `unmasked` question holds its full text. It is sent to the person who decides, and never
    stored.
    """

    id: ApprovalId
    project_id: ProjectId
    user_id: UserId
    execution_id: ExecutionId
    session_id: SessionId
    agent_id: str
    tool_name: str
    tool_params: JsonObject
    reasoning: str | None
    description: str
    risk_level: RiskLevel
    reasons: tuple[str, ...]
    digest: str
    surveyed: bool
    evidence: str
    call_class: CallClass | None
    timeout_seconds: int
    created_at: datetime
    expires_at: datetime
    status: ApprovalStatus = ApprovalStatus.PENDING
    answer: Answer | None = None
    estimated_duration_ms: int | None = None
    past: PastCalls | None = None
    reaches_out: bool = False
    reserved: bool = False
    doubted: bool = False
    origins: tuple[str, ...] = ()
    by_server: bool = False
    hosts: tuple[str, ...] = ()
    looking: str = ""
    unmasked: bool = False
    client_id: ClientId | None = None
    cannot_undo: bool = False
    editable: tuple[str, ...] = ()
    revision: Revision | None = None

    def resolve(self, status: ApprovalStatus, answer: Answer) -> "Approval":
        if self.status is not ApprovalStatus.PENDING:
            raise IllegalTransition(f"{self.id} is {self.status} already")
        return replace(self, status=status, answer=answer)

    def repeats(self, earlier: "Approval") -> bool:
        """Whether the same person has already given the same answer, on any screen."""
        if self.answer is None or earlier.answer is None or self.status is not earlier.status:
            return False
        sent, kept = self.answer, earlier.answer
        return (sent.by, sent.scope, sent.reason) == (kept.by, kept.scope, kept.reason)

    def grant(
        self,
        scope: Scope,
        by: UserId,
        at: datetime,
        uses: int | None = None,
        lasts_seconds: int | None = None,
    ) -> Grant | None:
        """The standing answer that goes with a yes of that scope; none goes with one for once.

        One for the project always ends at a date.
        """
        if scope is Scope.ONCE:
            return None
        kind = None if scope is Scope.SESSION else self.call_class
        lasting = scope is Scope.PROJECT
        if lasting and lasts_seconds is None:
            lasts_seconds = LASTING_SECONDS
        return Grant(
            id=GrantId(mint("grt", at)),
            project_id=self.project_id,
            session_id=self.session_id,
            class_key=None if kind is None else kind.key,
            words=WHOLE_SESSION_WORDS if kind is None else kind.words,
            max_risk=RiskLevel.HIGH if kind is None else self.risk_level,
            uses_left=uses,
            expires_at=None if lasts_seconds is None else at + timedelta(seconds=lasts_seconds),
            approval_id=self.id,
            granted_by=by,
            created_at=at,
            agent_id=self.agent_id if lasting else None,
        )

    @property
    def how_it_ended(self) -> str:
        """For somebody who comes too late: who was faster, when and where."""
        if self.answer is None:
            return f"the call of {self.id} has changed its state"
        if self.status is ApprovalStatus.EXPIRED:
            return f"the time to answer ran out at {self.expires_at:%H:%M:%S} UTC"
        when = f"{self.answer.at:%H:%M:%S} UTC"
        if self.answer.channel == CHECK:
            return f"the machine's check ended it at {when}: {self.answer.reason}"
        if self.status is ApprovalStatus.WITHDRAWN:
            return f"the call was cancelled by {self.answer.by} at {when}"
        return (
            f"{self.answer.by} answered first: {self.status} at {when} from {self.answer.channel}"
        )

    @property
    def masked_parts(self) -> int:
        """How many parts of the shown text are masked or cut off; evidence replaces parameters."""
        if self.unmasked:
            return 0
        return count_masks(self.description) + count_masks(self.evidence or self.tool_params)

    @property
    def beyond_session(self) -> bool:
        """True if an answer for the whole session does not cover the call."""
        return self.reaches_out or self.reserved

    @property
    def is_for_once(self) -> bool:
        """Whether no standing answer covers it, or may come of it."""
        return self.doubted or self.revision is not None

    @property
    def offers(self) -> tuple[Scope, ...]:
        """How far a person may let the answer reach."""
        if self.risk_level >= RiskLevel.CRITICAL or not self.surveyed or self.is_for_once:
            return (Scope.ONCE,)
        of_class = () if self.call_class is None else (Scope.CLASS, Scope.PROJECT)
        of_session = () if self.reserved else (Scope.SESSION,)
        return (Scope.ONCE, *of_class, *of_session)

"""The approval card: the same words on every screen a person may decide on."""

from dataclasses import dataclass
from datetime import datetime

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.grant import WHOLE_SESSION_WORDS, PastCalls, Scope
from handrail.core.names import BUILT_IN, Names
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject
from handrail.core.visible import visible

_WORDS_ALONE = (
    "If you approve now, you approve the request as written. The machine checks it before "
    "anything runs."
)
LOOKING = f"Still checking on {{machine}}… This card updates when the check is done. {_WORDS_ALONE}"
NOT_SURVEYED = (
    "Not checked: no machine is connected. This card updates when one connects and has checked "
    f"it. {_WORDS_ALONE}"
)
NO_HOSTS_SEEN = (
    "The hosts it would reach are not known before the check. If you approve now, it can reach no "
    "host."
)
MASKED = (
    "Masked on this card: {parts}. It can be approved only on a screen that shows the full text."
)
BY_SERVER = "The server itself does this as soon as you approve, and reaches {hosts}."
REVISED = "{by} changed this call; the agent is told what was changed."
CANNOT_UNDO = "It cannot be undone."
WHOLE_SESSION = (
    "All further calls of this agent in this session run without asking, including high-risk "
    "writes and commands in their box. You are still asked about network access, drafts and "
    "critical calls; forbidden calls stay refused."
)

_REACH = {
    Scope.CLASS: "for the rest of this session",
    Scope.PROJECT: "always in this project, in every session of this agent",
}
# What takes a moment needs no word.
_WORTH_SAYING_MS = 2_000


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to say yes: how far it reaches, in words, and what to think of before.

    `past` says how many calls it would have covered so far; `past_calls` is their number.
    """

    scope: Scope
    words: str
    warning: str | None = None
    past: str | None = None
    past_calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a person sees before deciding. `reasoning` is the agent's own claim, not a fact.

    A card with `masked` parts offers no way to approve; its unmasked form does. `revision` is a
    diff of what a person has changed, from what the agent asked.
    """

    approval_id: str
    tool_id: str
    tool_name: str
    tool_params: JsonObject
    description: str
    risk_level: str
    reasons: tuple[str, ...]
    reasoning: str | None
    notes: tuple[str, ...]
    evidence: str
    offers: tuple[Offer, ...]
    needs_second_step: bool
    agent_id: str
    session_id: str
    timeout_seconds: int
    expires_at: datetime
    digest: str
    status: str
    estimated_duration_ms: int | None = None
    masked: int = 0
    agent_name: str | None = None
    client_name: str | None = None
    editable: tuple[str, ...] = ()
    revised_by: str | None = None
    revised_at: datetime | None = None
    revision: str | None = None

    @classmethod
    def of(cls, approval: Approval, names: Names = BUILT_IN) -> "Card":
        masked = approval.masked_parts if approval.status is ApprovalStatus.PENDING else 0
        offers = () if masked else approval.offers
        revision = approval.revision
        return cls(
            approval_id=approval.id,
            tool_id=approval.execution_id,
            tool_name=approval.tool_name,
            tool_params=approval.tool_params,
            description=approval.description,
            risk_level=approval.risk_level.name,
            reasons=approval.reasons,
            reasoning=approval.reasoning,
            notes=_notes(approval, masked),
            evidence=approval.evidence,
            offers=tuple(_offer(scope, approval) for scope in offers),
            needs_second_step=approval.risk_level >= RiskLevel.HIGH or not approval.surveyed,
            agent_id=approval.agent_id,
            session_id=approval.session_id,
            timeout_seconds=approval.timeout_seconds,
            expires_at=approval.expires_at,
            digest=approval.digest,
            status=approval.status,
            estimated_duration_ms=approval.estimated_duration_ms,
            masked=masked,
            agent_name=names.get(approval.agent_id),
            client_name=names.get(approval.client_id or ""),
            editable=approval.editable,
            revised_by=None if revision is None else revision.by,
            revised_at=None if revision is None else revision.at,
            revision=None if revision is None else revision.diff,
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person has chosen on a card; a yes that reaches further may be limited."""

    approved: bool
    scope: Scope = Scope.ONCE
    reason: str | None = None
    uses: int | None = None
    expires_in_seconds: int | None = None


def _notes(approval: Approval, masked: int) -> tuple[str, ...]:
    notes = [*approval.origins]
    if approval.revision is not None:
        notes.insert(0, REVISED.format(by=visible(approval.revision.by)))
    if masked:
        notes.append(MASKED.format(parts="1 part" if masked == 1 else f"{masked:,} parts"))
    if approval.by_server:
        # There is no machine to be looked at, and nothing that is not known.
        if approval.hosts:
            notes.append(BY_SERVER.format(hosts=", ".join(approval.hosts)))
    elif not approval.surveyed:
        machine = visible(approval.looking)
        notes.append(LOOKING.format(machine=machine) if machine else NOT_SURVEYED)
        if approval.reaches_out:
            notes.append(NO_HOSTS_SEEN)
    if approval.cannot_undo:
        notes.append(CANNOT_UNDO)
    if (usual := approval.estimated_duration_ms) is not None and usual >= _WORTH_SAYING_MS:
        notes.append(f"Calls like this have taken about {usual / 1000:,.0f} s.")
    return tuple(notes)


def _offer(scope: Scope, approval: Approval) -> Offer:
    match scope:
        case Scope.ONCE:
            return Offer(scope, "this call, once")
        case Scope.CLASS | Scope.PROJECT:
            kind = approval.call_class.words if approval.call_class is not None else ""
            words = f"{kind}, {_REACH[scope]}"
            past = approval.past
            if past is None:
                return Offer(scope, words)
            return Offer(scope, words, past=_tell_past(past), past_calls=past.calls)
        case Scope.SESSION:
            return Offer(scope, WHOLE_SESSION_WORDS, WHOLE_SESSION)


def _tell_past(past: PastCalls) -> str:
    if past.calls == 0:
        return "first call of this kind by this agent in this project"
    calls = "1 earlier call" if past.calls == 1 else f"{past.calls:,} earlier calls"
    refused = f", {past.refused:,} of which you refused" if past.refused else ""
    return f"it would have covered {calls} of this agent in this project{refused}"

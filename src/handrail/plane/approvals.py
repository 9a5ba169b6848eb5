"""ApprovalManager: who must be asked, what they are shown, and what their answer does."""

from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median

import structlog

from handrail.core.access import Role
from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.blob import as_blob
from handrail.core.change import Add
from handrail.core.digest import digest_unmasked
from handrail.core.errors import BadInput, Conflict, ErrorType, Forbidden
from handrail.core.event import EventKind, NewEvent, Topic
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import CallClass, Grant, PastCalls, Scope
from handrail.core.grant_steps import UseGrant
from handrail.core.ids import INSIDE, ApprovalId, ClientId, ProjectId, mint
from handrail.core.ports import Clock, Store
from handrail.core.risk import RiskLevel
from handrail.core.tool import Site
from handrail.core.verdict import Ruling, Verdict
from handrail.plane.answers import NOT_AS_SHOWN, Answers
from handrail.plane.assessment import Assessment
from handrail.plane.decider import Decider
from handrail.plane.dispatch import Dispatcher
from handrail.plane.grants import GrantBook
from handrail.plane.move import Move
from handrail.plane.origins import Origins
from handrail.plane.waiting import WaitingRoom
from handrail.policy.redaction import mask_text
from handrail.policy.security import APPROVAL_SECONDS

POLICY = "policy"

# More than a person could look at; an agent that asks for more is to be stopped, not heard.
MOST_QUESTIONS = 100

_MOST_LISTED = 1000
_MOST_COMPARED = 21

log = structlog.get_logger(__name__)


class ApprovalManager:
    """`timeout_seconds` replaces the times that go with each risk, where it is given."""

    def __init__(
        self,
        store: Store,
        room: WaitingRoom,
        clock: Clock,
        dispatcher: Dispatcher,
        grants: GrantBook,
        timeout_seconds: int | None = None,
    ):
        self._store = store
        self._room = room
        self._clock = clock
        self._dispatcher = dispatcher
        self._grants = grants
        self._timeout_seconds = timeout_seconds
        self._origins = Origins(store)
        self._answers = Answers(store, clock)

    async def rule(
        self, pending: ToolExecution, assessment: Assessment, *, is_asked: bool = False
    ) -> Move:
        """Let a judged call pass, turn it away, or put it to a person.

        A call that `is_asked` about already is not counted as one more question.
        """
        judged = assessment.judge(pending)
        passed = self.auto_approve_tool_if_low_risk(judged, assessment)
        # What a person has changed waits until they approve it.
        if passed is not None and judged.revision is None:
            return passed
        if assessment.verdict.ruling is Ruling.DENY:
            return _turn_away(judged, "; ".join(judged.reasons), self._clock.now())
        if assessment.verdict.ruling is Ruling.REHEARSE:
            return await self._rehearse(judged, assessment, is_asked=is_asked)
        return await self._ask(judged, assessment, is_asked=is_asked)

    async def _rehearse(
        self, judged: ToolExecution, assessment: Assessment, *, is_asked: bool
    ) -> Move:
        """Put the call to a person: no client rehearses yet, so its effects are unknown."""
        return await self._ask(judged, assessment, is_asked=is_asked)

    async def _ask(self, judged: ToolExecution, assessment: Assessment, *, is_asked: bool) -> Move:
        """Let the call pass on a grant that covers it, or put it to a person."""
        at = self._clock.now()
        grant = await self._find_grant(judged, assessment)
        if grant is not None:
            approved = judged.approve(grant.id, grant.scope, at)
            return self._dispatcher.hand_out(approved, at, UseGrant(grant, judged.session_id))
        asked = await self._store.count_questions(judged.project_id, judged.agent_id)
        if asked >= MOST_QUESTIONS and not is_asked:
            words = f"{asked:,} questions of this agent are open; wait until some are answered"
            return _turn_away(judged, words, at, ErrorType.TOO_MANY_QUESTIONS)
        kind = assessment.call_class
        usual = await self._usual_duration_ms(judged.project_id, kind)
        past = None if kind is None else await self._store.count_of_class(judged, kind.key)
        origins = await self._origins.notes_for(judged, assessment.tool.large)
        return self.request_tool_execution_approval(judged, assessment, usual, past, origins)

    async def _find_grant(self, judged: ToolExecution, assessment: Assessment) -> Grant | None:
        if assessment.doubted or judged.revision is not None:
            return None
        return await self._grants.find_covering(
            judged, assessment.call_class, beyond_session=assessment.beyond_session
        )

    def auto_approve_tool_if_low_risk(
        self, judged: ToolExecution, assessment: Assessment
    ) -> Move | None:
        """Let a call pass that nobody needs to be asked about, and hand it out at once."""
        if assessment.verdict.ruling not in (Ruling.ALLOW, Ruling.DRAFT):
            return None
        at = self._clock.now()
        return self._dispatcher.hand_out(judged.approve(POLICY, Scope.ONCE, at), at)

    async def _usual_duration_ms(self, project_id: ProjectId, kind: CallClass | None) -> int | None:
        if kind is None:
            return None
        taken = await self._store.list_durations(project_id, kind.key, limit=_MOST_COMPARED)
        return int(median(taken)) if taken else None

    def request_tool_execution_approval(
        self,
        judged: ToolExecution,
        assessment: Assessment,
        usual_ms: int | None = None,
        past: PastCalls | None = None,
        origins: tuple[str, ...] = (),
    ) -> Move:
        """Put a call to the people of its project; it waits until one of them answers."""
        approval = replace(
            self.request_tool_approval(judged, assessment),
            estimated_duration_ms=usual_ms,
            past=past,
            origins=origins,
        )
        waiting = judged.advance(
            Status.AWAITING_APPROVAL,
            approval.created_at,
            approval_id=approval.id,
            requires_approval=True,
        )
        news = NewEvent.for_everyone(waiting, EventKind.APPROVAL_REQUEST)
        return Move(waiting, (Add(approval),), (news,))

    def seconds_for(self, verdict: Verdict) -> int:
        """How long a person has to answer; nothing where nobody would be asked."""
        seconds = verdict.timeout_seconds
        return (self._timeout_seconds or seconds) if verdict.ruling.may_ask else seconds

    def request_tool_approval(self, judged: ToolExecution, assessment: Assessment) -> Approval:
        """The question itself: what a person is shown, and until when they may answer."""
        at = self._clock.now()
        # A changed call is asked about, however low its risk.
        least = self._timeout_seconds or APPROVAL_SECONDS[RiskLevel.MEDIUM]
        seconds = self.seconds_for(assessment.verdict) or least
        survey = assessment.survey
        by_server = assessment.tool.site is Site.SERVER
        return Approval(
            id=judged.approval_id or ApprovalId(mint("apr", at)),
            project_id=judged.project_id,
            user_id=judged.user_id,
            execution_id=judged.id,
            session_id=judged.session_id,
            agent_id=judged.agent_id,
            tool_name=judged.tool_name,
            tool_params=judged.tool_params,
            reasoning=judged.reasoning,
            description=assessment.description,
            risk_level=judged.risk_level,
            reasons=judged.reasons,
            digest=judged.digest,
            surveyed=survey is not None,
            evidence="" if survey is None else mask_text(survey.evidence),
            call_class=assessment.call_class,
            timeout_seconds=seconds,
            created_at=at,
            expires_at=at + timedelta(seconds=seconds),
            reaches_out=assessment.verdict.plan.reaches_out,
            reserved=assessment.tool.reserved,
            doubted=assessment.doubted,
            by_server=by_server,
            hosts=assessment.verdict.plan.hosts if by_server else (),
            client_id=self._find_machine(judged, by_server=by_server),
            cannot_undo=assessment.cannot_undo,
            editable=_editable(judged, assessment),
            revision=judged.revision,
        )

    def _find_machine(self, judged: ToolExecution, *, by_server: bool) -> ClientId | None:
        """The machine that would run the call if it were handed out now."""
        return INSIDE if by_server else self._dispatcher.find_client(judged.workspace_id)

    async def get_pending_approvals(self, project_id: ProjectId) -> list[Approval]:
        """The open questions of a project, most urgent first."""
        found = await self._store.list_approvals(
            project_id, status=ApprovalStatus.PENDING, limit=_MOST_LISTED
        )
        return sorted(found, key=lambda approval: approval.expires_at)

    async def approve_tool(
        self,
        approval_id: ApprovalId,
        decider: Decider,
        *,
        scope: Scope = Scope.ONCE,
        uses: int | None = None,
        expires_in_seconds: int | None = None,
        digest: str | None = None,
    ) -> Approval:
        """Say yes. With a wider scope, further calls pass on it: at most `uses`, and for so long.

        Raises:
            NotFound: There is no such question in this project.
            BadInput: That scope is not offered for this call.
            Forbidden: An approver may not approve more than this call.
            Conflict: It was answered otherwise, its time has passed, or it is not what was shown.
        """
        approval = await self._answers.find(approval_id, decider)
        if decider.principal.role is Role.APPROVER and scope is not Scope.ONCE:
            raise Forbidden(
                "an approver approves one call at a time; only the owner of the project approves "
                f"for the {scope}"
            )
        if approval.status is ApprovalStatus.PENDING:
            await self._check_was_shown(approval, digest)
            if scope not in approval.offers:
                raise BadInput(
                    f"this call can be approved for {' or '.join(approval.offers)}, not for {scope}"
                )
        at, name = self._clock.now(), await decider.find_name(self._store)
        grant = approval.grant(scope, decider.principal.user_id, at, uses, expires_in_seconds)
        given = () if grant is None else (Add(grant),)
        answer = Answer(by=name, channel=decider.channel, at=at, scope=scope)
        if grant is not None:
            answer = replace(answer, grant_id=grant.id)
        resolved = replace(approval, status=ApprovalStatus.APPROVED, answer=answer)
        decided = await self._answers.give(
            resolved,
            lambda call: self._dispatcher.hand_out(call.approve(name, scope, at), at, *given),
            decider.principal.subject,
            grant,
        )
        if decided is not resolved:
            await self._check_was_shown(approval, digest)
        elif grant is not None:
            await self._release_covered(grant, answer)
        return decided

    async def _check_was_shown(self, approval: Approval, digest: str | None) -> None:
        """A masked question counts as shown only to a reader of its full text."""
        expected = approval.digest
        if parts := approval.masked_parts:
            project = await self._store.find_project(approval.project_id)
            salt = "" if project is None else project.digest_salt
            expected = digest_unmasked(salt, approval.digest)
            if digest in (None, approval.digest):
                raise Conflict(
                    f"this question is masked in {parts:,} places; read it in full first, at "
                    f"/approvals/{approval.id}/unmasked, and approve with the digest given there"
                )
        if digest is not None and digest != expected:
            raise Conflict(NOT_AS_SHOWN)

    async def reject_tool(
        self, approval_id: ApprovalId, decider: Decider, *, reason: str | None = None
    ) -> Approval:
        """Say no; the reason reaches the agent.

        Raises:
            NotFound: There is no such question in this project.
            Conflict: It was answered otherwise, or its time has passed.
        """
        approval = await self._answers.find(approval_id, decider)
        at, name = self._clock.now(), await decider.find_name(self._store)
        reason = None if reason is None else mask_text(reason)
        answer = Answer(by=name, channel=decider.channel, at=at, reason=reason)
        words = f"{name} refused this call" + (f": {reason}" if reason else "")
        return await self._answers.give(
            replace(approval, status=ApprovalStatus.REJECTED, answer=answer),
            lambda call: Move(call.advance(Status.REJECTED, at, error=words)),
            decider.principal.subject,
        )

    async def wait_for_tool_approval(self, approval_id: ApprovalId) -> Approval:
        """Wait until a question is answered, or its time has passed."""
        asked = await self._answers.get(approval_id)
        return await self._room.wait(
            Topic.execution(asked.execution_id),
            lambda: self._answers.get(approval_id),
            lambda approval: approval.status is not ApprovalStatus.PENDING,
        )

    # The shorter name is used in older designs.
    wait_for_approval = wait_for_tool_approval

    async def expire_overdue(self) -> None:
        """Close the questions that nobody has answered in time, also while we were away."""
        await self._answers.expire_overdue()

    async def _release_covered(self, grant: Grant, answer: Answer) -> None:
        """What already waits and falls under a new grant need not be asked about again."""
        for approval in await self.get_pending_approvals(grant.project_id):
            if not grant.is_for(approval.session_id, approval.agent_id):
                continue
            if answer.at >= approval.expires_at or approval.is_for_once:
                continue
            kind, beyond = approval.call_class, approval.beyond_session
            if not grant.covers(kind, approval.risk_level, answer.at, beyond_session=beyond):
                continue
            try:
                await self._answers.give(
                    approval.resolve(ApprovalStatus.APPROVED, answer),
                    lambda call: self._release(call, grant, answer.at),
                    grant.granted_by,
                    grant,
                )
            except Conflict:
                continue  # Answered meanwhile, or the grant is used up.

    def _release(self, call: ToolExecution, grant: Grant, at: datetime) -> Move:
        approved = call.approve(grant.id, grant.scope, at)
        return self._dispatcher.hand_out(approved, at, UseGrant(grant, call.session_id))


def _editable(judged: ToolExecution, assessment: Assessment) -> tuple[str, ...]:
    """What a person may change; a text that lies in a blob is too long for that."""
    params = judged.tool_params
    return tuple(name for name in assessment.tool.editable if as_blob(params.get(name)) is None)


def _turn_away(
    judged: ToolExecution, words: str, at: datetime, error_type: ErrorType = ErrorType.DENIED
) -> Move:
    failed = judged.fail(error_type, words, at)
    return Move(failed, (), (NewEvent.for_everyone(failed, EventKind.STATUS),))

"""Surveyor: the machine checks a call before a person is asked, so that they see the facts.

If the check takes long, the question is put without facts and says so. When the facts arrive, the
call is judged again: the question is updated, or ends because no person is needed.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import structlog

from handrail.core.access import Principal
from handrail.core.approval import CHECK, Answer, Approval, ApprovalStatus
from handrail.core.audit import AuditRecord
from handrail.core.change import Add, Change, Reask, Rejudge, Resolve
from handrail.core.errors import (
    BadInput,
    BrokenTool,
    ChangeRefused,
    Conflict,
    ErrorType,
    HandrailError,
    NotFound,
    ToolError,
)
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ApprovalId, ExecutionId, ProjectId
from handrail.core.ports import Clock, Store
from handrail.core.survey import Survey
from handrail.core.verdict import Ruling
from handrail.plane.approvals import ApprovalManager
from handrail.plane.assessment import Asked, Assessment, Assessor
from handrail.plane.call_log import warn_if_denied
from handrail.plane.calls import check_not_stopped, get_call
from handrail.plane.connections import Connections
from handrail.plane.look_requests import LookRequests
from handrail.plane.move import HANDRAIL, Move
from handrail.plane.origins import Origins
from handrail.plane.unmasking import Unmasker
from handrail.policy.redaction import mask_text

SURVEY_SECONDS = 2.0
# A rehearsal takes as long as the command, of which the longest takes 300 s.
REHEARSAL_SECONDS = 400.0
_PASSES = "the check has shown that it needs no approval"
_CHORE_SECONDS = 1.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The client would not, or could not, do it: nobody needs to be asked."""

    error: str
    error_type: ErrorType


class Surveyor:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        assessor: Assessor,
        approvals: ApprovalManager,
        unmasker: Unmasker,
        connections: Connections,
    ):
        self._store = store
        self._clock = clock
        self._assessor = assessor
        self._approvals = approvals
        self._unmasker = unmasker
        self._connections = connections
        self.looks = LookRequests(store, clock, connections)
        self._origins = Origins(store)
        # Calls with facts that are being judged, which takes long if they are long.
        self._judging: set[ExecutionId] = set()

    async def accept(
        self,
        approval_id: ApprovalId,
        answer: Survey | Refusal,
        client: Principal,
        project_id: ProjectId,
        epoch: int | None = None,
    ) -> ToolExecution:
        """Take what a client has seen, and put the call to a person if one is needed.

        If the question is already open, it is updated with the facts, or ends. `epoch` is that of
        the request to look; older clients do not send it.

        Raises:
            NotFound: There is no such survey in this project.
            Conflict: Another client was asked, or it is too late: the call has moved on.
        """
        pending = await self._store.find_execution_of(approval_id)
        if pending is None or pending.project_id != project_id:
            raise NotFound(f"there is no approval {approval_id!r}")
        survey = answer if isinstance(answer, Survey) else None
        # Only the evidence of a question with facts is ever unmasked.
        if not _waits_for_facts(pending) and self._unmasker.take(approval_id, survey, client):
            return pending
        if pending.status is not Status.PENDING and not _waits_for_facts(pending):
            raise Conflict(f"{pending.id} is {pending.status}: the survey comes too late")
        if epoch != pending.epoch and (epoch is not None or pending.revision is not None):
            raise Conflict(f"{pending.id} was changed since: this is not a survey of it")
        if pending.client_id != client.subject:
            raise Conflict(f"{pending.id} was not given to this client to check")
        if isinstance(answer, Refusal):
            move = self._fail(pending, answer.error_type, answer.error)
        else:
            self._judging.add(pending.id)
            try:
                move = await self._rule(pending, answer)
            finally:
                self._judging.discard(pending.id)
        try:
            await self._submit(pending, move, client.subject)
        except Conflict:
            await check_not_stopped(self._store, pending)
            # Perhaps only the grant it was to pass on is used up; then it is judged anew.
            return await self.accept(approval_id, answer, client, project_id, epoch)
        return move.after

    async def accept_again(
        self,
        execution_id: ExecutionId,
        epoch: int,
        survey: Survey,
        client: Principal,
        project_id: ProjectId,
    ) -> ToolExecution:
        """Judge an approved call by what its client has seen since; a person may be asked again.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: It is not offered to this client under that epoch, or has moved on.
        """
        approved = await get_call(self._store, execution_id, project_id)
        offered = (approved.status, approved.client_id, approved.epoch)
        if offered != (Status.APPROVED, client.subject, epoch):
            raise Conflict(f"{approved.id} is not offered to this client under epoch {epoch}")
        move = await self._rule(approved.reopen(), survey)
        if move.after.status is Status.APPROVED:
            # It needs no question. A status cannot follow itself, so another comes in between.
            epoch = approved.reopen().epoch
            via = move.after._replace(status=Status.AWAITING_APPROVAL, epoch=epoch)
            move = move._replace(via=via)
        await self._submit(approved, move, client.subject, "call.judged_again")
        return move.after

    async def ask_without_facts(self) -> None:
        """Put to a person what no client has looked at in time, also while we were away."""
        limit = self._clock.now() - timedelta(seconds=SURVEY_SECONDS)
        end = time.monotonic() + _CHORE_SECONDS
        for pending in await self._store.list_unsurveyed(limit):
            # Other chores wait for this one; it goes on the next time.
            if time.monotonic() > end:
                return
            if pending.id in self._judging:
                continue
            try:
                if await self._is_rehearsing(pending):
                    continue
                move = await self._rule(pending, None)
                if move.after.status is Status.AWAITING_APPROVAL:
                    move = await self.looks.assign(pending, move)
                await self._submit(pending, move, HANDRAIL)
            except Conflict:
                continue  # The facts came after all.
            except HandrailError as error:
                log.error("survey.failed", execution=pending.id, error=error.message)

    async def _is_rehearsing(self, pending: ToolExecution) -> bool:
        """Whether the machine that got the call is likely to be running it without effect."""
        at, now = pending.created_at, self._clock.now()
        if now - at > timedelta(seconds=REHEARSAL_SECONDS):
            return False
        if not self._connections.was_connected_at(pending.client_id, at):
            return False
        try:
            assessment = await self._assess(pending, None)
        except (BadInput, ToolError, BrokenTool):
            return False
        return assessment.verdict.ruling is Ruling.REHEARSE

    async def _rule(self, pending: ToolExecution, survey: Survey | None) -> Move:
        """Judge the call again from its own words, and with the facts where they are known."""
        try:
            assessment = await self._assess(pending, survey)
        except (BadInput, ToolError, BrokenTool) as error:
            # It was understood once: the tools have changed under it.
            return self._fail(pending, error.error_type, error.message)
        is_asked = _waits_for_facts(pending)
        move = await self._approvals.rule(_opened(pending), assessment, is_asked=is_asked)
        if is_asked or move.after.status is Status.AWAITING_APPROVAL:
            return move
        return move._replace(after=move.after._replace(approval_id=None))

    async def _assess(self, pending: ToolExecution, survey: Survey | None) -> Assessment:
        place = await self._store.find_place(pending.project_id, pending.session_id)
        if place is None:
            raise NotFound(f"there is no session {pending.session_id!r}")
        params_json = await self._store.read_raw_params(pending)
        params = msgspec.json.decode(params_json)
        was_changed = pending.revision is not None
        asked = Asked(pending.tool_name, params, params_json, pending.origins, was_changed)
        return await self._origins.assess(self._assessor, asked, place, survey)

    def _fail(self, pending: ToolExecution, error_type: ErrorType, error: str) -> Move:
        failed = _opened(pending).fail(error_type, mask_text(error), self._clock.now())
        if not _waits_for_facts(pending):
            failed = failed._replace(approval_id=None)
        return Move(failed, (), (NewEvent.for_everyone(failed, EventKind.STATUS),))

    async def _submit(
        self, before: ToolExecution, move: Move, actor: str, action: str = "call.surveyed"
    ) -> None:
        after = move.after
        details = {
            "surveyed": after.surveyed,
            "risk": after.risk_level.name,
            "reasons": after.reasons,
            "status": after.status,
            "error": after.error,
            "approval": after.approval_id,
            "approved_by": after.approved_by,
            "digest": after.digest,
            "client": after.client_id,
        }
        line = AuditRecord(action, actor, after.id, details)
        if _waits_for_facts(before):
            move = await self._end_or_show(before, move)
            steps = move.steps
        else:
            steps = (Rejudge(before, move.first), *move.rest)
        change = Change(after.project_id, self._clock.now(), steps, move.events, (line,))
        try:
            await self._store.submit(change)
        except ChangeRefused:
            raise Conflict(f"{after.id} has changed its state meanwhile") from None
        warn_if_denied(after)

    async def _end_or_show(self, before: ToolExecution, move: Move) -> Move:
        """Update an open question with the facts, or end it because it needs no answer."""
        after = move.after
        for step in move.steps:
            if isinstance(step, Add) and isinstance(step.row, Approval):
                return move._replace(steps=(Reask(before, after, step.row),))
        approval_id = before.approval_id or ApprovalId("")
        question = await self._store.find_approval(approval_id)
        if question is None or question.status is not ApprovalStatus.PENDING:
            raise Conflict(f"{after.id} has changed its state meanwhile")
        is_done = after.status is Status.FAILED
        reason = (after.error or "refused") if is_done else _PASSES
        answer = Answer(by=HANDRAIL, channel=CHECK, at=self._clock.now(), reason=reason)
        status = ApprovalStatus.WITHDRAWN if is_done else ApprovalStatus.APPROVED
        ended = Resolve(question.resolve(status, answer))
        news = NewEvent.for_everyone(after, EventKind.APPROVAL_RESOLVED)
        steps = (ended, Rejudge(before, move.first), *move.rest)
        return move._replace(steps=steps, events=(news, *move.events))


def _waits_for_facts(call: ToolExecution) -> bool:
    """Whether a person is being asked about it without facts."""
    return call.status is Status.AWAITING_APPROVAL and not call.surveyed


def _opened(call: ToolExecution) -> ToolExecution:
    """The call as it was before the question was put.

    Its epoch is new, so that an answer to the question as it was shown before is refused.
    """
    if not _waits_for_facts(call):
        return call
    return call._replace(status=Status.PENDING, epoch=call.epoch + 1)

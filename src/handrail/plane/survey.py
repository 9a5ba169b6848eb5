"""Surveyor: the machine is looked at before a person is asked, so that they see what is there.

The client looks and answers; if it takes too long, the question is put without its facts and the
call is surveyed when it is executed.
"""

import time
from dataclasses import dataclass
from datetime import timedelta

import msgspec
import structlog

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Change, Rejudge
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
from handrail.plane.approvals import ApprovalManager
from handrail.plane.assessment import Asked, Assessor
from handrail.plane.call_log import warn_if_denied
from handrail.plane.calls import check_not_stopped
from handrail.plane.move import HANDRAIL, Move
from handrail.plane.origins import Origins
from handrail.plane.unmasking import Unmasker
from handrail.policy.redaction import mask_text

SURVEY_SECONDS = 2.0
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
    ):
        self._store = store
        self._clock = clock
        self._assessor = assessor
        self._approvals = approvals
        self._unmasker = unmasker
        self._origins = Origins(store)
        # Calls with facts that are being judged, which takes long if they are long.
        self._judging: set[ExecutionId] = set()

    async def accept(
        self,
        approval_id: ApprovalId,
        answer: Survey | Refusal,
        client: Principal,
        project_id: ProjectId,
    ) -> ToolExecution:
        """Take what a client has seen, and put the call to a person if one is needed.

        Raises:
            NotFound: There is no such survey in this project.
            Conflict: Another client was asked, or it is too late: the call has moved on.
        """
        pending = await self._store.find_execution_of(approval_id)
        if pending is None or pending.project_id != project_id:
            raise NotFound(f"there is no approval {approval_id!r}")
        survey = answer if isinstance(answer, Survey) else None
        if self._unmasker.take(approval_id, survey, client):
            return pending
        if pending.status is not Status.PENDING:
            raise Conflict(f"{pending.id} is {pending.status}: the survey comes too late")
        if pending.client_id != client.subject:
            raise Conflict(f"{pending.id} was not given to this client to look at")
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
            return await self.accept(approval_id, answer, client, project_id)
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
                await self._submit(pending, await self._rule(pending, None), HANDRAIL)
            except Conflict:
                continue  # The facts came after all.
            except HandrailError as error:
                log.error("survey.failed", execution=pending.id, error=error.message)

    async def _rule(self, pending: ToolExecution, survey: Survey | None) -> Move:
        """The call is judged anew from its own words: nothing is carried over but the store."""
        place = await self._store.find_place(pending.project_id, pending.session_id)
        if place is None:
            raise NotFound(f"there is no session {pending.session_id!r}")
        params_json = await self._store.read_raw_params(pending)
        params = msgspec.json.decode(params_json)
        try:
            asked = Asked(pending.tool_name, params, params_json, pending.origins)
            assessment = await self._origins.assess(self._assessor, asked, place, survey)
        except (BadInput, ToolError, BrokenTool) as error:
            # It was understood once: the tools have changed under it.
            return self._fail(pending, error.error_type, error.message)
        move = await self._approvals.rule(pending, assessment)
        if move.after.status is Status.AWAITING_APPROVAL:
            return move
        return move._replace(after=move.after._replace(approval_id=None))

    def _fail(self, pending: ToolExecution, error_type: ErrorType, error: str) -> Move:
        failed = pending.fail(error_type, mask_text(error), self._clock.now())
        failed = failed._replace(approval_id=None)
        return Move(failed, (), (NewEvent.for_everyone(failed, EventKind.STATUS),))

    async def _submit(self, before: ToolExecution, move: Move, actor: str) -> None:
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
        line = AuditRecord("call.surveyed", actor, after.id, details)
        steps = (Rejudge(before, move.first), *move.rest)
        try:
            await self._store.submit(
                Change(after.project_id, self._clock.now(), steps, move.events, (line,))
            )
        except ChangeRefused:
            raise Conflict(f"{after.id} has moved on meanwhile") from None
        warn_if_denied(after)

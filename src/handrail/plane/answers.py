"""Answers: the questions that are open, and what an answer does to the call that waits for it."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

import structlog

from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, Resolve
from handrail.core.errors import ChangeRefused, Conflict, NotFound
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Grant
from handrail.core.ids import ApprovalId
from handrail.core.ports import Clock, Store
from handrail.plane.calls import check_not_stopped
from handrail.plane.decider import Decider
from handrail.plane.move import HANDRAIL, Move

NOT_AS_SHOWN = "this is not the call that you were shown; read it again before you decide"

# An open question changes when facts arrive or another machine starts to check it.
_ATTEMPTS = 3

log = structlog.get_logger(__name__)


class Answers:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def get(self, approval_id: ApprovalId) -> Approval:
        approval = await self._store.find_approval(approval_id)
        if approval is None:
            raise NotFound(f"there is no approval {approval_id!r}")
        return approval

    async def find(self, approval_id: ApprovalId, decider: Decider) -> Approval:
        """The question as it stands now; one whose time has passed has expired.

        Raises:
            NotFound: There is no such question in this project.
        """
        approval = await self._store.find_approval(approval_id)
        if approval is None or approval.project_id != decider.project_id:
            raise NotFound(f"there is no approval {approval_id!r}")
        if approval.status is ApprovalStatus.PENDING and self._clock.now() >= approval.expires_at:
            await self.expire_overdue()
            approval = await self.get(approval_id)
        return approval

    async def give(
        self,
        resolved: Approval,
        move: Callable[[ToolExecution], Move],
        actor: str,
        grant: Grant | None = None,
    ) -> Approval:
        """Store an answer with what it does to the call: `move` says where the call goes.

        The first answer counts. The same answer by the same person, sent again because the
        reply was lost, gives the decision as it stands.

        Raises:
            Conflict: There is another answer, or the call has moved on.
        """
        execution = None
        for _ in range(_ATTEMPTS):
            current = await self.get(resolved.id)
            execution = await self._store.find_execution(resolved.execution_id)
            if current.status is not ApprovalStatus.PENDING or execution is None:
                break
            is_yes = resolved.status is ApprovalStatus.APPROVED
            if is_yes and execution.digest != resolved.digest:
                raise Conflict(NOT_AS_SHOWN)
            try:
                await self._submit(resolved, execution, move(execution), actor, grant)
            except ChangeRefused:
                continue
            return resolved
        current = await self.get(resolved.id)
        if await self._is_repeated(current, resolved, grant):
            return current
        if current.status is ApprovalStatus.PENDING and execution is not None:
            await check_not_stopped(self._store, execution)
        raise Conflict(current.how_it_ended)

    async def expire_overdue(self) -> None:
        """Close the questions that nobody has answered in time, also while we were away."""
        for approval in await self._store.list_overdue(self._clock.now()):
            answer = Answer(by=HANDRAIL, channel="deadline", at=self._clock.now())
            expired = approval.resolve(ApprovalStatus.EXPIRED, answer)
            try:
                await self.give(expired, partial(_time_out, answer.at), HANDRAIL)
            except Conflict:
                log.info("approval.answered_in_time", approval=approval.id)

    async def _submit(
        self,
        resolved: Approval,
        before: ToolExecution,
        move: Move,
        actor: str,
        grant: Grant | None,
    ) -> None:
        answer = resolved.answer
        line = AuditRecord(
            f"approval.{resolved.status}",
            actor,
            resolved.id,
            {
                "execution": before.id,
                "status": move.after.status,
                "digest": resolved.digest,
                "channel": None if answer is None else answer.channel,
                "by": None if answer is None else answer.by,
                "scope": None if answer is None else answer.scope,
                "reason": None if answer is None else answer.reason,
                "grant": None if answer is None else answer.grant_id,
            },
        )
        lines = (line,)
        # The answer that gives it, not one that comes of it.
        if grant is not None and grant.approval_id == resolved.id:
            lines = (line, _line_about(grant, actor))
        news = NewEvent.for_everyone(move.after, EventKind.APPROVAL_RESOLVED)
        at = self._clock.now() if answer is None else answer.at
        steps = (Resolve(resolved), Advance(before, move.first), *move.rest)
        await self._store.submit(
            Change(resolved.project_id, at, steps, (news, *move.events), lines)
        )

    async def _is_repeated(self, current: Approval, sent: Approval, grant: Grant | None) -> bool:
        if not sent.repeats(current):
            return False
        given = None if current.answer is None else current.answer.grant_id
        kept = None if given is None else await self._store.find_grant(given)
        if kept is None or grant is None:
            return kept is grant
        return grant.is_limited_like(kept)


def _line_about(grant: Grant, actor: str) -> AuditRecord:
    details = {
        "scope": grant.scope,
        "words": grant.words,
        "session": grant.session_id,
        "agent": grant.agent_id,
        "max_risk": grant.max_risk.name,
        "uses": grant.uses_left,
        "until": None if grant.expires_at is None else grant.expires_at.isoformat(),
    }
    return AuditRecord("grant.given", actor, grant.id, details)


def _time_out(at: datetime, call: ToolExecution) -> Move:
    return Move(call.advance(Status.TIMEOUT, at, error="Approval timeout"))

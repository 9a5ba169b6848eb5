"""Stopper: ends a call, or all of a session, because a person says so."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from handrail.core.approval import Answer, ApprovalStatus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change, Resolve, StopSession
from handrail.core.errors import ChangeRefused, Conflict, ErrorType, NotFound
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ExecutionId, ProjectId, SessionId
from handrail.core.ports import Clock, Store
from handrail.core.project import Session
from handrail.core.tool import Effect
from handrail.plane.calls import get_call
from handrail.plane.decider import Decider
from handrail.plane.move import HANDRAIL, ending
from handrail.policy.redaction import mask_text


@dataclass(frozen=True, slots=True)
class _Word:
    """Who says that a call shall end, and the sentence its agent is told."""

    by: str
    actor: str
    channel: str
    sentence: str
    error_type: ErrorType = ErrorType.CANCELLED


class Stopped(NamedTuple):
    session: Session
    ended: int


_MOST_AT_ONCE = 500
_LEFT_BEHIND = _Word(HANDRAIL, HANDRAIL, "session", "this session has been stopped")


class Stopper:
    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock

    async def cancel(
        self, execution_id: ExecutionId, decider: Decider, *, reason: str | None = None
    ) -> ToolExecution:
        """End a call wherever it is; its processes are ended too. Saying it again is harmless.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: It has ended already, otherwise.
        """
        name = await decider.find_name(self._store)
        sentence = f"{name} cancelled this call" + (f": {mask_text(reason)}" if reason else "")
        word = _Word(name, decider.principal.subject, decider.channel, sentence)
        while True:
            execution = await get_call(self._store, execution_id, decider.project_id)
            if execution.error_type is ErrorType.CANCELLED:
                return execution
            if execution.status.is_final:
                raise Conflict(f"{execution.id} has ended already, as {execution.status}")
            if (ended := await self._end(execution, word)) is not None:
                return ended

    async def stop_session(self, session_id: SessionId, decider: Decider) -> Stopped:
        """Let nothing more in by a session, take its grants back, and end what it has begun.

        Raises:
            NotFound: There is no such session in this project.
        """
        session = await self._get_session(session_id, decider)
        at_first = await self._store.list_unfinished(session)
        line = AuditRecord("session.stopped", decider.principal.subject, session_id)
        stop = (StopSession(session),)
        change = Change(decider.project_id, self._clock.now(), stop, audit=(line,))
        # If it was stopped before, what is left in it is ended all the same.
        with suppress(ChangeRefused):
            await self._store.submit(change)
        name = await decider.find_name(self._store)
        word = _Word(
            name, decider.principal.subject, decider.channel, f"{name} stopped this session"
        )
        # Again and again: what moves while it is to be ended must not slip through.
        ended: set[ExecutionId] = set()
        while left := await self._store.list_unfinished(session):
            ended |= await self._end_all(left, word)
        ended |= await self._ended_by_others(at_first)
        return Stopped(await self._get_session(session_id, decider), len(ended))

    async def end_left_behind(self) -> None:
        """End what a stopped session still has: it moved while being stopped, or we died."""
        await self._end_all(await self._store.list_left_in_stopped(), _LEFT_BEHIND)

    async def end_as_unknown(self, project_id: ProjectId, sentence: str) -> int:
        """End every open call of a project because it may have run after the backup was made."""
        word = _Word(HANDRAIL, HANDRAIL, "restore", sentence, ErrorType.OUTCOME_UNKNOWN)
        ended = 0
        for status in (one for one in Status if not one.is_final):
            while found := await self._store.list_executions(
                project_id, status=status, agent_id=None, limit=_MOST_AT_ONCE
            ):
                ended += len(await self._end_all(found, word))
        return ended

    async def _get_session(self, session_id: SessionId, decider: Decider) -> Session:
        place = await self._store.find_place(decider.project_id, session_id)
        if place is None:
            raise NotFound(f"there is no session {session_id!r}")
        return place.session

    async def _end_all(self, calls: list[ToolExecution], word: _Word) -> set[ExecutionId]:
        """Side by side, so that they share commits; those that were ended."""
        async with asyncio.TaskGroup() as group:
            ending = [group.create_task(self._end(execution, word)) for execution in calls]
        results = (task.result() for task in ending)
        return {execution.id for execution in results if execution is not None}

    async def _ended_by_others(self, calls: list[ToolExecution]) -> set[ExecutionId]:
        """Those that ended because of the stop, though it was the sweeper that saw to it."""
        now = [await self._store.find_execution(execution.id) for execution in calls]
        return {one.id for one in now if one is not None and one.error_type is ErrorType.CANCELLED}

    async def _end(self, execution: ToolExecution, word: _Word) -> ToolExecution | None:
        """The call as it ended; None when it has changed its state meanwhile."""
        ended = execution.fail(word.error_type, _told(execution, word), self._clock.now())
        if execution.status is Status.PENDING:
            # The question it was to become is never put.
            ended = ended._replace(approval_id=None, client_id=None)
        if word.error_type is ErrorType.OUTCOME_UNKNOWN:
            # A client that was offered the call before the restore has no claim on it.
            ended = ended._replace(epoch=ended.epoch + 1)
        try:
            await self._store.submit(await self._change(execution, ended, word))
        except ChangeRefused:
            return None
        return ended

    async def _change(self, before: ToolExecution, ended: ToolExecution, word: _Word) -> Change:
        """The end of the call and, if people were asked about it, of the question."""
        if before.status is Status.PENDING and before.client_id is not None:
            # Its machine may be rehearsing it.
            change = ending(before, ended, word.actor)
            stop = NewEvent.about(ended._replace(client_id=before.client_id), EventKind.CANCEL)
            return replace(change, events=(*change.events, stop))
        if before.status is not Status.AWAITING_APPROVAL or before.approval_id is None:
            news = EventKind.STATUS if ended.client_id is None else EventKind.CANCEL
            return ending(before, ended, word.actor, news)
        question = await self._store.find_approval(before.approval_id)
        if question is None:
            raise NotFound(f"there is no approval {before.approval_id!r}")
        at = ended.completed_at or self._clock.now()
        answer = Answer(by=word.by, channel=word.channel, at=at, reason=word.sentence)
        # Whether it is still open, the store decides: it may know more than what was read here.
        withdrawn = replace(question, status=ApprovalStatus.WITHDRAWN, answer=answer)
        return ending(before, ended, word.actor, EventKind.APPROVAL_RESOLVED, Resolve(withdrawn))


def _told(execution: ToolExecution, word: _Word) -> str:
    if word.error_type is ErrorType.OUTCOME_UNKNOWN:
        return word.sentence
    if execution.status is Status.EXECUTING and execution.effect is Effect.CHANGE:
        return f"{word.sentence}; it had started, and how far it got is unknown"
    return word.sentence

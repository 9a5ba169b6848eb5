"""Undoer: a person has the changes of calls undone by the machine that keeps what was there.

That machine alone knows what can be undone. Who asked is stored before it is asked, so its answer
counts whenever it comes. If it is lost, the machine says on the next request what it has undone.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.errors import ChangeRefused, Conflict, NotFound
from handrail.core.event import EventKind, NewEvent, Topic
from handrail.core.execution import ToolExecution
from handrail.core.ids import ClientId, ExecutionId, ProjectId, SessionId
from handrail.core.ports import Bus, Clock, Store
from handrail.core.undo import Undone, UndoStatus
from handrail.core.undo_record import AskUndo, KeepUndone, why_not_undone
from handrail.plane.calls import get_call
from handrail.plane.connections import Connections
from handrail.plane.decider import Decider
from handrail.plane.waiting import WaitingRoom
from handrail.policy.redaction import mask_text

UNDO_SECONDS = 60.0
# Of one session, and of one list.
MOST_CALLS = 500
_AWAY = "the machine that stores the earlier files is not connected; nothing was undone"
_LEFT = "the machine has disconnected, or is slow; ask again to learn what it has undone"


class Settled(NamedTuple):
    """A call, and what became of the request to undo it."""

    call: ToolExecution
    undone: Undone


@dataclass(eq=False, slots=True)
class _Wait:
    """One request that waits for the answers to its calls."""

    ids: frozenset[str]
    answers: dict[str, Undone] = field(default_factory=dict[str, Undone])

    @property
    def is_over(self) -> bool:
        return len(self.answers) == len(self.ids)


class Undoer:
    def __init__(
        self, store: Store, bus: Bus, clock: Clock, connections: Connections, room: WaitingRoom
    ):
        self._store = store
        self._bus = bus
        self._clock = clock
        self._connections = connections
        self._room = room
        self._waits: set[_Wait] = set()

    async def list_all(
        self, project_id: ProjectId, session_id: SessionId | None = None
    ) -> list[ToolExecution]:
        """The calls that can be undone or were, the latest first."""
        return await self._store.list_undoable(project_id, session_id, limit=MOST_CALLS)

    async def undo(self, execution_id: ExecutionId, decider: Decider) -> list[Settled]:
        """Undo one call. Saying it again is harmless.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: It cannot be undone, a file was changed since, or no machine can do it now.
        """
        call = await get_call(self._store, execution_id, decider.project_id)
        if (why := why_not_undone(call)) is not None:
            raise Conflict(f"{call.id} cannot be undone: {why}")
        return await self._undo([call], EventKind.UNDO_REQUEST, decider)

    async def undo_session(self, session_id: SessionId, decider: Decider) -> list[Settled]:
        """Undo what the calls of a session have changed, the last one first.

        The first call that is refused ends it: those before it stay as they are.

        Raises:
            NotFound: There is no such session in this project.
            Conflict: Nothing could be undone.
        """
        if await self._store.find_place(decider.project_id, session_id) is None:
            raise NotFound(f"there is no session {session_id!r}")
        found = await self.list_all(decider.project_id, session_id)
        calls = [call for call in found if call.can_undo]
        if not calls:
            why = "no call of it has changed a file in a way that can be undone"
            raise Conflict(f"session {session_id!r} cannot be undone: {why}")
        return await self._undo(calls, EventKind.SESSION_UNDO_REQUEST, decider)

    async def accept(
        self, answers: Sequence[Undone], client: Principal, project_id: ProjectId
    ) -> None:
        """Take what a machine tells about calls that it was asked to undo; twice is once.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: It is not a call of this machine's workspace, or nobody asked for it.
        """
        calls = [await get_call(self._store, ExecutionId(one.call), project_id) for one in answers]
        for call in calls:
            if call.workspace_id != client.workspace_id:
                raise Conflict(f"{call.id} is not a call of this client's workspace")
            if call.undone_by is None:
                raise Conflict(f"there was no request to undo {call.id}")
        for call, answer in zip(calls, answers, strict=True):
            await self._record(call, answer, client)
        for answer in answers:
            for wait in self._waits:
                if answer.call in wait.ids:
                    wait.answers.setdefault(answer.call, answer)
        self._bus.ring((Topic.client(ClientId(client.subject)),))

    async def _undo(
        self, calls: list[ToolExecution], kind: EventKind, decider: Decider
    ) -> list[Settled]:
        left = [call for call in calls if call.undone_at is None]
        if not left:
            return [Settled(call, Undone(call.id, UndoStatus.BEFORE)) for call in calls]
        client_id = self._find_client(left[0])
        if client_id is None:
            raise Conflict(_AWAY)
        with self._waiting_for(left) as wait:
            try:
                await self._ask(left, kind, client_id, decider)
            except ChangeRefused:
                # Another request was faster.
                fresh = [await get_call(self._store, one.id, one.project_id) for one in calls]
                return await self._undo(fresh, kind, decider)
            await self._wait(wait, client_id)
        if not any(answer.is_undone for answer in wait.answers.values()):
            raise Conflict(_refusal(left, wait.answers))
        fresh = [await get_call(self._store, one.id, one.project_id) for one in calls]
        before = {call.id: Undone(call.id, UndoStatus.BEFORE) for call in fresh}
        answers = {**before, **wait.answers}
        return [Settled(call, answers[call.id]) for call in fresh]

    async def _ask(
        self, calls: list[ToolExecution], kind: EventKind, client_id: ClientId, decider: Decider
    ) -> None:
        by = await decider.find_name(self._store)
        first = calls[0]
        request = NewEvent(kind, first.id, first.status, client_id, first.epoch)
        is_session = kind is EventKind.SESSION_UNDO_REQUEST
        details = {"calls": [call.id for call in calls], "channel": decider.channel}
        subject = first.session_id if is_session else first.id
        line = AuditRecord("undo.requested", decider.principal.subject, subject, details)
        steps = tuple(AskUndo(call, by) for call in calls)
        now = self._clock.now()
        await self._store.submit(Change(decider.project_id, now, steps, (request,), (line,)))

    async def _wait(self, wait: _Wait, client_id: ClientId) -> None:
        since = self._clock.now()

        async def look() -> bool:
            return wait.is_over or not self._connections.was_connected_at(client_id, since)

        topic = Topic.client(client_id)
        await self._room.wait(topic, look, lambda over: over, seconds=UNDO_SECONDS)
        if not wait.is_over:
            raise Conflict(_LEFT)

    async def _record(self, call: ToolExecution, answer: Undone, client: Principal) -> None:
        now = self._clock.now()
        if answer.is_undone:
            line = AuditRecord("call.undone", client.subject, call.id, {"by": call.undone_by})
            news = NewEvent.for_everyone(call, EventKind.UNDONE)
            change = Change(call.project_id, now, (KeepUndone(call),), (news,), (line,))
        elif answer.status is UndoStatus.REFUSED:
            details = {"by": call.undone_by, "reason": mask_text(answer.reason)}
            line = AuditRecord("undo.refused", client.subject, call.id, details)
            change = Change(call.project_id, now, (), (), (line,))
        else:
            return
        try:
            await self._store.submit(change)
        except ChangeRefused:
            return  # It is recorded already.

    @contextmanager
    def _waiting_for(self, calls: Sequence[ToolExecution]) -> Generator[_Wait]:
        wait = _Wait(frozenset(call.id for call in calls))
        self._waits.add(wait)
        try:
            yield wait
        finally:
            self._waits.remove(wait)

    def _find_client(self, call: ToolExecution) -> ClientId | None:
        """The machine that made the changes, or another one of the same workspace."""
        if call.client_id in self._connections.connected:
            return call.client_id
        return self._connections.find_client(call.workspace_id)


def _refusal(calls: Sequence[ToolExecution], answers: dict[str, Undone]) -> str:
    """Why nothing was undone: the first reason there is, of the call that met it."""
    refused = (one for one in answers.values() if one.status is UndoStatus.REFUSED)
    answer = next(refused, answers[calls[0].id])
    if len(calls) == 1:
        return f"{answer.call} cannot be undone: {answer.reason}"
    return f"no call was undone, because {answer.call} cannot be: {answer.reason}"

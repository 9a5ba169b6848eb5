"""AgentRuns: takes down what a person says, and sees to it that every run comes to its end."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

import structlog

from handrail.agent.loop import Loop, Means
from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Change, MoveRun, OpenRun, OpenSession, Say, Step
from handrail.core.conversation import Speaker, Text, Utterance
from handrail.core.errors import (
    ChangeRefused,
    Conflict,
    Forbidden,
    NotFound,
    SetupError,
    StoreUnavailable,
)
from handrail.core.event import NewEvent, Topic
from handrail.core.ids import OWN_AGENT, MessageId, ProjectId, RunId, SessionId, WorkspaceId, mint
from handrail.core.ports import Bus
from handrail.core.project import Autonomy, Session, Workspace
from handrail.core.run import Message, Run, RunStatus
from handrail.plane.decider import Decider
from handrail.plane.stopping import Stopper

LEASE = timedelta(seconds=60)
# A ring can be lost, and a lease must be renewed in time.
_POLL_SECONDS = 5.0

log = structlog.get_logger(__name__)


class _Driven(NamedTuple):
    """A run in our hands, and since which change of them."""

    epoch: int
    task: asyncio.Task[None]


class _Wish(NamedTuple):
    """What a person has said about the conversation that a message belongs to."""

    session_id: SessionId | None
    workspace_id: WorkspaceId | None
    autonomy: Autonomy | None


class AgentRuns:
    """`owner` names this server among those that share a store; it is the same after a restart."""

    def __init__(self, means: Means, bus: Bus, stopper: Stopper, owner: str = "handrail"):
        self._means = means
        self._store = means.store
        self._clock = means.clock
        self._bus = bus
        self._stopper = stopper
        self._owner = owner
        self._driven: dict[RunId, _Driven] = {}

    async def say(
        self,
        text: str,
        principal: Principal,
        project_id: ProjectId,
        session_id: SessionId | None,
        workspace_id: WorkspaceId | None = None,
        autonomy: Autonomy | None = None,
        message_id: MessageId | None = None,
    ) -> tuple[Message, Run]:
        wish = _Wish(session_id, workspace_id, autonomy)
        while True:
            if message_id is not None and (said := await self._said_before(message_id, project_id)):
                _check_same(said[0], text, session_id)
                return said
            session, opening = await self._enter(principal, project_id, wish)
            run = await self._store.find_last_run(project_id, session.id)
            steps: tuple[Step, ...] = opening
            begins = run is None or run.status is not RunStatus.RUNNING
            if run is None or begins:
                await self._check_can_answer(principal)
                run = self._new_run(session, principal)
                steps = (*opening, OpenRun(run))
            message = await self._message(run, text, message_id)
            steps = (*steps, Say(message))
            details = {"session": session.id, "autonomy": session.autonomy}
            line = AuditRecord("run.begun", principal.subject, run.id, details)
            change = self._change(run, steps, message, line if begins else None)
            try:
                await self._store.submit(change)
            except ChangeRefused:
                # Somebody spoke at the same moment, or the run has just ended: look again.
                continue
            self._bus.ring((Topic.RUNS,))
            return message, run

    async def stop(self, run_id: RunId, principal: Principal, project_id: ProjectId) -> Run:
        while True:
            run = await self._store.find_run(run_id)
            if run is None or run.project_id != project_id:
                raise NotFound(f"there is no run {run_id!r}")
            if run.status is not RunStatus.RUNNING:
                break
            name = (await self._store.get_user(principal.user_id)).name
            stopped = run.end(RunStatus.STOPPED, self._clock.now(), f"{name} stopped it")
            line = AuditRecord("run.ended", principal.subject, run.id, {"status": stopped.status})
            news = NewEvent.of_run(run.id)
            change = Change(
                project_id, self._clock.now(), (MoveRun(run, stopped),), (news,), (line,)
            )
            try:
                await self._store.submit(change)
            except ChangeRefused:
                continue
            run = stopped
            break
        if (driven := self._driven.get(run.id)) is not None:
            driven.task.cancel()
        await self._end_calls(run, principal)
        return run

    async def work_forever(self) -> None:
        async with asyncio.TaskGroup() as group:
            with self._bus.listen(Topic.RUNS) as bell:
                while True:
                    with suppress(StoreUnavailable):
                        await self._look(group)
                    await bell.wait(_POLL_SECONDS)

    # What is said.

    async def _enter(
        self,
        principal: Principal,
        project_id: ProjectId,
        wish: _Wish,
    ) -> tuple[Session, tuple[OpenSession, ...]]:
        """The session a message belongs to, and the step that opens it where it is new."""
        at = self._clock.now()
        session_id = wish.session_id or SessionId(mint("ses", at))
        place = await self._store.find_place(project_id, session_id)
        if place is None:
            workspace = await self._choose(project_id, wish.workspace_id or principal.workspace_id)
            session = Session(
                session_id, project_id, workspace.id, OWN_AGENT, at, autonomy=wish.autonomy
            )
            return session, (OpenSession(session),)
        if place.session.opened_by != OWN_AGENT:
            raise Forbidden(f"session {session_id!r} belongs to another agent; start your own")
        if place.session.stopped_at is not None:
            raise Conflict(f"session {session_id!r} has been stopped; start a new one")
        if wish.autonomy not in (None, place.autonomy):
            raise Conflict(
                f"session {session_id!r} was started with autonomy {place.autonomy}; "
                f"for {wish.autonomy}, start a new one"
            )
        return place.session, ()

    async def _choose(self, project_id: ProjectId, wanted: WorkspaceId | None) -> Workspace:
        found = await self._store.list_workspaces(project_id)
        chosen = [one for one in found if wanted is None or one.id == wanted]
        if len(chosen) == 1:
            return chosen[0]
        if not found:
            raise Conflict("this project has no workspace yet; `handrail connect` registers one")
        if not chosen:
            raise NotFound(f"there is no workspace {wanted!r} in this project")
        named = ", ".join(f"{one.id} ({one.root} on {one.machine})" for one in found)
        raise Conflict(f"this project has several workspaces; name one as workspace_id: {named}")

    async def _check_can_answer(self, principal: Principal) -> None:
        """A message that nobody can answer is not taken: the person is told at once."""
        try:
            await asyncio.to_thread(self._means.find_provider)
        except SetupError as error:
            raise Conflict(f"there is no model to answer: {error.message}") from error
        await self._means.budget.check(principal.user_id)

    def _new_run(self, session: Session, principal: Principal) -> Run:
        at = self._clock.now()
        return Run(
            RunId(mint("run", at)),
            session.project_id,
            session.id,
            principal.user_id,
            RunStatus.RUNNING,
            at,
        )

    async def _said_before(
        self, message_id: MessageId, project_id: ProjectId
    ) -> tuple[Message, Run] | None:
        message = await self._store.find_message(message_id)
        if message is None:
            return None
        run = await self._store.find_run(message.run_id)
        if message.project_id != project_id or run is None:
            raise Conflict(f"{message_id!r} is another message; use a new message_id")
        return message, run

    async def _message(self, run: Run, text: str, message_id: MessageId | None) -> Message:
        at = self._clock.now()
        return Message(
            message_id or MessageId(mint("msg", at)),
            run.project_id,
            run.session_id,
            run.id,
            await self._store.last_seq(run.project_id, run.session_id) + 1,
            at,
            Utterance(Speaker.USER, (Text(text),)),
        )

    def _change(
        self, run: Run, steps: tuple[Step, ...], message: Message, begun: AuditRecord | None
    ) -> Change:
        told = NewEvent.said(message.id)
        if begun is None:
            return Change(run.project_id, message.at, steps, (told,))
        events = (NewEvent.of_run(run.id), told)
        return Change(run.project_id, message.at, steps, events, (begun,))

    async def _end_calls(self, run: Run, principal: Principal) -> None:
        """End what a run has asked for and not got yet."""
        place = await self._store.find_place(run.project_id, run.session_id)
        if place is None:
            return
        decider = Decider(principal, run.project_id, "chat")
        for call in await self._store.list_unfinished(place.session):
            if call.call_id.startswith(f"{run.id}/"):
                try:
                    await self._stopper.cancel(call.id, decider, reason="the run was stopped")
                except Conflict:
                    log.info("run.call_ended_meanwhile", execution=call.id)

    # What is driven.

    async def _look(self, group: asyncio.TaskGroup) -> None:
        """Take up the runs that nobody drives, and keep hold of those that we do."""
        now = self._clock.now()
        running = {run.id: run for run in await self._store.list_running()}
        for run_id, driven in self._driven.items():
            run = running.pop(run_id, None)
            if run is None or run.epoch != driven.epoch:
                driven.task.cancel()
            elif run.leased_until is not None and run.leased_until - now < LEASE / 2:
                group.create_task(self._move(run, run.renew(now, LEASE)))
        for run in running.values():
            taken = run.take(self._owner, now, LEASE)
            if self._is_free(run) and await self._move(run, taken):
                task = group.create_task(self._drive(taken))
                self._driven[run.id] = _Driven(taken.epoch, task)

    def _is_free(self, run: Run) -> bool:
        """Nobody's, our own from an earlier life, or of somebody who has not been heard of."""
        if run.owner is None or run.owner == self._owner or run.leased_until is None:
            return True
        return run.leased_until <= self._clock.now()

    async def _move(self, before: Run, after: Run) -> bool:
        change = Change(before.project_id, self._clock.now(), (MoveRun(before, after),))
        try:
            await self._store.submit(change)
        except (ChangeRefused, StoreUnavailable):
            return False
        return True

    async def _drive(self, run: Run) -> None:
        try:
            await Loop(run, self._means).drive()
        finally:
            del self._driven[run.id]


def _check_same(message: Message, text: str, session_id: SessionId | None) -> None:
    """Saying it again is harmless; saying something else under the same name would be lost."""
    same_place = session_id in (None, message.session_id)
    if message.utterance.text != text or not same_place:
        raise Conflict(f"{message.id!r} was already used for another text; use a new message_id")

"""Dispatcher: hands approved calls to the clients that are connected.

A read is handed out at once: being handed it is the claim, and if its client vanishes another
may have it. Whatever changes something is offered, and begun only by whoever has claimed it.
Every handing-out has an epoch; a report under an older epoch is turned away.
"""

from datetime import datetime

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, Reoffer, Step
from handrail.core.errors import ChangeRefused, Conflict, NotFound
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId, ProjectId, WorkspaceId
from handrail.core.ports import Clock, Store
from handrail.core.tool import Effect
from handrail.plane.move import HANDRAIL, Move
from handrail.plane.seats import Seat, Seats


class Dispatcher:
    def __init__(self, store: Store, clock: Clock, seats: Seats):
        self._store = store
        self._clock = clock
        self._seats = seats

    def find_client(self, workspace_id: WorkspaceId) -> ClientId | None:
        """A connected client of a workspace."""
        return self._seats.find_client(workspace_id)

    def hand_out(self, approved: ToolExecution, at: datetime, *steps: Step) -> Move:
        """Give an approved call to a connected client; without one it waits as it is."""
        client_id = self.find_client(approved.workspace_id)
        handed = approved if client_id is None else approved.assign(client_id, at)
        kind = EventKind.STATUS if client_id is None else EventKind.EXECUTION_SIGNAL
        via = approved if handed.status is Status.EXECUTING else None
        return Move(handed, steps, (NewEvent.about(handed, kind),), via)

    async def offer_open_calls(self, seat: Seat) -> None:
        """Tell a client that has just come everything that waits for it, or for anyone.

        What it was handed on an earlier connection is handed out anew, so that it can answer
        from what it remembers; what was never handed out is handed to it.
        """
        for execution in await self._store.list_open(seat.workspace_id):
            if execution.client_id == seat.client_id or self._is_forsaken(execution):
                await self._offer(execution, seat.client_id)

    async def hand_over_forsaken(self) -> None:
        """See to it that no call waits for a client that has left while another is there."""
        for workspace_id in self._seats.workspaces:
            await self.hand_over(workspace_id)

    async def hand_over(self, workspace_id: WorkspaceId) -> None:
        """Give what clients that have left may no longer do to one that is there."""
        client_id = self.find_client(workspace_id)
        if client_id is None:
            return
        for execution in await self._store.list_open(workspace_id):
            if self._is_forsaken(execution):
                await self._offer(execution, client_id)

    async def claim(
        self, execution_id: ExecutionId, epoch: int, client: Principal, project_id: ProjectId
    ) -> ToolExecution:
        """Give a client the right to begin. Only one ever gets it, and asking again is harmless.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: It is in other hands, was offered anew, or has ended.
        """
        approved = await self._get(execution_id, project_id)
        if (approved.client_id, approved.epoch) != (client.subject, epoch):
            raise Conflict(f"{approved.id} is not offered to this client under epoch {epoch}")
        if approved.status is Status.EXECUTING:
            return approved
        at = self._clock.now()
        claimed = approved.advance(Status.EXECUTING, at)
        line = AuditRecord("call.claimed", client.subject, claimed.id, {"epoch": epoch})
        news = NewEvent.for_everyone(claimed, EventKind.STATUS)
        change = Change(project_id, at, (Advance(approved, claimed),), (news,), (line,))
        try:
            await self._store.submit(change)
        except ChangeRefused:
            return await self.claim(execution_id, epoch, client, project_id)
        return claimed

    async def _get(self, execution_id: ExecutionId, project_id: ProjectId) -> ToolExecution:
        execution = await self._store.find_execution(execution_id)
        if execution is None or execution.project_id != project_id:
            raise NotFound(f"there is no execution {execution_id}")
        return execution

    def _is_forsaken(self, execution: ToolExecution) -> bool:
        """Whether its client has left, and doing it elsewhere cannot do it twice."""
        untouched = execution.status is Status.APPROVED or execution.effect is Effect.READ
        return untouched and execution.client_id not in self._seats.connected

    async def _offer(self, before: ToolExecution, client_id: ClientId) -> None:
        at = self._clock.now()
        if before.status is Status.APPROVED and before.effect is Effect.READ:
            after = before.assign(client_id, at)
            step: Advance | Reoffer = Advance(before, after)
        else:
            after = before.reoffer(client_id)
            step = Reoffer(before, after)
        signal = NewEvent.about(after, EventKind.EXECUTION_SIGNAL)
        line = AuditRecord(
            "call.offered", HANDRAIL, after.id, {"client": client_id, "epoch": after.epoch}
        )
        try:
            await self._store.submit(Change(before.project_id, at, (step,), (signal,), (line,)))
        except ChangeRefused:
            return  # It ended, or somebody else has it: nothing to offer.

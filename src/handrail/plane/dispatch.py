"""Dispatcher: hands approved calls to the clients that are connected.

A read is handed out at once: being handed it is the claim, and if its client vanishes another
may have it. Whatever changes something is offered, and begun only by whoever has claimed it.
Every handing-out has an epoch; a report under an older epoch is turned away.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, Reoffer, Step
from handrail.core.errors import ChangeRefused, Conflict
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import INSIDE, ClientId, ExecutionId, ProjectId, WorkspaceId
from handrail.core.ports import Clock, Store
from handrail.core.tool import Effect, Site
from handrail.plane.calls import check_not_stopped, get_call
from handrail.plane.connections import Connection, Connections
from handrail.plane.move import HANDRAIL, Move

# Longer than any tool may take.
_SLOW = timedelta(seconds=600)


class Claim(NamedTuple):
    """`key` is chosen at random by the process that claims, and known to no other."""

    epoch: int
    key: str


class Dispatcher:
    def __init__(self, store: Store, clock: Clock, connections: Connections):
        self._store = store
        self._clock = clock
        self._connections = connections
        self._asked_after: dict[ExecutionId, datetime | None] = {}

    def find_client(self, workspace_id: WorkspaceId) -> ClientId | None:
        """A connected client of a workspace."""
        return self._connections.find_client(workspace_id)

    def hand_out(self, approved: ToolExecution, at: datetime, *steps: Step) -> Move:
        """Give an approved call to a connected client; without one it waits as it is."""
        inside = approved.site is Site.SERVER
        client_id = INSIDE if inside else self.find_client(approved.workspace_id)
        handed = approved if client_id is None else approved.assign(client_id, at)
        kind = EventKind.STATUS if client_id is None else EventKind.EXECUTION_SIGNAL
        via = approved if handed.status is Status.EXECUTING else None
        return Move(handed, steps, (NewEvent.about(handed, kind),), via)

    async def offer_open_calls(self, connection: Connection) -> None:
        """Tell a client that has just come everything that waits for it, or for anyone.

        What it was handed on an earlier connection is handed out anew, so that it can answer
        from what it remembers; what was never handed out is handed to it.
        """
        waiting = [
            execution
            for execution in await self._store.list_open(connection.workspace_id)
            if execution.client_id == connection.client_id or self._is_forsaken(execution)
        ]
        await self._offer_all(waiting, connection.client_id)

    async def hand_over_forsaken(self) -> None:
        """See to it that no call waits for a client that has left while another is there."""
        for workspace_id in self._connections.workspaces:
            await self.hand_over(workspace_id)

    async def hand_over(self, workspace_id: WorkspaceId) -> None:
        """Give what clients that have left may no longer do to one that is there."""
        client_id = self.find_client(workspace_id)
        if client_id is None:
            return
        waiting = await self._store.list_open(workspace_id)
        await self._offer_all(filter(self._is_forsaken, waiting), client_id)

    async def ask_after_the_slow(self) -> None:
        """Offer anew what a client that is here has had for long, lest its answer was lost.

        It answers from what it knows: it is still at it, it has done it, or it cannot tell.
        """
        now = self._clock.now()
        open_calls = await self._store.list_open_since(now - _SLOW)
        asked = {call.id: self._asked_after.get(call.id, call.started_at) for call in open_calls}
        for execution in open_calls:
            since, client_id = asked[execution.id], execution.client_id
            if since is None or client_id is None or now - since < _SLOW:
                continue
            if client_id in self._connections.connected:
                asked[execution.id] = now
                await self._offer(execution, client_id)
        self._asked_after = asked

    async def claim(
        self, execution_id: ExecutionId, claim: Claim, client: Principal, project_id: ProjectId
    ) -> ToolExecution:
        """Give a client the right to begin. Only one ever gets it, and asking again is harmless.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: It is in other hands, was offered anew or begun by another process of the
                same client, has ended, or its session has.
        """
        approved = await get_call(self._store, execution_id, project_id)
        if (approved.client_id, approved.epoch) != (client.subject, claim.epoch):
            raise Conflict(f"{approved.id} is not offered to this client under epoch {claim.epoch}")
        if approved.status is Status.EXECUTING:
            # A read has no key: being handed it was the claim.
            if approved.claim_key in (None, claim.key):
                return approved
            raise Conflict(f"{approved.id} was started by another process with this client's token")
        at = self._clock.now()
        claimed = approved.advance(Status.EXECUTING, at, claim_key=claim.key)
        line = AuditRecord("call.claimed", client.subject, claimed.id, {"epoch": claim.epoch})
        news = NewEvent.for_everyone(claimed, EventKind.STATUS)
        change = Change(project_id, at, (Advance(approved, claimed),), (news,), (line,))
        try:
            await self._store.submit(change)
        except ChangeRefused:
            await check_not_stopped(self._store, approved)
            return await self.claim(execution_id, claim, client, project_id)
        return claimed

    def _is_forsaken(self, execution: ToolExecution) -> bool:
        """Whether its client has left, and doing it elsewhere cannot do it twice."""
        if execution.site is Site.SERVER:
            return False
        untouched = execution.status is Status.APPROVED or execution.effect is Effect.READ
        return untouched and execution.client_id not in self._connections.connected

    async def _offer_all(self, calls: Iterable[ToolExecution], client_id: ClientId) -> None:
        """Side by side, so that they share commits."""
        async with asyncio.TaskGroup() as group:
            for execution in calls:
                group.create_task(self._offer(execution, client_id))

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

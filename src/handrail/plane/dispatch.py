"""Dispatcher: hands approved calls to the clients that are connected, and takes their reports.

A read is handed out at once: being handed it is the claim, and if its client vanishes another
may have it. Whatever changes something is offered, and begun only by whoever has claimed it.
Every handing-out has an epoch; a report under an older epoch is turned away.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, Reoffer
from handrail.core.errors import ChangeRefused, Conflict, ErrorType, NotFound
from handrail.core.event import EventKind, NewEvent, Topic
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId, ProjectId, WorkspaceId
from handrail.core.ports import Bus, Clock, Store
from handrail.core.tool import Effect, JsonObject
from handrail.policy.redaction import mask_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a client says became of a call. Without an epoch, the present one is meant."""

    execution_id: ExecutionId
    status: Literal[Status.COMPLETED, Status.FAILED]
    epoch: int | None = None
    result: JsonObject | None = None
    error: str | None = None
    error_type: ErrorType | None = None
    execution_time_ms: int | None = None


@dataclass(eq=False, slots=True)
class Seat:
    """A connected client, for as long as its stream is open."""

    client_id: ClientId
    workspace_id: WorkspaceId
    replaced: bool = False


class Dispatcher:
    def __init__(self, store: Store, clock: Clock, bus: Bus):
        self._store = store
        self._clock = clock
        self._bus = bus
        self._seats: dict[ClientId, Seat] = {}

    @property
    def connected(self) -> frozenset[ClientId]:
        return frozenset(self._seats)

    @contextmanager
    def seat(self, client_id: ClientId, workspace_id: WorkspaceId) -> Generator[Seat]:
        """Count a client as connected. A second stream of the same client ends the first."""
        seat = Seat(client_id, workspace_id)
        if (earlier := self._seats.pop(client_id, None)) is not None:
            earlier.replaced = True
            self._bus.ring((Topic.client(client_id),))
        self._seats[client_id] = seat
        try:
            yield seat
        finally:
            if self._seats.get(client_id) is seat:
                del self._seats[client_id]

    def assign(self, approved: ToolExecution, at: datetime) -> ToolExecution:
        """Hand an approved call to a connected client; without one it waits as it is."""
        client_id = self.find_client(approved.workspace_id)
        return approved if client_id is None else approved.assign(client_id, at)

    def find_client(self, workspace_id: WorkspaceId) -> ClientId | None:
        """A connected client of a workspace."""
        here = (seat for seat in self._seats.values() if seat.workspace_id == workspace_id)
        seat = next(here, None)
        return None if seat is None else seat.client_id

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
        for workspace_id in {seat.workspace_id for seat in self._seats.values()}:
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

    async def accept(
        self, report: Report, client: Principal, project_id: ProjectId
    ) -> ToolExecution:
        """Take a report: the same one twice is one, a late one is turned away.

        Raises:
            NotFound: There is no such call in this project.
            Conflict: The call has ended otherwise, or is in other hands by now.
        """
        if report.error is not None:
            report = replace(report, error=mask_text(report.error))
        execution = await self._get(report.execution_id, project_id)
        if execution.client_id != client.subject:
            raise Conflict(f"{execution.id} was not handed to this client")
        if execution.status.is_final:
            return _same_or_refuse(execution, report)
        if report.epoch not in (None, execution.epoch):
            raise Conflict(f"{execution.id} was handed out anew since; report under its new epoch")
        ended = self._end(execution, report)
        try:
            await self._store.submit(self._conclusion(execution, ended, client))
        except ChangeRefused:
            return await self.accept(report, client, project_id)
        return ended

    async def _get(self, execution_id: ExecutionId, project_id: ProjectId) -> ToolExecution:
        execution = await self._store.find_execution(execution_id)
        if execution is None or execution.project_id != project_id:
            raise NotFound(f"there is no execution {execution_id}")
        return execution

    def _is_forsaken(self, execution: ToolExecution) -> bool:
        """Whether its client has left, and doing it elsewhere cannot do it twice."""
        untouched = execution.status is Status.APPROVED or execution.effect is Effect.READ
        return untouched and execution.client_id not in self._seats

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
            "call.offered", "handrail", after.id, {"client": client_id, "epoch": after.epoch}
        )
        try:
            await self._store.submit(Change(before.project_id, at, (step,), (signal,), (line,)))
        except ChangeRefused:
            return  # It ended, or somebody else has it: nothing to offer.

    def _end(self, execution: ToolExecution, report: Report) -> ToolExecution:
        return execution.advance(
            report.status,
            self._clock.now(),
            result=report.result,
            error=report.error,
            error_type=report.error_type,
            execution_time_ms=report.execution_time_ms,
        )

    def _conclusion(self, before: ToolExecution, after: ToolExecution, by: Principal) -> Change:
        ack = NewEvent.about(after, EventKind.RESULT_ACK)
        details = {
            "status": after.status,
            "error_type": after.error_type,
            "execution_time_ms": after.execution_time_ms,
        }
        line = AuditRecord("call.ended", by.subject, after.id, details)
        at = after.completed_at or self._clock.now()
        return Change(before.project_id, at, (Advance(before, after),), (ack,), (line,))


def _same_or_refuse(execution: ToolExecution, report: Report) -> ToolExecution:
    same = (
        execution.status is report.status
        and execution.result == report.result
        and execution.error == report.error
    )
    if not same:
        raise Conflict(f"{execution.id} has ended already, as {execution.status}")
    return execution

"""LookRequests: which connected machine checks a question that was put without facts.

A machine that disconnects is not waited for. The next one that connects is asked, also after a
restart of the server.
"""

from dataclasses import replace

from handrail.core.approval import Approval
from handrail.core.change import Add, Change, Reask
from handrail.core.errors import ChangeRefused
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import ToolExecution
from handrail.core.ids import ApprovalId, ClientId, ProjectId
from handrail.core.ports import Clock, Store
from handrail.plane.connections import Connection, Connections
from handrail.plane.move import Move


class LookRequests:
    def __init__(self, store: Store, clock: Clock, connections: Connections):
        self._store = store
        self._clock = clock
        self._connections = connections

    async def assign(self, pending: ToolExecution, move: Move) -> Move:
        """Name the machine that goes on checking on a question that is put without facts.

        It is sent the request again, because the process that got it first may have ended. A
        client that is at it already ignores the second one.
        """
        client_id = self._find_client(pending)
        if client_id is None:
            return move
        name = await self._name_of(pending.project_id, client_id)
        after = move.after._replace(client_id=client_id)
        steps = tuple(
            Add(replace(step.row, looking=name))
            if isinstance(step, Add) and isinstance(step.row, Approval)
            else step
            for step in move.steps
        )
        request = NewEvent.about(after, EventKind.SURVEY_REQUEST)
        return move._replace(after=after, steps=steps, events=(*move.events, request))

    async def follow_connections(self) -> None:
        """Hand the checks of machines that have left to others, or show that none is connected."""
        for execution in await self._store.list_unchecked():
            client_id = self._find_client(execution)
            if client_id != execution.client_id:
                await self._hand_over(execution, client_id)

    async def ask_again(self, connection: Connection) -> None:
        """Ask a machine that has just connected for the checks that wait for it, or for any."""
        for execution in await self._store.list_unchecked():
            if execution.workspace_id == connection.workspace_id and (
                self._find_client(execution) == connection.client_id
            ):
                await self._hand_over(execution, connection.client_id)

    def _find_client(self, execution: ToolExecution) -> ClientId | None:
        if execution.client_id in self._connections.connected:
            return execution.client_id
        return self._connections.find_client(execution.workspace_id)

    async def _hand_over(self, before: ToolExecution, client_id: ClientId | None) -> None:
        question = await self._store.find_approval(before.approval_id or ApprovalId(""))
        if question is None:
            return
        name = "" if client_id is None else await self._name_of(before.project_id, client_id)
        after = before._replace(client_id=client_id)
        events = [NewEvent.for_everyone(after, EventKind.APPROVAL_REQUEST)]
        if client_id is not None:
            events.append(NewEvent.about(after, EventKind.SURVEY_REQUEST))
        step = Reask(before, after, replace(question, looking=name))
        change = Change(before.project_id, self._clock.now(), (step,), tuple(events))
        try:
            await self._store.submit(change)
        except ChangeRefused:
            return  # It was answered, or its facts have come.

    async def _name_of(self, project_id: ProjectId, client_id: ClientId) -> str:
        return (await self._store.list_names(project_id)).get(client_id, client_id)

"""Connections: which clients are connected, and since when the others are not."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from handrail.core.event import Topic
from handrail.core.ids import ClientId, WorkspaceId
from handrail.core.ports import Bus, Clock


@dataclass(eq=False, slots=True)
class Connection:
    """A connected client, for as long as its stream is open."""

    client_id: ClientId
    workspace_id: WorkspaceId
    replaced: bool = False


class Connections:
    """Kept in memory: after a restart every client counts as away since the restart."""

    def __init__(self, bus: Bus, clock: Clock):
        self._bus = bus
        self._clock = clock
        self._opened_at = clock.now()
        self._open: dict[ClientId, Connection] = {}
        self._left_at: dict[ClientId | WorkspaceId, datetime] = {}

    @property
    def connected(self) -> frozenset[ClientId]:
        return frozenset(self._open)

    @property
    def workspaces(self) -> frozenset[WorkspaceId]:
        """The workspaces with a connected client."""
        return frozenset(connection.workspace_id for connection in self._open.values())

    @contextmanager
    def open(self, client_id: ClientId, workspace_id: WorkspaceId) -> Generator[Connection]:
        """Count a client as connected. A second stream of the same client ends the first."""
        connection = Connection(client_id, workspace_id)
        if (earlier := self._open.pop(client_id, None)) is not None:
            earlier.replaced = True
            self._bus.ring((Topic.client(client_id),))
        self._open[client_id] = connection
        try:
            yield connection
        finally:
            if self._open.get(client_id) is connection:
                del self._open[client_id]
                self._left_at[client_id] = self._left_at[workspace_id] = self._clock.now()

    def find_client(self, workspace_id: WorkspaceId) -> ClientId | None:
        """A connected client of a workspace."""
        here = (one for one in self._open.values() if one.workspace_id == workspace_id)
        connection = next(here, None)
        return None if connection is None else connection.client_id

    def client_away_since(self, client_id: ClientId | None) -> datetime | None:
        """Since when a client is away; None while it is connected."""
        if client_id is None:
            return self._opened_at
        return None if client_id in self._open else self._left_at.get(client_id, self._opened_at)

    def client_left_at(self, client_id: ClientId) -> datetime | None:
        """When a client left; None while it is connected, and if it never was."""
        return None if client_id in self._open else self._left_at.get(client_id)

    def workspace_empty_since(self, workspace_id: WorkspaceId) -> datetime | None:
        """Since when a workspace has no connected client; None while it has one."""
        if workspace_id in self.workspaces:
            return None
        return self._left_at.get(workspace_id, self._opened_at)

"""Connections: which clients are connected, and since when the others are not."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import structlog

from handrail.core.event import Topic
from handrail.core.ids import ClientId, WorkspaceId
from handrail.core.ports import Bus, Clock

LEASE_SECONDS = 30.0
# How often a lease is checked before it lapses.
CHECKS = 30

log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Connection:
    """A connected client: its stream is open, and its lease has not lapsed.

    A client that sends no heartbeats has no lease and is connected while its stream is open.
    """

    client_id: ClientId
    workspace_id: WorkspaceId
    opened_at: datetime
    leased: bool = False
    checks_left: int = CHECKS
    ended: bool = False


class Connections:
    """Kept in memory: after a restart every client counts as away since the restart."""

    def __init__(self, bus: Bus, clock: Clock, lease_seconds: float = LEASE_SECONDS):
        self.lease_seconds = lease_seconds
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
    def open(
        self, client_id: ClientId, workspace_id: WorkspaceId, *, leased: bool = False
    ) -> Generator[Connection]:
        """Count a client as connected. A second stream of the same client ends the first."""
        connection = Connection(client_id, workspace_id, self._clock.now(), leased)
        if (earlier := self._open.get(client_id)) is not None:
            self._end(earlier)
        self._open[client_id] = connection
        try:
            yield connection
        finally:
            if not connection.ended:
                self._end(connection)

    def renew(self, client_id: ClientId) -> bool:
        """Renew a client's lease; False if the client is not connected."""
        connection = self._open.get(client_id)
        if connection is None:
            return False
        connection.checks_left = CHECKS
        return True

    async def watch_leases(self) -> None:
        """Check the leases for ever.

        A lease is a number of checks, not a time: while this process is stalled or suspended
        nothing is counted, so clients are heard before one of them counts as gone.
        """
        while True:
            await asyncio.sleep(self.lease_seconds / CHECKS)
            self.check_leases()

    def check_leases(self) -> None:
        """Take one check off each lease, and end the connections whose lease has lapsed."""
        for connection in [one for one in self._open.values() if one.leased]:
            connection.checks_left -= 1
            if connection.checks_left <= 0:
                log.warning("client.lease_lapsed", client=connection.client_id)
                self._end(connection)

    def _end(self, connection: Connection) -> None:
        connection.ended = True
        client_id, workspace_id = connection.client_id, connection.workspace_id
        del self._open[client_id]
        self._left_at[client_id] = self._left_at[workspace_id] = self._clock.now()
        self._bus.ring((Topic.client(client_id),))

    def find(self, client_id: ClientId) -> Connection | None:
        """The connection of a client, while it is connected."""
        return self._open.get(client_id)

    def find_client(self, workspace_id: WorkspaceId) -> ClientId | None:
        """A connected client of a workspace."""
        here = (one for one in self._open.values() if one.workspace_id == workspace_id)
        connection = next(here, None)
        return None if connection is None else connection.client_id

    def was_connected_at(self, client_id: ClientId | None, at: datetime) -> bool:
        """Whether a client is connected now, by a connection that was open at that time."""
        connection = None if client_id is None else self._open.get(client_id)
        return connection is not None and connection.opened_at <= at

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

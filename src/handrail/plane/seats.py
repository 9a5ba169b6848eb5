"""Seats: which clients are here, and since when the others are not."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from handrail.core.event import Topic
from handrail.core.ids import ClientId, WorkspaceId
from handrail.core.ports import Bus, Clock


@dataclass(eq=False, slots=True)
class Seat:
    """A connected client, for as long as its stream is open."""

    client_id: ClientId
    workspace_id: WorkspaceId
    replaced: bool = False


class Seats:
    """Lives in memory: after a restart everybody has been away since the restart."""

    def __init__(self, bus: Bus, clock: Clock):
        self._bus = bus
        self._clock = clock
        self._opened_at = clock.now()
        self._taken: dict[ClientId, Seat] = {}
        self._left_at: dict[ClientId | WorkspaceId, datetime] = {}

    @property
    def connected(self) -> frozenset[ClientId]:
        return frozenset(self._taken)

    @property
    def workspaces(self) -> frozenset[WorkspaceId]:
        """The workspaces that somebody is here for."""
        return frozenset(seat.workspace_id for seat in self._taken.values())

    @contextmanager
    def take(self, client_id: ClientId, workspace_id: WorkspaceId) -> Generator[Seat]:
        """Count a client as connected. A second stream of the same client ends the first."""
        seat = Seat(client_id, workspace_id)
        if (earlier := self._taken.pop(client_id, None)) is not None:
            earlier.replaced = True
            self._bus.ring((Topic.client(client_id),))
        self._taken[client_id] = seat
        try:
            yield seat
        finally:
            if self._taken.get(client_id) is seat:
                del self._taken[client_id]
                self._left_at[client_id] = self._left_at[workspace_id] = self._clock.now()

    def find_client(self, workspace_id: WorkspaceId) -> ClientId | None:
        """A connected client of a workspace."""
        here = (seat for seat in self._taken.values() if seat.workspace_id == workspace_id)
        seat = next(here, None)
        return None if seat is None else seat.client_id

    def client_away_since(self, client_id: ClientId | None) -> datetime | None:
        """Since when a client is gone; None while it is here."""
        if client_id is None:
            return self._opened_at
        return None if client_id in self._taken else self._left_at.get(client_id, self._opened_at)

    def client_left_at(self, client_id: ClientId) -> datetime | None:
        """When a client left; None while it is here, and where it has not been yet."""
        return None if client_id in self._taken else self._left_at.get(client_id)

    def workspace_empty_since(self, workspace_id: WorkspaceId) -> datetime | None:
        """Since when no client of a workspace is here; None while there is one."""
        if workspace_id in self.workspaces:
            return None
        return self._left_at.get(workspace_id, self._opened_at)

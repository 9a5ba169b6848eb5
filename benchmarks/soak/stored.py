"""The events in the server's database, which the listeners should have received."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from handrail.core.event import EventKind

_READ = "SELECT seq, kind, execution_id, at FROM events WHERE seq > ? ORDER BY seq"
_BUSY_SECONDS = 10.0


class Stored(NamedTuple):
    """A row of the event table, written at a time in seconds since the epoch."""

    number: int
    kind: str
    execution_id: str
    at: float

    @property
    def is_for_people(self) -> bool:
        """Whether every listener with a user's token must get it.

        Only the client that reported is told that its report was turned away.
        """
        return self.kind != EventKind.RESULT_REJECTED


class StoredEvents:
    """Read from the file in parts, because the server drops the oldest events of a long run."""

    def __init__(self, database: Path):
        self._database = database
        self.rows: list[Stored] = []

    def read_on(self) -> None:
        """Read the events that were stored since the last time."""
        last = self.rows[-1].number if self.rows else 0
        address = f"{self._database.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, _BUSY_SECONDS, uri=True)) as file:
            self.rows += [
                Stored(number, kind, execution_id, micros / 1e6)
                for number, kind, execution_id, micros in file.execute(_READ, (last,))
            ]

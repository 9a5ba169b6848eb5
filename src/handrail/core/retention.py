"""Retention: how long results, calls and events are kept, and how large the database may be."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol

from handrail.core.ids import CallId, ExecutionId, ProjectId, SessionId

Part = Literal["results", "calls"]

RESULTS_DAYS = 30
CALLS_DAYS = 365
EVENTS_DAYS = 30
DRAFTS_DAYS = 14
MAX_DATABASE_MB = 5_000


@dataclass(frozen=True, slots=True)
class Retention:
    """How long each kind is kept. Beyond `max_bytes`, the oldest results go first, then calls."""

    results: timedelta = timedelta(days=RESULTS_DAYS)
    calls: timedelta = timedelta(days=CALLS_DAYS)
    events: timedelta = timedelta(days=EVENTS_DAYS)
    max_bytes: int = MAX_DATABASE_MB * 1_000_000


@dataclass(frozen=True, slots=True)
class Amount:
    """How much was removed, or would be. `bytes` counts contents, not pages of the file."""

    calls: int = 0
    results: int = 0
    questions: int = 0
    bytes: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            self.calls + other.calls,
            self.results + other.results,
            self.questions + other.questions,
            self.bytes + other.bytes,
        )


class OldCall(NamedTuple):
    """A call whose result, or whose whole record, may go."""

    project_id: ProjectId
    id: ExecutionId
    created_at: datetime
    bytes: int
    has_question: bool = False


class RemovedCall(NamedTuple):
    """What is left of a call whose record was removed."""

    agent_id: str
    removed_at: datetime

    @property
    def in_words(self) -> str:
        return f"was removed on {self.removed_at:%Y-%m-%d}, as the retention settings say"


class FileSpace(NamedTuple):
    """The pages of the database file. Where it `can_shrink`, free ones can be given back."""

    bytes: int
    free_bytes: int
    can_shrink: bool

    @property
    def used_bytes(self) -> int:
        return self.bytes - self.free_bytes


class RetentionReads(Protocol):
    """What a store can tell of records that are old, or gone.

    Only what nothing needs any more counts as old: the call has ended and no late result can
    come, no question about it is open, no grant that came of it is live, no run in its session is
    open, and no session is distrusted because of it.
    """

    async def list_old(
        self, part: Part, project_id: ProjectId, *, before: datetime, now: datetime, limit: int
    ) -> list[OldCall]:
        """Calls from before a moment, oldest first; for results, those that still have one."""
        ...

    async def weigh_old(
        self, part: Part, project_id: ProjectId, *, before: datetime, now: datetime
    ) -> Amount:
        """How much that is in all. Calls count with their questions, without their results."""
        ...

    async def find_removed(
        self, project_id: ProjectId, execution_id: ExecutionId
    ) -> RemovedCall | None: ...

    async def find_removed_call(
        self, project_id: ProjectId, session_id: SessionId, call_id: CallId
    ) -> RemovedCall | None: ...

    async def find_event_since(self, project_id: ProjectId, since: datetime) -> int | None:
        """The number of the first event that is not older than a moment."""
        ...

    async def measure_file(self) -> FileSpace: ...

"""What was decided, waited for and failed, in numbers that are counted hour by hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from handrail.core.errors import BadInput
from handrail.core.ids import ProjectId, UserId
from handrail.core.model import Usage
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject

HOUR = timedelta(hours=1)
# Who let a call pass unasked, where it was no grant.
LOW_RISK, FULL_AUTONOMY = "low_risk", "full_autonomy"
# Who failed, where it was no machine of the person's.
SERVER = "server"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_USUAL = timedelta(days=7)
_LAST_HOUR = (datetime(3000, 1, 1, tzinfo=UTC) - _EPOCH) // HOUR


class Outcome(StrEnum):
    """What became of a call's wish to be done."""

    AUTO_APPROVED = "auto_approved"
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"
    DENIED = "denied"
    OVER_LIMIT = "over_limit"


class Counted(StrEnum):
    """What is counted; each uses the columns of a count in its own way."""

    OUTCOME = "outcome"  # name: which outcome, where it is not a pass
    PASS = "pass"  # noqa: S105  name: a grant, or why nobody was asked; tool_name
    WAIT = "wait"  # value: milliseconds to the answer; detail: seconds there were
    ASKED = "asked"  # name: the class, if there is one; tool_name; detail: the answer
    ERROR = "error"  # name: who was to do it, if anybody; tool_name; detail: what kind


class CountKey(NamedTuple):
    """One thing that is counted. The fields stand in the order of the table's columns."""

    project_id: ProjectId
    kind: Counted
    hour: int
    name: str = ""
    tool_name: str = ""
    detail: str = ""
    value: int = 0


class Bucket(StrEnum):
    HOUR = "hour"
    DAY = "day"

    @property
    def hours(self) -> int:
        return 1 if self is Bucket.HOUR else 24


_MOST_DAYS = {Bucket.HOUR: 31, Bucket.DAY: 366}


@dataclass(frozen=True, slots=True)
class Span:
    """Whole hours since 1970, from the first up to but without the last, in buckets."""

    first: int
    end: int
    bucket: Bucket

    @classmethod
    def between(cls, start: datetime | None, end: datetime, bucket: Bucket) -> "Span":
        """The whole buckets in which these moments lie, and all between them; a week unless said.

        Raises:
            BadInput: They are in the wrong order, or too far apart.
        """
        if not 0 <= hour_of(end) < _LAST_HOUR or (start and hour_of(start) < 0):
            raise BadInput("`from` and `to` are moments between 1970 and 3000")
        start = start or max(end - _USUAL, _EPOCH)
        if start >= end:
            raise BadInput("`from` is not before `to`")
        most = _MOST_DAYS[bucket]
        if end - start > timedelta(days=most):
            raise BadInput(f"by {bucket}, at most {most} days can be shown at once")
        hours = bucket.hours
        first, last = hour_of(start), hour_of(end - timedelta(microseconds=1))
        return cls(first // hours * hours, last // hours * hours + hours, bucket)

    @property
    def starts(self) -> list[int]:
        """The hour in which each bucket begins."""
        return list(range(self.first, self.end, self.bucket.hours))


def hour_of(at: datetime) -> int:
    return (at - _EPOCH) // HOUR


def start_of(hour: int) -> datetime:
    return _EPOCH + hour * HOUR


def two_digits(number: int) -> int:
    """Rounded to its first two digits: enough to tell, and few enough to count.

    It keeps the order of numbers, so a percentile of these is the percentile itself, rounded.
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return (number + unit // 2) // unit * unit


class OutcomeCount(NamedTuple):
    hour: int
    outcome: str
    calls: int


class Waits(NamedTuple):
    """How long answers took, to two digits; None where there were none.

    Percentiles are by the nearest rank: each is a wait that somebody really had. `timeout_ms` is
    for how long the questions could have waited, on average.
    """

    answered: int
    median_ms: int | None
    p90_ms: int | None
    timeout_ms: int | None


NO_WAITS = Waits(0, None, None, None)


class PassCount(NamedTuple):
    """Calls that nobody was asked about; `words` are those of the grant, where it was one."""

    by: str
    words: str | None
    tool_name: str
    calls: int


class AskedCount(NamedTuple):
    """Questions of one class, or without any, by what became of them."""

    class_key: str
    tool_name: str
    asked: int
    approved: int
    refused: int
    expired: int


class ErrorCount(NamedTuple):
    """`executor` is a client, the server, or nobody, where it did not come that far."""

    executor: str
    tool_name: str
    error_type: str
    calls: int


class LastAsked(NamedTuple):
    """The latest question of a class, to tell what the class is about."""

    words: str | None
    tool_params: JsonObject
    risk_level: RiskLevel


class AnalyticsReads(Protocol):
    """What a store has counted. Hours are those of a span: its buckets are where they begin."""

    async def count_outcomes(self, project_id: ProjectId, span: Span) -> Sequence[OutcomeCount]: ...

    async def measure_waits(self, project_id: ProjectId, span: Span) -> Mapping[int, Waits]:
        """For each bucket in which something was answered."""
        ...

    async def measure_all_waits(self, project_id: ProjectId, span: Span) -> Waits:
        """The same for the whole span."""
        ...

    async def count_passes(
        self, project_id: ProjectId, span: Span, *, limit: int
    ) -> Sequence[PassCount]:
        """The most frequent ones first."""
        ...

    async def count_asked(
        self, project_id: ProjectId, span: Span, *, limit: int
    ) -> Sequence[AskedCount]:
        """The most frequent classes first."""
        ...

    async def count_errors(
        self, project_id: ProjectId, span: Span, *, limit: int
    ) -> Sequence[ErrorCount]:
        """The most frequent ones first."""
        ...

    async def find_last_asked(self, project_id: ProjectId, class_key: str) -> LastAsked | None: ...

    async def list_usage(
        self, user_id: UserId, first_day: str, last_day: str
    ) -> Sequence[tuple[str, Usage]]:
        """What a person's agents have used, day by day; days without any are left out."""
        ...

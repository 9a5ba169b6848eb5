"""What callers, approvers and listeners were told, to be compared with the store at the end."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

COMPLETED, REJECTED = "completed", "rejected"
UNKNOWN = "outcome_unknown"


@dataclass(slots=True)
class Call:
    """A call and its first end. `marker` is the line that it appends, if it has an effect."""

    tool_name: str
    params: dict[str, Any]
    session_id: str
    call_id: str
    marker: str | None = None
    end: tuple[str, str | None] | None = None


class Heard(NamedTuple):
    """An event as a listener received it, at a time in seconds since the epoch."""

    number: int
    name: str
    at: float


class Moment(NamedTuple):
    """A kill, a restart or a resumed stream, at a time in seconds since the epoch."""

    at: float
    what: str


@dataclass(slots=True)
class Hearing:
    """What one listener received.

    Its first stream began after the number `start`; it resumes after the number `position`.
    """

    start: int | None = None
    position: int | None = None
    events: list[Heard] = field(default_factory=list[Heard])


@dataclass(slots=True)
class Ledger:
    calls: list[Call] = field(default_factory=list[Call])
    # What was acknowledged for each question, in order.
    decisions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    # By the name of the listener.
    hearings: dict[str, Hearing] = field(default_factory=dict[str, Hearing])
    moments: list[Moment] = field(default_factory=list[Moment])
    counts: Counter[str] = field(default_factory=Counter[str])

    def note(self, what: str) -> None:
        self.moments.append(Moment(time.time(), what))


def end_of(answer: dict[str, Any]) -> tuple[str, str | None]:
    """The status of a call and the type of its error."""
    return answer["status"], answer.get("error_type")

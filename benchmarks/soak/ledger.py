"""What the callers and the approvers were told, to be compared with what is there at the end."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(slots=True)
class Ledger:
    calls: list[Call] = field(default_factory=list[Call])
    # What was acknowledged for each question, in order.
    decisions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    event_ids: list[int] = field(default_factory=list[int])
    counts: Counter[str] = field(default_factory=Counter[str])


def end_of(answer: dict[str, Any]) -> tuple[str, str | None]:
    """The status of a call and the type of its error."""
    return answer["status"], answer.get("error_type")

"""Tally: what has happened since this process began, in numbers that name nobody."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from handrail.core.change import Advance, Change, OpenCall, Rejudge, Resolve
from handrail.core.errors import ErrorType
from handrail.core.execution import ToolExecution

# A name nobody has registered could be anything, and there is no end of those.
OTHER = "other"

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    def __init__(self, bounds: Sequence[float]):
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value


class Tally:
    """Counts what the store has made durable; a few additions for each change."""

    def __init__(self) -> None:
        self.proposed: Counter[tuple[str, str, str]] = Counter()
        self.ended: Counter[tuple[str, str]] = Counter()
        self.call_seconds = Histogram(_SECONDS)
        self.decision_seconds: dict[str, Histogram] = {}
        self.commit_sizes = Histogram(_SIZES)
        self.events_streamed = 0
        self._tools: frozenset[str] = frozenset()

    def know_tools(self, names: Iterable[str]) -> None:
        self._tools = frozenset(names)

    def take_in(self, changes: Sequence[Change]) -> None:
        """Count what one commit has stored."""
        self.commit_sizes.add(len(changes))
        for change in changes:
            for step in change.steps:
                match step:
                    case OpenCall(execution):
                        self._count_proposal(execution)
                        self._count_end(execution)
                    case Advance(_, after) | Rejudge(_, after):
                        self._count_end(after)
                    case Resolve(approval) if approval.answer is not None:
                        waits = self.decision_seconds.setdefault(
                            approval.status, Histogram(_SECONDS)
                        )
                        waits.add(_seconds(approval.answer.at - approval.created_at))
                    case _:
                        pass

    def _count_proposal(self, execution: ToolExecution) -> None:
        name = execution.tool_name if execution.tool_name in self._tools else OTHER
        self.proposed[name, _ruling(execution), execution.risk_level.name] += 1

    def _count_end(self, execution: ToolExecution) -> None:
        if execution.completed_at is None or not execution.status.is_final:
            return
        self.ended[execution.status, execution.error_type or ""] += 1
        self.call_seconds.add(_seconds(execution.completed_at - execution.created_at))


def _ruling(execution: ToolExecution) -> str:
    """What the words alone have brought about, before a machine or a person was asked."""
    match execution.error_type:
        case ErrorType.VALIDATION:
            return "invalid"
        case ErrorType.DENIED:
            return "deny"
        case _:
            return "ask" if execution.requires_approval else "allow"


def _seconds(span: timedelta) -> float:
    return max(span.total_seconds(), 0.0)

"""Tally: what has happened since this process began, in numbers that name nobody."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from handrail.core.approval import Approval
from handrail.core.change import Advance, Change, OpenCall, Rejudge, Resolve
from handrail.core.errors import ErrorType
from handrail.core.execution import ToolExecution
from handrail.core.risk import RiskLevel

# A name nobody has registered could be anything, and there is no end of those.
OTHER = "other"

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
# Looked up, because an enum takes its time to say its own name.
_RISKS = {risk: risk.name for risk in RiskLevel}
_REFUSED = {
    ErrorType.VALIDATION: "invalid",
    ErrorType.DENIED: "deny",
    ErrorType.TOO_MANY_QUESTIONS: "deny",
}
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
        # How many streams are open now, by channel.
        self.listening: Counter[str] = Counter()
        self._tools: frozenset[str] = frozenset()

    def know_tools(self, names: Iterable[str]) -> None:
        self._tools = frozenset(names)

    def take_in(self, changes: Sequence[Change]) -> None:
        """Count what one commit has stored."""
        self.commit_sizes.add(len(changes))
        for change in changes:
            for step in change.steps:
                if isinstance(step, OpenCall):
                    self._count_proposal(step.execution)
                    self._count_end(step.execution)
                elif isinstance(step, Advance | Rejudge):
                    self._count_end(step.after)
                elif isinstance(step, Resolve):
                    self._count_decision(step.approval)

    def _count_proposal(self, execution: ToolExecution) -> None:
        name = execution.tool_name if execution.tool_name in self._tools else OTHER
        self.proposed[name, _ruling(execution), _RISKS[execution.risk_level]] += 1

    def _count_decision(self, approval: Approval) -> None:
        if approval.answer is not None:
            waits = self.decision_seconds.setdefault(approval.status, Histogram(_SECONDS))
            waits.add(_seconds(approval.answer.at - approval.created_at))

    def _count_end(self, execution: ToolExecution) -> None:
        if execution.completed_at is None or not execution.status.is_final:
            return
        self.ended[execution.status, execution.error_type or ""] += 1
        self.call_seconds.add(_seconds(execution.completed_at - execution.created_at))


def _ruling(execution: ToolExecution) -> str:
    """What the words alone have brought about, before a machine or a person was asked."""
    if execution.error_type is None:
        return "ask" if execution.requires_approval else "allow"
    return _REFUSED.get(execution.error_type, "allow")


def _seconds(span: timedelta) -> float:
    return max(span.total_seconds(), 0.0)

"""What a person's agents may use on one day, and what they have used of it."""

from dataclasses import dataclass

from handrail.core.model import Usage

# Percents at which a person is told.
NEAR, EXHAUSTED = 80, 100


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One day, which begins at midnight UTC. Without a limit, nothing is ever too much."""

    day: str
    used: Usage
    limit: int | None = None

    @property
    def share(self) -> float | None:
        """How much of the limit is used: 1.0 is all of it, and it can be a little more."""
        return None if self.limit is None else self.used.total / self.limit

    @property
    def is_near(self) -> bool:
        return self._has_reached(NEAR)

    @property
    def is_exhausted(self) -> bool:
        return self._has_reached(EXHAUSTED)

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(self.limit - self.used.total, 0)

    def _has_reached(self, percent: int) -> bool:
        return self.limit is not None and self.used.total * 100 >= self.limit * percent


def crossings(before: BudgetState, after: BudgetState) -> list[int]:
    """The lines, in percent, that lie between two looks at one budget; a new day begins anew."""
    if after.limit is None:
        return []
    start = before.used.total if before.day == after.day else 0
    return [
        line
        for line in (NEAR, EXHAUSTED)
        if start * 100 < after.limit * line <= after.used.total * 100
    ]

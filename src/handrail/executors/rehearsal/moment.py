"""Moment: when a rehearsal began, by clocks that can be set meanwhile."""

import time
from typing import NamedTuple, Self


class Moment(NamedTuple):
    """A time by the clock that files get theirs from, which can be set, and by one that cannot."""

    clock_ns: int
    steady_ns: int

    @classmethod
    def now(cls) -> Self:
        return cls(time.time_ns(), time.monotonic_ns())

    def by_the_clock_of(self, later: Self) -> int:
        """The earlier of what the clock said then, and of what it would have said if set as now.

        A file that is saved after the clock was set back must not seem older than the rehearsal.
        """
        return min(self.clock_ns, later.clock_ns - (later.steady_ns - self.steady_ns))

"""Rehearsals: commands that run where nothing they do is real."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage


class CallRef(NamedTuple):
    """The call that hands are used for. Rehearsals of one session share caches and /tmp."""

    session_id: str
    tool_id: str


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The outcome of a rehearsal, and the paths in the workspace that it would have changed.

    `hosts` are those it tried to reach. With `left_running`, it had left processes running, which
    were ended. `outside` is what it wrote in /tmp and its home. `ended_by` says which limit it met,
    and is empty if it came to its end.
    """

    outcome: CommandOutcome
    changed: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    left_running: bool = False
    outside: tuple[str, ...] = ()
    ended_by: str = ""

    @property
    def is_complete(self) -> bool:
        """True if it ran to its end, so that no effect is missing."""
        return not self.ended_by


class Rehearsals(Protocol):
    """Rehearsals on one machine. The last one of a call is kept until it is taken."""

    async def rehearse(
        self, call: CallRef, stages: Sequence[Stage], *, timeout_seconds: float
    ) -> Rehearsed:
        """Run the stages where nothing is real; the kept rehearsal of the call where there is one.

        Raises:
            CommandExecutionError: They cannot be rehearsed here, or could not be started.
        """
        ...

    async def take(self, call: CallRef) -> Rehearsed | None:
        """The kept rehearsal of a call, which is dropped with all that it would have changed."""
        ...

"""Rehearsals: commands run on an overlay, so that they change nothing."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from handrail.core.effects import Dropped, Effect, Effects
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject

# The fact that an approval of rehearsed effects is bound to.
REHEARSAL = "the rehearsal"
_NO_EFFECTS = Effects()
T = TypeVar("T")
# Reads the content of a file before and after; None where there is none, or too much of it.
Contents = Callable[[Effect], tuple[bytes | None, bytes | None]]


class CallRef(NamedTuple):
    """The call that hands are used for. Rehearsals of one session share caches and /tmp."""

    session_id: str
    tool_id: str


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """The outcome of a rehearsal, and the effects that it would have on the workspace.

    `hosts` are those it tried to reach. With `left_running`, it had left processes running, which
    were ended. `outside` is what it wrote in /tmp and its home. `ended_by` says which limit it met,
    or why its effects cannot be applied; it is empty if the rehearsal shows everything. `caches`
    are the changed caches, which only the session keeps; an approval does not cover them.
    """

    outcome: CommandOutcome
    effects: Effects = _NO_EFFECTS
    hosts: tuple[str, ...] = ()
    left_running: bool = False
    outside: tuple[str, ...] = ()
    ended_by: str = ""
    caches: tuple[Dropped, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True if it ran to its end, so that no effect is missing."""
        return not self.ended_by

    @property
    def changes(self) -> tuple[Effect, ...]:
        return self.effects.changes

    @property
    def facts(self) -> JsonObject:
        """What an approval covers: every byte of the effects, and the output.

        `folder` is the top folder that holds all changes; it is empty where there is none. `git` is
        `local` if git's data changes without a loss and files get only contents that git had,
        `other` if git's data changes in another way, else empty.
        """
        tops = {change.path.partition("/")[0] for change in self.changes}
        is_within = len(tops) == 1 and all("/" in change.path for change in self.changes)
        told: JsonObject = {
            "effects": self.effects.digest,
            "output": _digest(self.outcome),
            "changes": len(self.changes),
            "folder": next(iter(tops)) if is_within else "",
            "git": self._kind_of_git(),
        }
        return {REHEARSAL: told}

    def _kind_of_git(self) -> str:
        git = self.effects.git
        if not git.changes:
            return ""
        # A new content is a change like any other, also where it is committed at once.
        is_own = git.known.issuperset(change.path for change in self.changes)
        return "local" if is_own and git.is_ordinary else "other"


def was_rehearsed(facts: JsonObject | None) -> bool:
    return facts is not None and REHEARSAL in facts


def has_same_effects(facts: JsonObject, others: JsonObject | None) -> bool:
    """True if both are facts of rehearsals with equal effects; the output may differ."""
    effects = _effects_in(facts)
    return effects is not None and effects == _effects_in(others or {})


def _effects_in(facts: JsonObject) -> str | None:
    match facts.get(REHEARSAL):
        case {"effects": str(digest)}:
            return digest
        case _:
            return None


def _digest(outcome: CommandOutcome) -> str:
    """A hash of the exit code and both streams."""
    lengths = f"{outcome.exit_code} {len(outcome.stdout)} {len(outcome.stderr)}\n"
    return hashlib.sha256(lengths.encode() + outcome.stdout + outcome.stderr).hexdigest()


class Rehearsals(Protocol):
    """Rehearsals on one machine. The last one of a call is kept until it is applied or dropped."""

    async def rehearse(
        self, call: CallRef, stages: Sequence[Stage], *, timeout_seconds: float
    ) -> Rehearsed:
        """Run the stages where nothing is real; the kept rehearsal of the call where there is one.

        Raises:
            CommandExecutionError: They cannot be rehearsed here, or could not be started.
        """
        ...

    async def why_not(self, call: CallRef) -> str:
        """Why nothing can be rehearsed here now; empty if it can."""
        ...

    async def carry_out(
        self,
        call: CallRef,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject,
    ) -> Rehearsed:
        """Run approved stages in which git reaches remotes; what it pushes is pushed for real.

        The effects on the workspace are kept until they are applied. `expected` are the facts of
        the look that was approved.

        Raises:
            CommandExecutionError: They could not be started, or a remote could not be reached.
            StaleCommandError: The facts do not hold any more; nothing was started.
        """
        ...

    async def find(self, call: CallRef) -> Rehearsed | None:
        """The kept rehearsal of a call."""
        ...

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        """Draw the effects of a kept rehearsal, with the contents of its files.

        Raises:
            CommandExecutionError: The rehearsal is gone.
        """
        ...

    async def apply(self, call: CallRef, *, can_undo: bool = True) -> None:
        """Make exactly the effects of the kept rehearsal real, and forget the rehearsal.

        Where it cannot be undone as a whole, nothing is kept to undo a part of it.

        Raises:
            CommandExecutionError: The rehearsal is gone; nothing was changed.
            StaleFileError: The workspace was changed since; nothing was changed.
            FileOperationError: The file system refused; nothing was changed.
        """
        ...

    async def drop(self, call: CallRef) -> None:
        """Forget the rehearsal of a call, with all that it would have changed."""
        ...

    async def drop_stale(self, call: CallRef) -> str:
        """Forget the rehearsal of a call if its effects can no longer be applied.

        Returns what has changed in the workspace; empty if the effects can still be applied.
        """
        ...


class NoRehearsals:
    """For machines on which nothing can be rehearsed; the reason is told on each card."""

    def __init__(self, why_not: str = "commands cannot be rehearsed here"):
        self._why_not = why_not

    async def rehearse(
        self, call: CallRef, stages: Sequence[Stage], *, timeout_seconds: float
    ) -> Rehearsed:
        raise CommandExecutionError(self._why_not)

    async def why_not(self, call: CallRef) -> str:
        return self._why_not

    async def carry_out(
        self,
        call: CallRef,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject,
    ) -> Rehearsed:
        raise CommandExecutionError(self._why_not)

    async def find(self, call: CallRef) -> Rehearsed | None:
        return None

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        raise CommandExecutionError(self._why_not)

    async def apply(self, call: CallRef, *, can_undo: bool = True) -> None:
        raise CommandExecutionError(self._why_not)

    async def drop(self, call: CallRef) -> None:
        return

    async def drop_stale(self, call: CallRef) -> str:
        return ""

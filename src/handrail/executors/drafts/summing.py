"""The sum of a draft's first steps: what they change together in the workspace as it is now."""

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from handrail.core.draft import DraftStep, DraftSum
from handrail.core.effects import Effect, Effects, Node
from handrail.core.errors import CommandExecutionError
from handrail.core.rehearsal import Contents, T
from handrail.executors.drafts.records import first_before
from handrail.executors.rehearsal.contents import LayerContents
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.git_reading import GitEffectsReader, ReadEffects
from handrail.executors.rehearsal.way import LISTED

_MOST_CONFLICTS = 20
BOUNDS = Reading(0)


@dataclass(frozen=True, slots=True)
class Summed:
    """The steps up to `number` as one layer over the workspace `root`."""

    root: str
    layer: str
    number: int
    read: ReadEffects
    first: Mapping[str, Node | None]
    # How many changes were not chosen.
    others: int = 0

    @property
    def effects(self) -> Effects:
        return self.read.effects

    @property
    def clashes(self) -> list[Effect]:
        """Changes of what is not in the workspace what it was when the draft changed it."""
        own = [one for one in self.effects.changes if self.first.get(one.path) != one.before]
        gits = self.effects.git.changes
        return own + [one for one in gits if self.first.get(one.path, one.before) != one.before]

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The same in sentences."""
        clashes = self.clashes
        told = [
            f"{one.path} was {_verb(self.first.get(one.path), one.before)} in the workspace after"
            f" the draft {'changed it' if one.path in self.first else 'removed its folder'}"
            for one in clashes[:_MOST_CONFLICTS]
        ]
        more = len(clashes) - len(told)
        return (*told, f"and {more:,} more") if more else tuple(told)

    def choose(self, paths: Sequence[str]) -> "Summed":
        """Only the changes of these files, and of all below these folders.

        Raises:
            CommandExecutionError: Nothing changes at one of the paths.
        """
        effects = self.effects
        for path in paths:
            if not effects.choose([path]).changes:
                raise CommandExecutionError(f"the draft changes nothing at {path}")
        chosen = effects.choose(paths)
        others = len(effects.changes) + len(effects.git.changes) - len(chosen.changes)
        read = replace(self.read, effects=chosen, objects=())
        return replace(self, read=read, others=others) if others else self

    def draw(self, draw: Callable[[Contents], T]) -> T:
        with self.opened() as (lower, upper):
            return draw(LayerContents(lower, upper))

    @contextmanager
    def opened(self) -> Generator[tuple[int, int]]:
        """Descriptors of the workspace and of the layer."""
        with _opened(self.root) as lower, _opened(self.layer) as upper:
            yield lower, upper


def read_sum(
    layer: str,
    steps: Sequence[DraftStep],
    number: int,
    root: str,
    git: GitEffectsReader | None,
    bounds: Reading = BOUNDS,
) -> Summed:
    """Read the effects of the steps up to `number`, which are folded in `layer`; for a thread.

    Of the `bounds`, the start is that of this reading.

    Raises:
        OSError: The layer cannot be read.
    """
    first = first_before(steps)
    with _opened(root) as lower, _opened(layer) as upper:
        effects = read_effects(lower, upper, replace(bounds, start_ns=time.time_ns()))
        effects = replace(effects, changes=tuple(_of_draft(effects.changes, first)))
        is_whole = git is not None and not (effects.stale or effects.refusals)
        read = git.read(effects, lower, upper) if git and is_whole else ReadEffects(effects)
    return Summed(root, layer, number, read, first)


def _of_draft(changes: Iterable[Effect], first: Mapping[str, Node | None]) -> Iterator[Effect]:
    """Without files that commands have written as they were; the workspace may have newer ones.

    What no step has changed and is gone all the same was put into a folder that the draft removed.
    """
    return (one for one in changes if one.path in first or one.after is None)


def tell_sum(summed: Summed, known: Sequence[DraftStep]) -> DraftSum:
    own = tuple(step for step in known if step.number <= summed.number)
    why = "; ".join(summed.effects.refusals) or summed.read.why_not
    later = len(known) - len(own)
    return DraftSum(summed.effects, own, summed.conflicts, later, why, summed.others)


def last_of(steps: Sequence[DraftStep], wanted: int | None) -> int:
    """The number of the last of the first steps.

    Raises:
        CommandExecutionError: There is no step of that number or an earlier one.
    """
    if wanted is None:
        return steps[-1].number
    numbers = [step.number for step in steps if step.number <= wanted]
    if not numbers:
        raise CommandExecutionError(f"the draft has no step {wanted} or an earlier one")
    return numbers[-1]


def _verb(before: Node | None, now: Node | None) -> str:
    if now is None:
        return "deleted"
    return "created" if before is None else "changed"


@contextmanager
def _opened(path: str) -> Generator[int]:
    fd = os.open(path, LISTED)
    try:
        yield fd
    finally:
        os.close(fd)

"""The sum of a draft's first steps: what they change together in the workspace as it is now."""

import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from handrail.core.effects import Effect, Effects, Node
from handrail.core.rehearsal import Contents, T
from handrail.executors.drafts.layers import DraftLayers
from handrail.executors.rehearsal.contents import LayerContents
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.git_reading import GitEffectsReader, ReadEffects
from handrail.executors.rehearsal.way import LISTED

_MOST_CONFLICTS = 20


@dataclass(frozen=True, slots=True)
class Summed:
    """The steps up to `number` as one layer over the workspace `root`."""

    root: str
    layer: str
    number: int
    read: ReadEffects
    first: Mapping[str, Node | None]

    @property
    def effects(self) -> Effects:
        return self.read.effects

    @property
    def clashes(self) -> list[Effect]:
        """Changes of what is not in the workspace what it was when the draft changed it."""
        changes = (*self.effects.changes, *self.effects.git.changes)
        return [one for one in changes if self.first.get(one.path, one.before) != one.before]

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The same in sentences."""
        clashes = self.clashes
        told = [
            f"{one.path} was {_verb(self.first[one.path], one.before)} in the workspace after the"
            " draft changed it"
            for one in clashes[:_MOST_CONFLICTS]
        ]
        more = len(clashes) - len(told)
        return (*told, f"and {more:,} more") if more else tuple(told)

    def draw(self, draw: Callable[[Contents], T]) -> T:
        with self.opened() as (lower, upper):
            return draw(LayerContents(lower, upper))

    @contextmanager
    def opened(self) -> Generator[tuple[int, int]]:
        """Descriptors of the workspace and of the layer."""
        with _opened(self.root) as lower, _opened(self.layer) as upper:
            yield lower, upper


def sum_up(layers: DraftLayers, number: int, root: str, git: GitEffectsReader) -> Summed:
    """Read the effects of the steps up to `number`; for a thread.

    Raises:
        OSError: A layer cannot be read.
    """
    layer = layers.fold_through(number)
    with _opened(root) as lower, _opened(layer) as upper:
        effects = read_effects(lower, upper, Reading(time.time_ns()))
        is_whole = not (effects.stale or effects.refusals)
        read = git.read(effects, lower, upper) if is_whole else ReadEffects(effects)
    return Summed(root, layer, number, read, layers.first_before())


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

"""From a rehearsal and the effects that were read to what is told of it."""

from handrail.core.effects import Effects
from handrail.core.rehearsal import Rehearsed
from handrail.executors.rehearsal.caps import DEFAULT_CAPS, Caps
from handrail.executors.rehearsal.git_reading import GitEffectsReader, ReadEffects
from handrail.executors.rehearsal.rehearser import Rehearsal

_FOREIGN = "it met files of another owner or group, which an overlay cannot change"
_MARKED = "it has written git's index in a form that cannot be read here"
_RACED = "other programs kept changing the same files while it was rehearsed"


def read_git(
    reader: GitEffectsReader,
    effects: Effects,
    layers: tuple[int, int],
    rehearsal: Rehearsal,
    *,
    follows_remotes: bool = False,
) -> ReadEffects:
    """Add git's words to effects that can be applied; `layers` are the lower and the upper."""
    if effects.stale or effects.refusals or rehearsal.exceeded:
        return ReadEffects(effects)
    return reader.read(effects, *layers, follows_remotes=follows_remotes)


def tell(rehearsal: Rehearsal, read: ReadEffects, caps: Caps = DEFAULT_CAPS) -> Rehearsed:
    return Rehearsed(
        rehearsal.outcome,
        read.effects,
        hosts=rehearsal.hosts,
        left_running=rehearsal.left_running,
        outside=rehearsal.outside,
        ended_by=_why_incomplete(rehearsal, read, caps),
        caches=rehearsal.dropped,
    )


def _why_incomplete(rehearsal: Rehearsal, read: ReadEffects, caps: Caps) -> str:
    if rehearsal.exceeded is not None:
        return rehearsal.exceeded.tell(caps)
    if rehearsal.met_foreign:
        return _FOREIGN
    if rehearsal.is_marked:
        return _MARKED
    if read.effects.refusals:
        return read.effects.refusals[0]
    return _RACED if read.effects.stale else read.why_not

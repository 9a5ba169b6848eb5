"""A draft in lines that people and models read: its steps, and what is not part of them."""

from collections.abc import Iterator, Sequence

from handrail.core.draft import DraftStep, DraftSum
from handrail.core.visible import visible

# A card is cut in the middle beyond this.
MOST_EVIDENCE_CHARS = 480_000


def history(summed: DraftSum, *, calls: bool = False) -> Iterator[str]:
    """The steps, also with their `calls`, in lines that no line of a diff can be taken for."""
    yield f"a draft of {count_steps(summed.steps)}"
    for step in summed.steps:
        yield from (f"note      step {step.number}: {visible(note)}" for note in step.notes)
    for step in summed.steps:
        ending = "" if step.exit_code in (None, 0) else f" (exit code {step.exit_code})"
        yield f"step {step.number:<4} {visible(step.title)}{ending}"
        yield from (f"host      {visible(host)}" for host in step.hosts)
    if calls and (made := [step.call for step in summed.steps if step.is_call]):
        yield f"calls    {' '.join(made)}"
    if summed.others:
        yield f"{summed.others:,} other changes stay in the draft; no test has run without them"
    if summed.later:
        yield f"{summed.later:,} later steps are not part of it"


def count_steps(steps: Sequence[DraftStep]) -> str:
    return "1 step" if len(steps) == 1 else f"{len(steps):,} steps"

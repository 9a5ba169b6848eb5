"""Reading the sum of a draft beside whatever works on it, also from another process.

The layers are folded into a folder of the reader's own, by hard links. So nothing waits for a
command that runs in the draft, and what is removed from it meanwhile is still there for the reader.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from handrail.core.draft import DraftStep, DraftSum
from handrail.core.errors import CommandExecutionError, StaleFileError
from handrail.executors.drafts.draft import A_MOMENT
from handrail.executors.drafts.fold import fold
from handrail.executors.drafts.records import (
    LAYER,
    READING,
    STEPS,
    StoredDraft,
    damage_of,
    find_draft,
    step_name,
)
from handrail.executors.drafts.summing import BOUNDS, Summed, last_of, read_sum, tell_sum
from handrail.executors.files.removal import remove
from handrail.executors.rehearsal.effects import Reading
from handrail.executors.rehearsal.git_reading import GitEffectsReader
from handrail.executors.rehearsal.way import LISTED

NO_DRAFT = "this session has no draft: nothing was changed in it"
_BUSY = "the draft or the workspace changes all the time; try again in a moment"
_ATTEMPTS = 5
# An export is read by programs, and may be larger than what a person decides about.
EXPORTED = Reading(0, most_entries=1_000_000, most_bytes=8 << 30)


class ReadDraft(NamedTuple):
    """The sum of the first steps, and all steps that the draft has."""

    summed: Summed
    known: tuple[DraftStep, ...]

    @property
    def told(self) -> DraftSum:
        return tell_sum(self.summed, self.known)


@contextmanager
def reading(
    folder: Path,
    root: str,
    steps: int | None,
    git: GitEffectsReader | None = None,
    bounds: Reading = BOUNDS,
) -> Generator[ReadDraft]:
    """The sum of the first `steps` of the draft in a folder, or of all; for a thread.

    Without a reader of `git`, its part is not put in words.

    Raises:
        CommandExecutionError: There is no such draft or step.
        DraftDamaged: It cannot be read.
        StaleFileError: It was changed all the time.
        OSError: There is no room left.
    """
    for _ in range(_ATTEMPTS):
        found = _find(folder)
        number = last_of(found.steps, steps)
        with _own_folder(folder) as own:
            layer = _fold(found, number, own)
            if layer:
                summed = read_sum(layer, found.steps, number, root, git, bounds)
                try:
                    if not summed.effects.stale:
                        yield ReadDraft(summed, found.steps)
                        return
                finally:
                    summed.read.discard()
        # A change of this moment could not be told from one during the reading.
        time.sleep(A_MOMENT)
    raise StaleFileError(_BUSY)


def _fold(found: StoredDraft, number: int, own: Path) -> str:
    """The steps up to `number` as one layer; empty if they were changed meanwhile."""
    first = [step for step in found.steps if step.number <= number]
    layers = [str(found.folder / STEPS / step_name(step.number) / LAYER) for step in first]
    with suppress(FileNotFoundError):
        fold(layers, str(own / "sum"))
        if [*_find(found.folder).steps[: len(first)]] == first:
            return str(own / "sum")
    return ""


def _find(folder: Path) -> StoredDraft:
    found = find_draft(folder)
    if found is None or not found.count:
        raise CommandExecutionError(NO_DRAFT)
    if found.trouble:
        raise damage_of(found.session_id, folder, found.trouble)
    return found


@contextmanager
def _own_folder(folder: Path) -> Generator[Path]:
    own = Path(tempfile.mkdtemp(prefix=READING, dir=folder))
    try:
        yield own
    finally:
        fd = os.open(own, LISTED)
        try:
            remove(fd, "sum")
        finally:
            os.close(fd)
        shutil.rmtree(own, ignore_errors=True)

"""The steps of one draft on disk: one folder for each, with a layer that is never written again.

A step exists when its folder has its final name. The layers of the first steps are folded into one
from time to time, so that a view of the draft consists of few.
"""

import os
import stat
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from handrail.core.draft import DraftStep
from handrail.core.effects import Node
from handrail.core.errors import DraftDamaged, FileOperationError
from handrail.core.files import EntryKind
from handrail.executors.drafts.fold import fold
from handrail.executors.drafts.records import (
    LAYER,
    READING,
    STEPS,
    first_before,
    read_steps,
    step_name,
    write_step,
)
from handrail.executors.files.removal import remove
from handrail.executors.rehearsal.journal import sync_file_system
from handrail.executors.rehearsal.nodes import stat_of
from handrail.executors.rehearsal.way import LISTED, Way

FOLD_AFTER = 16
_FOLDED, _NEW, _GONE, _BASES = "folded", "new", "gone", "bases"


class DraftLayers:
    """Layers below `folder`, which must be on one file system and ours alone.

    A view that is open may lose no layer, so removed ones stay until `clean`.
    """

    def __init__(self, folder: Path):
        """Raises DraftDamaged if a step cannot be read, and OSError if the disk refuses."""
        self._folder = folder
        for name in (STEPS, _FOLDED, _NEW, _GONE, _BASES):
            (folder / name).mkdir(0o700, exist_ok=True)
        self.clean()
        self._empty(_NEW)
        for left in folder.glob(f"{READING}*"):
            self._remove(left.name)
        self.steps, trouble = read_steps(folder)
        if trouble:
            raise DraftDamaged(trouble)
        self._changed = self._last_changes()
        self._folds = self._read_folds()

    @property
    def last(self) -> int:
        return self.steps[-1].number if self.steps else 0

    def lowers(self) -> list[str]:
        """The layers of a view, the topmost first."""
        return [*reversed(self._oldest_first(self.last))]

    def layer_of(self, path: str) -> str | None:
        """The layer whose file of that name is seen; empty if it is the workspace's.

        None where only a view can tell, because a folder on the way was replaced or removed, or
        because not all changes of a step are known.
        """
        if path != os.path.normpath(path) or not all(step.is_whole for step in self.steps):
            return None
        way = [*accumulate(path.split("/"), "{}/{}".format)]
        for folder in way[:-1]:
            _, node = self._changed.get(folder, (0, None))
            if folder in self._changed and (node is None or node.kind is not EntryKind.DIRECTORY):
                return None
        if path not in self._changed:
            return ""
        number, node = self._changed[path]
        if node is None or node.kind is not EntryKind.FILE:
            return None
        folded = max((one for one in self._folds if one >= number), default=None)
        if folded is not None:
            return str(self._folder / _FOLDED / step_name(folded))
        return str(self._folder / STEPS / step_name(number) / LAYER)

    def holds(self, path: str) -> bool:
        """Whether a layer has a file, a link or a mark of deletion of that name."""
        return any(_has(layer, path) for layer in self.lowers())

    def first_before(self) -> dict[str, Node | None]:
        """What each changed path was in the workspace when the draft changed or merged it."""
        return first_before(self.steps)

    def keep_base(self, sha256: str, content: bytes) -> None:
        """Keep what a file was in the workspace when the draft changed it first, to merge it."""
        (self._folder / _BASES / sha256).write_bytes(content)

    def find_base(self, sha256: str) -> bytes | None:
        try:
            return (self._folder / _BASES / sha256).read_bytes()
        except FileNotFoundError:
            return None

    def seal(self, step: DraftStep, upper: str, parent_fd: int) -> None:
        """Keep an upper directory as the layer of the next step.

        Raises:
            FileOperationError: It cannot be kept; there is no such step.
        """
        name = step_name(step.number)
        new = self._folder / _NEW / name
        try:
            new.mkdir(0o700)
            os.rename(upper, new / LAYER, src_dir_fd=parent_fd)
            write_step(new, step)
            self._sync()
            new.rename(self._folder / STEPS / name)
            self._sync()
        except OSError as error:
            self._empty(_NEW)
            raise FileOperationError(f"the step cannot be kept: {error.strerror}") from error
        self.steps.append(step)
        self._changed |= {change.path: (step.number, change.after) for change in step.changes}
        if len(self._unfolded(step.number)) > FOLD_AFTER:
            # Without it the view has a layer more, and nothing else changes.
            with suppress(OSError):
                self.fold_through(step.number)

    def fold_through(self, number: int) -> str:
        """A layer that shows the same as all steps up to this one.

        Raises:
            OSError: A layer cannot be read, or there is no room.
        """
        layers = self._oldest_first(number)
        if len(layers) == 1:
            return layers[0]
        new, name = self._folder / _NEW / "folded", step_name(number)
        self._empty(_NEW)
        fold(layers, str(new))
        self._sync()
        for older in self._folds:
            self._throw_away(_FOLDED, step_name(older))
        self._folds = []
        new.rename(self._folder / _FOLDED / name)
        self._folds = [number]
        return str(self._folder / _FOLDED / name)

    def drop_from(self, number: int) -> list[DraftStep]:
        """Remove a step and all later ones, the last first."""
        gone = [step for step in self.steps if step.number >= number]
        self._drop_folds(number)
        for step in reversed(gone):
            self._throw_away(STEPS, step_name(step.number))
            self.steps.pop()
        if not self.steps:
            self._empty(_BASES)
        self._changed = self._last_changes()
        self._sync()
        return gone

    def drop_through(self, number: int) -> None:
        """Remove the first steps, whose changes the workspace has by now."""
        if number >= self.last:
            self._empty(_BASES)
        self._drop_folds(0)
        while self.steps and self.steps[0].number <= number:
            self._throw_away(STEPS, step_name(self.steps[0].number))
            del self.steps[0]
        self._changed = self._last_changes()
        self._sync()

    def clean(self) -> None:
        """Remove for good what was thrown away; no view may be open."""
        self._empty(_GONE)

    def _oldest_first(self, number: int) -> list[str]:
        folds = [
            str(self._folder / _FOLDED / step_name(one)) for one in self._folds if one <= number
        ]
        steps = (self._folder / STEPS / step_name(one) for one in self._unfolded(number))
        return [*folds, *(str(step / LAYER) for step in steps)]

    def _unfolded(self, number: int) -> list[int]:
        folded = max((one for one in self._folds if one <= number), default=0)
        return [step.number for step in self.steps if folded < step.number <= number]

    def _drop_folds(self, number: int) -> None:
        """Remove the folded layers that hold the step of this number or a later one."""
        for one in [one for one in self._folds if one >= number]:
            self._throw_away(_FOLDED, step_name(one))
            self._folds.remove(one)

    def _last_changes(self) -> dict[str, tuple[int, Node | None]]:
        """What each changed path is now, and the step that made it so."""
        return {
            change.path: (step.number, change.after)
            for step in self.steps
            for change in step.changes
        }

    def _read_folds(self) -> list[int]:
        """Those that a crash has left beside the steps they are of; others are removed."""
        numbers = {step.number for step in self.steps}
        found = [int(folder.name) for folder in (self._folder / _FOLDED).iterdir()]
        for one in found:
            if one not in numbers or len(found) > 1:
                self._throw_away(_FOLDED, step_name(one))
        return found if len(found) == 1 and found[0] in numbers else []

    def _throw_away(self, kind: str, name: str) -> None:
        gone = self._folder / _GONE
        count = len(os.listdir(gone))
        (self._folder / kind / name).rename(gone / f"{count}-{kind}-{name}")

    def _empty(self, name: str) -> None:
        fd = os.open(self._folder / name, LISTED)
        try:
            for entry in os.listdir(fd):
                remove(fd, entry)
        finally:
            os.close(fd)

    def _remove(self, name: str) -> None:
        fd = os.open(self._folder, LISTED)
        try:
            remove(fd, name)
        finally:
            os.close(fd)

    def _sync(self) -> None:
        fd = os.open(self._folder, LISTED)
        try:
            sync_file_system(fd)
        finally:
            os.close(fd)


def _has(layer: str, path: str) -> bool:
    fd = os.open(layer, LISTED)
    try:
        with Way(fd) as way:
            folder_fd, name = way.folder_of(path)
            found = stat_of(folder_fd, name)
            return found is not None and not stat.S_ISDIR(found.st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    finally:
        os.close(fd)

"""A set of changes that is applied whole or not at all, and can be taken back the same way.

Each changed file has a slot that holds the node which is not in place: the new one before, the old
one after. To apply a change is to exchange slot and path, and to undo it is to exchange them
again. Where a set stands after a crash can be seen from its slots. Folders are made and removed.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from handrail.core.effects import Effect, Node
from handrail.core.errors import FileOperationError, StaleFileError
from handrail.core.files import EntryKind
from handrail.executors.files.rename import exchange, move_to_free_name
from handrail.executors.files.version import has_writer
from handrail.executors.rehearsal.attributes import set_xattrs
from handrail.executors.rehearsal.journal import Journal, Plan, State, sync_file_system
from handrail.executors.rehearsal.nodes import READ, is_folder, look, node_at, stat_of
from handrail.executors.rehearsal.way import LISTED, Way

_OWNER_MAY = 0o700


def find_conflicts(root_fd: int, changes: Iterable[Effect], *, forward: bool) -> Iterator[str]:
    """Every path that is not as it was left, with the reason."""
    with Way(root_fd) as way:
        for change in changes:
            expected, _ = _ends(change, forward=forward)
            try:
                found = look(way, change.path)
            except OSError as error:
                yield f"{change.path} cannot be read: {error.strerror}"
                continue
            if found != expected:
                yield f"{change.path} {_difference(expected, found)}"


def find_conflicts_back(root_fd: int, changes: Iterable[Effect]) -> Iterator[str]:
    """The same for changes that are undone one after another, also where they share paths."""
    came: dict[str, Effect] = {}
    for change in changes:
        later = came.get(change.path)
        if later is not None and later.before != change.after:
            yield f"{change.path} {_difference(change.after, later.before)}"
        came[change.path] = Effect(change.path, change.before, (later or change).after)
    yield from find_conflicts(root_fd, came.values(), forward=False)
    yield from _find_held(root_fd, came)


def _find_held(root_fd: int, changes: Mapping[str, Effect]) -> Iterator[str]:
    """Folders that would be removed and hold something that would not."""
    with Way(root_fd) as way:
        for path, change in changes.items():
            is_removed = change.before is None or change.before.kind is not EntryKind.DIRECTORY
            if change.after and change.after.kind is EntryKind.DIRECTORY and is_removed:
                fd = os.open(".", LISTED, dir_fd=way.folder(path))
                try:
                    held = {f"{path}/{name}" for name in os.listdir(fd)}
                finally:
                    os.close(fd)
                if any(one not in changes or changes[one].before for one in held):
                    yield f"{path} holds a new file"


class AppliedSet:
    """The changes of one call, on their way forward or back.

    `root_fd` is the workspace, `journal` the folder with the plan and the slots.
    """

    def __init__(self, root_fd: int, journal: Journal, plan: Plan):
        self._root_fd = root_fd
        self._journal = journal
        self.plan = plan
        steps = [step for i, change in enumerate(plan.changes) for step in _steps(i, change)]
        gone = [step for step in steps if step.change.after is None]
        rest = [step for step in steps if step.change.after is not None]
        # Deletions first, from the deepest; then the others, each folder before what it holds.
        self._order = [*sorted(gone, key=_path, reverse=True), *sorted(rest, key=_path)]

    def go(self, *, forward: bool) -> None:
        """Apply the set, or undo it. If one path conflicts, all others are brought back.

        Raises:
            StaleFileError: A path was changed meanwhile; the set is where it was before.
            FileOperationError: The file system said no; the same.
        """
        self._begin(forward=forward)
        self.go_on(forward=forward)

    def go_on(self, *, forward: bool) -> None:
        """Go the rest of a way that was begun, perhaps before a crash; raises as `go`."""
        try:
            with Way(self._root_fd) as way:
                self._cross_all(way, forward=forward)
        except (OSError, FileOperationError) as error:
            # On a full disk it goes back all the same, and after a crash it finds the conflict.
            with suppress(OSError):
                self._journal.note(State.REVERTING if forward else State.RESTORING, self.plan)
            self.go_back(forward=not forward)
            if isinstance(error, OSError):
                raise FileOperationError(f"the changes cannot be made: {error}") from error
            raise
        self._finish(State.APPLIED if forward else State.UNDONE)

    def go_back(self, *, forward: bool) -> None:
        """End where the set was before; a path that was changed meanwhile is left as it is.

        What cannot be reached, as in a folder that was moved away, stays in the journal: the next
        one who resumes tries again.
        """
        is_unreachable = False
        with Way(self._root_fd) as way:
            self._open_folders(way)
            for step in self._order if forward else reversed(self._order):
                try:
                    self._cross(way, step, forward=forward)
                except FileOperationError:
                    pass
                except OSError:
                    is_unreachable |= not step.is_of_folder
            with suppress(OSError):
                self._settle_folders(way, forward=forward)
        if forward or not is_unreachable:
            self._finish(State.APPLIED if forward else None)

    def _cross_all(self, way: Way, *, forward: bool) -> None:
        self._open_folders(way)
        for step in self._order if forward else reversed(self._order):
            self._cross(way, step, forward=forward)
        self._settle_folders(way, forward=forward)

    def _begin(self, *, forward: bool) -> None:
        """The commit point: a crash after this ends in the direction that was taken."""
        try:
            self._journal.note(State.APPLYING if forward else State.UNDOING, self.plan)
        except OSError as error:
            if forward:
                self._journal.discard()
            raise FileOperationError(f"the journal cannot be written: {error}") from error

    def _finish(self, end: State | None) -> None:
        """Write down where the set is now; None if it was never applied, so nothing is kept."""
        # All is in place. If the disk is full now, `resume` writes it down later.
        with suppress(OSError):
            sync_file_system(self._root_fd)
            if end is None:
                self._journal.discard()
                return
            self._journal.note(end, self.plan)
            if end is State.UNDONE:
                self._journal.empty()

    def _cross(self, way: Way, step: "_Step", *, forward: bool) -> None:
        """Bring one path to its other node, unless that was done before a crash."""
        path, slot = step.change.path, step.slot
        out, into = _ends(step.change, forward=forward)
        if step.is_of_folder:
            self._cross_folder(way, path, makes=into is not None)
            return
        given: os.stat_result | None = None
        if self._is_forward(step) is not forward:
            given = stat_of(self._journal.slots_fd, slot)
            self._move(way, path, slot, (out, into))
        # Seen only now: a check before the move could be too early, and a crash came in between.
        if out is not None and not self._is_in_slot(step, out):
            self._give_back(way, step, into, given)
            raise StaleFileError(f"{path} was changed meanwhile")

    def _cross_folder(self, way: Way, path: str, *, makes: bool) -> None:
        found = is_folder(way, path)
        if found is makes:
            return
        folder_fd, name = way.folder_of(path)
        try:
            if makes:
                os.mkdir(name, _OWNER_MAY, dir_fd=folder_fd)
            else:
                os.rmdir(name, dir_fd=folder_fd)
        except FileExistsError as error:
            raise StaleFileError(f"{path} was created meanwhile") from error
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            raise StaleFileError(f"{path} holds a new file") from error

    def _move(self, way: Way, path: str, slot: str, ends: tuple[Node | None, Node | None]) -> None:
        slots_fd = self._journal.slots_fd
        folder_fd, name = way.folder_of(path)
        try:
            match ends:
                case None, _:
                    move_to_free_name(slots_fd, slot, name, new_fd=folder_fd)
                case _, None:
                    move_to_free_name(folder_fd, name, slot, new_fd=slots_fd)
                case _:
                    if not exchange(slots_fd, slot, name, other_fd=folder_fd):
                        raise FileOperationError("this file system cannot exchange two files")
        except FileExistsError as error:
            raise StaleFileError(f"{path} was created meanwhile") from error
        except FileNotFoundError as error:
            raise StaleFileError(f"{path} is gone") from error

    def _give_back(
        self, way: Way, step: "_Step", ours: Node | None, given: os.stat_result | None
    ) -> None:
        """Put back what came out. If ours was saved over meanwhile, that save is the newest.

        `given` is what was put there from the slot; None where that was before a crash.
        """
        slots_fd, slot = self._journal.slots_fd, step.slot
        folder_fd, name = way.folder_of(step.change.path)
        try:
            if ours is not None and exchange(slots_fd, slot, name, other_fd=folder_fd):
                if self._is_being_written(slot) or not self._is_still(step, ours, given):
                    exchange(slots_fd, slot, name, other_fd=folder_fd)
                return
        except FileNotFoundError:
            # Ours has been removed already.
            pass
        with suppress(FileExistsError):
            move_to_free_name(slots_fd, slot, name, new_fd=folder_fd)

    def _is_still(self, step: "_Step", ours: Node, given: os.stat_result | None) -> bool:
        """Whether a slot holds what was once put in place from it."""
        if given is None:
            return self._is_in_slot(step, ours)
        found = stat_of(self._journal.slots_fd, step.slot)
        return found is not None and _is_same(found, given)

    def _is_being_written(self, slot: str) -> bool:
        """Whether a program that opened a file before it was taken away can still save into it."""
        try:
            fd = os.open(slot, READ, dir_fd=self._journal.slots_fd)
        except OSError:
            return False
        try:
            return has_writer(fd) is True
        finally:
            os.close(fd)

    def _is_in_slot(self, step: "_Step", expected: Node) -> bool:
        """Whether a slot holds what it should, and no one else can change it any more."""
        if self._is_being_written(step.slot):
            return False
        try:
            return node_at(self._journal.slots_fd, step.slot, step.change.path) == expected
        except OSError:
            return False

    def _is_forward(self, step: "_Step") -> bool:
        """On which side a file is, by its slot."""
        found = stat_of(self._journal.slots_fd, step.slot)
        if step.change.before is None:
            return found is None
        if step.change.after is None:
            return found is not None
        # What comes out of the workspace can be a file that was saved a moment ago, so only what
        # lay in the slot at the beginning is known by its inode.
        if self.plan.kept:
            return found is not None and found.st_ino == self.plan.kept[int(step.slot)]
        return found is not None and found.st_ino != self.plan.staged[int(step.slot)]

    def _open_folders(self, way: Way) -> None:
        """Let the owner change the folders that are touched."""
        for path in sorted(self.plan.folders):
            with suppress(OSError):
                here = f"/proc/self/fd/{way.folder(path)}"
                if not os.access(here, os.W_OK | os.X_OK, effective_ids=True):
                    os.chmod(here, os.stat(here).st_mode & 0o7777 | _OWNER_MAY)

    def _settle_folders(self, way: Way, *, forward: bool) -> None:
        """Give folders their modes and attributes last: one without `w` takes no more files."""
        way.forget()
        modes = dict(self.plan.modes)
        for change in self.plan.changes:
            _, into = _ends(change, forward=forward)
            if into is not None and into.kind is EntryKind.DIRECTORY:
                modes[change.path] = into.mode
        for path in sorted(modes, reverse=True):
            with suppress(FileNotFoundError, NotADirectoryError):
                here = f"/proc/self/fd/{way.folder(path)}"
                if (attributes := self.plan.attributes.get(path)) is not None:
                    set_xattrs(here, attributes[forward])
                if (owner := self.plan.owners.get(path)) is not None:
                    with suppress(PermissionError):
                        os.chown(here, *owner)
                os.chmod(here, modes[path])


class _Step(NamedTuple):
    """A change of one path; one that makes a folder of a file, or the reverse, takes two."""

    slot: str
    change: Effect

    @property
    def is_of_folder(self) -> bool:
        nodes = (self.change.before, self.change.after)
        return any(node is not None and node.kind is EntryKind.DIRECTORY for node in nodes)


def _steps(i: int, change: Effect) -> Iterator[_Step]:
    if change.is_of_folder:
        # Only its attributes change, in the end.
        return
    step = _Step(str(i), change)
    if step.is_of_folder and change.before is not None and change.after is not None:
        yield _Step(str(i), Effect(change.path, change.before, None))
        yield _Step(str(i), Effect(change.path, None, change.after))
    else:
        yield step


def _path(step: _Step) -> str:
    return step.change.path


def _ends(change: Effect, *, forward: bool) -> tuple[Node | None, Node | None]:
    """The node that a path has, and the one that it gets."""
    return (change.before, change.after) if forward else (change.after, change.before)


def _is_same(found: os.stat_result, given: os.stat_result) -> bool:
    told = [(one.st_ino, one.st_size, one.st_mtime_ns, one.st_mode) for one in (found, given)]
    return told[0] == told[1]


def _difference(expected: Node | None, found: Node | None) -> str:
    if expected is None:
        return "was created meanwhile"
    if found is None:
        return "is gone"
    if found.kind is not expected.kind:
        return f"is now a {found.kind}"
    if not found.has_content_of(expected):
        return "has other content now"
    if found.mode != expected.mode:
        return f"has other permissions now, {found.mode:04o} instead of {expected.mode:04o}"
    return "has other extended attributes or another access list now"

"""Applying the effects of a rehearsal to the workspace: exactly those that were shown.

The new contents are staged in the workspace's own `.handrail` folder: only there is the file
system surely the same, so that each file is put in place by one rename.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from handrail.core.effects import Effect, Effects, GitWeight, Node
from handrail.core.errors import FileOperationError, PathValidationError, StaleFileError
from handrail.core.files import EntryKind
from handrail.executors.rehearsal.applied import AppliedSet, find_conflicts
from handrail.executors.rehearsal.attributes import digest_of, xattrs_of
from handrail.executors.rehearsal.copies import copy_file
from handrail.executors.rehearsal.git_applying import changes_of_files, locks_for
from handrail.executors.rehearsal.git_objects import take_in_objects
from handrail.executors.rehearsal.journal import Journal, Plan, sync_file_system
from handrail.executors.rehearsal.nodes import READ, node_at
from handrail.executors.rehearsal.undo import PLACE, UndoStore
from handrail.executors.rehearsal.way import LISTED, Way
from handrail.executors.repository.index import index_to_apply, is_index

_MOST_TOLD = 5
_REWRITE = os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def apply(
    store: UndoStore,
    call: str,
    effects: Effects,
    upper_fd: int,
    objects: Sequence[tuple[str, Path]] = (),
) -> None:
    """Make the changes of a call, so that they can be undone; after a crash `resume` ends it.

    `objects` are folders of ours with the checked objects for each repository.

    Raises:
        PathValidationError: They can never be applied.
        StaleFileError: The workspace was changed since or during the rehearsal; it is left as is.
        FileOperationError: The file system said no; nothing was changed.
    """
    if effects.refusals:
        raise PathValidationError("; ".join(effects.refusals[:_MOST_TOLD]))
    if effects.stale:
        told = ", ".join(effects.stale[:_MOST_TOLD])
        raise StaleFileError(f"changed by others during the rehearsal: {told}")
    if refused := [note for note in effects.git.notes if note.weight is GitWeight.REFUSED]:
        raise PathValidationError("; ".join(note.words for note in refused[:_MOST_TOLD]))
    if effects.is_empty:
        return
    if any(change.path.split("/")[0] == PLACE[0] for change in effects.changes):
        raise PathValidationError(f"{PLACE[0]} is Handrail's own")
    with store.opened():
        store.resume()
        _take_in(store, effects, objects)
        changes = (*effects.changes, *changes_of_files(effects.git))
        locks = tuple(locks_for(changes, effects.git))
        with store.new_journal(call) as journal:
            plan = Plan(call, store.now(), tuple(sorted(changes, key=_path)), locks=locks)
            applied = _prepare(store, plan, journal, upper_fd)
            try:
                applied.go(forward=True)
            finally:
                journal.unlock()
        store.prune(keep=call)


def _take_in(store: UndoStore, effects: Effects, objects: Sequence[tuple[str, Path]]) -> None:
    """Objects come first. Until a ref names them, nothing has changed for anybody."""
    try:
        for git, folder in objects:
            if git in effects.git.repositories:
                take_in_objects(store.root_fd, git, folder)
    except OSError as error:
        raise FileOperationError(f"git's objects cannot be added: {error}") from error


def _prepare(store: UndoStore, plan: Plan, journal: Journal, upper_fd: int) -> AppliedSet:
    """Stage everything and write the plan; until now nothing but the journal has changed."""
    try:
        journal.lock(plan.locks_to_take(forward=True))
        conflicts = find_conflicts(store.root_fd, plan.changes, forward=True)
        if conflict := next(conflicts, None):
            raise StaleFileError(conflict)
        staged = _Staging(store.root_fd, upper_fd, journal.slots_fd).stage_all(plan)
        journal.write_plan(staged)
        sync_file_system(store.root_fd)
    except (FileNotFoundError, NotADirectoryError) as error:
        journal.discard()
        raise StaleFileError(f"{error.filename} is gone") from error
    except OSError as error:
        journal.discard()
        raise FileOperationError(f"the changes cannot be prepared: {error}") from error
    except BaseException:
        journal.discard()
        raise
    return AppliedSet(store.root_fd, journal, staged)


class _Staging:
    """Copies each new node from the upper layer into its slot."""

    def __init__(self, root_fd: int, upper_fd: int, slots_fd: int):
        self._root = Way(root_fd)
        self._upper = Way(upper_fd)
        self._slots_fd = slots_fd

    def stage_all(self, plan: Plan) -> Plan:
        with self._root, self._upper:
            staged = tuple(self._stage(str(i), change) for i, change in enumerate(plan.changes))
            # Also of folders that have none: a new one may inherit some.
            attributes = {
                change.path: (
                    _folder_xattrs(self._root, change.path, change.before),
                    _folder_xattrs(self._upper, change.path, change.after),
                )
                for change in plan.changes
                if _has_folder(change)
            }
            return replace(
                plan,
                staged=staged,
                attributes=attributes,
                modes=self._modes(plan.folders - {change.path for change in plan.changes}),
                owners=self._owners(plan.changes),
            )

    def _stage(self, slot: str, change: Effect) -> int:
        """Make the new node; its inode tells it from the old one after a crash."""
        if change.after is None or change.after.kind is EntryKind.DIRECTORY:
            return 0
        match change.after.kind:
            case EntryKind.FILE:
                self._stage_file(slot, change, change.after)
            case EntryKind.LINK:
                os.symlink(change.after.target, slot, dir_fd=self._slots_fd)
                when = change.after.modified_ns
                os.utime(slot, ns=(when, when), dir_fd=self._slots_fd, follow_symlinks=False)
            case _:
                raise PathValidationError(f"{change.path} is a special file")
        return os.stat(slot, dir_fd=self._slots_fd, follow_symlinks=False).st_ino

    def _stage_file(self, slot: str, change: Effect, after: Node) -> None:
        folder_fd, name = self._upper.folder_of(change.path)
        copy_file(folder_fd, name, self._slots_fd, slot)
        if is_index(change.path):
            self._give_known_times(slot, change)
        if node_at(self._slots_fd, slot, change.path) != after:
            raise StaleFileError(f"the rehearsal's copy of {change.path} has changed")
        self._give_owner(slot, change)

    def _give_known_times(self, slot: str, change: Effect) -> None:
        """Of files that stay staged as they are, the workspace's index knows the times."""
        before = None
        if change.before is not None:
            folder_fd, name = self._root.folder_of(change.path)
            before = _content(folder_fd, name)
        index = index_to_apply(before, _content(self._slots_fd, slot))
        fd = os.open(slot, _REWRITE, dir_fd=self._slots_fd)
        with os.fdopen(fd, "wb") as file:
            file.write(index)

    def _give_owner(self, slot: str, change: Effect) -> None:
        """A file that replaces another keeps its owner, as far as we may say so."""
        if change.before is None:
            return
        folder_fd, name = self._root.folder_of(change.path)
        old = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                os.chown(
                    *(slot, old.st_uid, old.st_gid), dir_fd=self._slots_fd, follow_symlinks=False
                )

    def _owners(self, changes: Iterable[Effect]) -> dict[str, tuple[int, int]]:
        """The owners of folders that are there and not ours."""
        owners: dict[str, tuple[int, int]] = {}
        for change in changes:
            if change.before is not None and change.before.kind is EntryKind.DIRECTORY:
                found = os.stat(f"/proc/self/fd/{self._root.folder(change.path)}")
                if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                    owners[change.path] = found.st_uid, found.st_gid
        return owners

    def _modes(self, folders: set[str]) -> dict[str, int]:
        """The modes of folders that must be opened for the time of the change."""
        modes: dict[str, int] = {}
        for path in sorted(folders):
            here = f"/proc/self/fd/{self._root.folder(path)}"
            if not os.access(here, os.W_OK | os.X_OK, effective_ids=True):
                modes[path] = os.stat(here).st_mode & 0o7777
        return modes


def _content(folder_fd: int, name: str) -> bytes:
    with os.fdopen(os.open(name, READ, dir_fd=folder_fd), "rb") as file:
        return file.read()


def _path(change: Effect) -> str:
    return change.path


def _has_folder(change: Effect) -> bool:
    nodes = (change.before, change.after)
    return any(node is not None and node.kind is EntryKind.DIRECTORY for node in nodes)


def _folder_xattrs(way: Way, path: str, node: Node | None) -> dict[str, bytes]:
    if node is None or node.kind is not EntryKind.DIRECTORY:
        return {}
    fd = os.open(".", LISTED, dir_fd=way.folder(path))
    try:
        found = xattrs_of(fd)
    finally:
        os.close(fd)
    if digest_of(found) != node.xattrs:
        raise StaleFileError(f"the attributes of {path} have changed")
    return found

"""The before-image of one change of a file tool, kept in a journal around it."""

import os
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from handrail.core.effects import Effect, Node
from handrail.executors.rehearsal.copies import copy_file
from handrail.executors.rehearsal.journal import Journal, Plan, State
from handrail.executors.rehearsal.nodes import look, node_at
from handrail.executors.rehearsal.way import Way

_NO_INODE = -1


class FileChange(NamedTuple):
    """A path that gets the content `sha256`, or is removed where that is empty.

    A file that is moved comes from `source`.
    """

    path: str
    sha256: str = ""
    source: str = ""


def plan_change(root_fd: int, journal: Journal, call: str, change: FileChange, at: float) -> Plan:
    """Copy the files that go into the journal, and name the folders that will be made."""
    with Way(root_fd) as way:
        missing = _missing_folders(way, change.path)
        before = None if missing else _keep(way, journal, change.path, "0")
        effects = [Effect(change.path, before)]
        if change.source:
            effects.append(Effect(change.source, _keep(way, journal, change.source, "1")))
    effects += map(Effect, missing)
    # The slots hold the old nodes from the beginning.
    staged = (_NO_INODE,) * len(effects)
    return Plan(call, at, tuple(effects), staged, expected=change.sha256)


def settle_change(root_fd: int, journal: Journal, plan: Plan) -> bool:
    """See whether a recorded change was made, and forget it if it was not."""
    with Way(root_fd) as way:
        nodes = [look(way, change.path) for change in plan.changes]
    if not _is_made(plan, nodes):
        journal.discard()
        return False
    changes = tuple(
        replace(change, after=node) for change, node in zip(plan.changes, nodes, strict=True)
    )
    plan = replace(plan, changes=changes)
    journal.write_plan(plan)
    journal.note(State.APPLIED, plan)
    return True


def _is_made(plan: Plan, nodes: list[Node | None]) -> bool:
    """Whether the first path has what was expected, and the source of a move is gone."""
    found = nodes[0] and nodes[0].sha256
    rest = zip(plan.changes[1:], nodes[1:], strict=True)
    is_gone = all(node is None for change, node in rest if change.before is not None)
    return found == (plan.expected or None) and is_gone


def _missing_folders(way: Way, path: str) -> list[str]:
    missing: list[str] = []
    folder = path
    while folder := folder.rpartition("/")[0]:
        with suppress(FileNotFoundError):
            way.folder(folder)
            break
        missing.insert(0, folder)
    return missing


def _keep(way: Way, journal: Journal, path: str, slot: str) -> Node | None:
    folder_fd, name = way.folder_of(path)
    node = node_at(folder_fd, name)
    if node is not None:
        copy_file(folder_fd, name, journal.slots_fd, slot)
        if node.has_special_bits and _owner(folder_fd, name) == _owner(journal.slots_fd, slot):
            os.chmod(slot, node.mode, dir_fd=journal.slots_fd)
    return node


def _owner(folder_fd: int, name: str) -> tuple[int, int]:
    found = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    return found.st_uid, found.st_gid

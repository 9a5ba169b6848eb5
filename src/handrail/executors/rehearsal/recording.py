"""The before-image of one write, kept in a journal around it."""

from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from handrail.core.effects import Effect
from handrail.executors.rehearsal.copies import copy_file
from handrail.executors.rehearsal.journal import Journal, Plan, State
from handrail.executors.rehearsal.nodes import look, node_at
from handrail.executors.rehearsal.way import Way

_NO_INODE = -1


class Write(NamedTuple):
    """A write of a call that gives a path the content `sha256`."""

    call: str
    path: str
    sha256: str
    at: float


def plan_write(root_fd: int, journal: Journal, write: Write) -> Plan:
    """Copy the file into the journal, and name the folders that the write will make."""
    with Way(root_fd) as way:
        missing: list[str] = []
        folder = write.path
        while folder := folder.rpartition("/")[0]:
            with suppress(FileNotFoundError):
                way.folder(folder)
                break
            missing.insert(0, folder)
        before = None
        if not missing:
            folder_fd, name = way.folder_of(write.path)
            before = node_at(folder_fd, name)
            if before is not None:
                copy_file(folder_fd, name, journal.slots_fd, "0")
    changes = (Effect(write.path, before), *(Effect(folder) for folder in missing))
    # The slot holds the old node from the beginning.
    staged = (_NO_INODE,) * len(changes)
    return Plan(write.call, write.at, changes, staged, expected=write.sha256)


def settle_write(root_fd: int, journal: Journal, plan: Plan) -> bool:
    """See whether a recorded write was made, and forget it if it was not."""
    with Way(root_fd) as way:
        nodes = [look(way, change.path) for change in plan.changes]
    if nodes[0] is None or nodes[0].sha256 != plan.expected:
        journal.discard()
        return False
    changes = tuple(
        replace(change, after=node) for change, node in zip(plan.changes, nodes, strict=True)
    )
    plan = replace(plan, changes=changes)
    journal.write_plan(plan)
    journal.note(State.APPLIED, plan)
    return True

"""What is written beside the layers of a draft: of each step its effects, of the draft its session.

A draft that cannot be read is refused by itself; others are not affected.
"""

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handrail.core.draft import DraftStep
from handrail.core.effects import Node
from handrail.core.errors import DraftDamaged
from handrail.core.files import EntryKind
from handrail.executors.files.removal import remove
from handrail.executors.rehearsal.way import LISTED

VERSION = 1
LAYER = "layer"
STEPS = "steps"
# How the names of folders begin in which a draft is read beside its client.
READING = "read-"
_UNREADABLE = "a step of the damaged part"
# Equal to nothing that a workspace can have.
_UNKNOWN = Node(EntryKind.OTHER, sha256="unknown")
_STEP, _SESSION, _NEW = "step.json", "session.json", "session.new"


@dataclass(frozen=True, slots=True)
class StoredDraft:
    """A draft as it is on disk; `trouble` says why a step, and those after it, cannot be read.

    `used_at` is when a call of its session last used it, and `count` how many steps it has, those
    that cannot be read among them.
    """

    folder: Path
    session_id: str
    used_at: float
    count: int
    steps: tuple[DraftStep, ...]
    trouble: str = ""


def step_name(number: int) -> str:
    return f"{number:08d}"


def write_step(folder: Path, step: DraftStep) -> None:
    text = json.dumps({"version": VERSION, **step.as_json()})
    (folder / _STEP).write_text(text, encoding="utf-8")


def read_steps(folder: Path) -> tuple[list[DraftStep], str]:
    """The steps of the draft in a folder, and why the next one cannot be read, if that is so."""
    steps: list[DraftStep] = []
    for name in sorted(os.listdir(folder / STEPS)):
        try:
            steps.append(_read_step(folder / STEPS / name))
        except DraftDamaged as error:
            return steps, error.message
    return steps, ""


def first_before(steps: Iterable[DraftStep]) -> dict[str, Node | None]:
    """What each path that steps have changed or merged was in the workspace at that time."""
    found: dict[str, Node | None] = {}
    for step in steps:
        for change in step.changes:
            was = _UNKNOWN if change.path in step.uncertain else change.before
            found.setdefault(change.path, was)
        found |= dict(step.merged)
    return found


def note_session(folder: Path, session_id: str) -> None:
    """Write down whose draft lies in a folder, and that it is used now."""
    file = folder / _SESSION
    try:
        os.utime(file)
    except FileNotFoundError:
        aside = folder / _NEW
        aside.write_text(json.dumps(session_id), encoding="utf-8")
        aside.rename(file)


def used_at_of(folder: Path) -> float:
    return (folder / _SESSION).stat().st_mtime


def find_draft(folder: Path) -> StoredDraft | None:
    """The draft in a folder; None if no session is known that could use it."""
    try:
        session_id = str(json.loads((folder / _SESSION).read_bytes()))
        used_at = used_at_of(folder)
        names = os.listdir(folder / STEPS)
    except (OSError, ValueError):
        return None
    steps, trouble = read_steps(folder)
    if trouble and os.listdir(folder / STEPS) != names:
        # Its client has removed steps meanwhile.
        return find_draft(folder)
    return StoredDraft(folder, session_id, used_at, len(names), tuple(steps), trouble)


def remove_steps(folder: Path, first: int) -> list[DraftStep]:
    """Remove the steps of a damaged draft from the `first` on."""
    readable = {step.number: step for step in read_steps(folder)[0]}
    gone: list[DraftStep] = []
    # A folded layer may hold what is removed; it is only a cache.
    shutil.rmtree(folder / "folded", ignore_errors=True)
    for name in sorted(os.listdir(folder / STEPS), reverse=True):
        number = int(name) if name.isdecimal() else first
        if number >= first:
            fd = os.open(folder / STEPS, LISTED)
            try:
                remove(fd, name)
            finally:
                os.close(fd)
            gone.append(readable.get(number, DraftStep(number, "", _UNREADABLE, 0.0, ())))
    return gone[::-1]


def damage_of(session_id: str, folder: Path, why: str | None) -> DraftDamaged:
    """The error for the calls of a session whose draft cannot be read."""
    return DraftDamaged(
        f"the draft of session {session_id} cannot be read: {why}. It lies in {folder}; "
        f"`handrail drafts discard {session_id}` removes it"
    )


def _read_step(folder: Path) -> DraftStep:
    number = folder.name.lstrip("0")
    try:
        told: dict[str, Any] = json.loads((folder / _STEP).read_bytes())
        if told["version"] != VERSION:
            raise DraftDamaged(
                f"step {number} has the format {told['version']!r}, which this version of "
                "Handrail does not know"
            )
        step = DraftStep.from_json(told)
    except OSError as error:
        raise DraftDamaged(f"step {number} has no record: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DraftDamaged(f"the record of step {number} is damaged") from error
    if step_name(step.number) != folder.name or not (folder / LAYER).is_dir():
        raise DraftDamaged(f"the files of step {number} are missing")
    return step

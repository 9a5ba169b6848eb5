"""The drafts of a workspace on this machine, for its person: exact bytes, past server and agent."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from handrail.app.config import Config
from handrail.app.home import Credentials, Home
from handrail.app.policy_files import WorkspacePolicy
from handrail.core.draft import DraftSummary
from handrail.core.errors import BadInput, SetupError, ToolError
from handrail.executors.drafts.copying import copy_draft
from handrail.executors.drafts.listing import StoredDrafts, summary_of
from handrail.executors.drafts.patch import write_patch
from handrail.executors.drafts.reading import EXPORTED, ReadDraft, reading


class Taken(NamedTuple):
    """How much was taken out of a draft. What it changes in git's data was not, and is counted."""

    steps: int
    files: int
    git_changes: int


def list_drafts(home: Home, credentials: Credentials) -> list[DraftSummary]:
    """The drafts on this machine, also while no client runs."""
    age = Config(home).draft_age()
    stored = StoredDrafts(_folder(home, credentials)).list()
    return [summary_of(draft, age) for draft in stored]


def export_draft(
    home: Home, credentials: Credentials, wanted: str, steps: int | None, output: BinaryIO
) -> Taken:
    """Write a draft as a patch.

    Raises:
        BadInput: No session with a draft on this machine ends like this, or more than one.
        SetupError: It cannot be read or written; the words say why.
    """
    with _reading(home, credentials, wanted, steps) as read:
        return _taken(read, write_patch(read.summed, output))


def open_draft(
    home: Home, credentials: Credentials, wanted: str, steps: int | None, target: Path
) -> Taken:
    """Copy the workspace as a draft shows it to a new folder.

    Raises:
        BadInput: Likewise.
        SetupError: Likewise.
    """
    rules = WorkspacePolicy(home, Path(credentials.workspace)).rules
    with _reading(home, credentials, wanted, steps) as read:
        files = copy_draft(
            read.summed, target, lambda path: bool(rules.judge_path(path, writing=False))
        )
        return _taken(read, files)


def _folder(home: Home, credentials: Credentials) -> Path:
    """Where the client of a workspace keeps its drafts."""
    return home.path / "drafts" / home.journal_folder(credentials).name


@contextmanager
def _reading(
    home: Home, credentials: Credentials, wanted: str, steps: int | None
) -> Generator[ReadDraft]:
    stored = StoredDrafts(_folder(home, credentials)).list()
    fitting = [one for one in stored if one.session_id.endswith(wanted)]
    if len(fitting) != 1:
        number = "no draft" if not fitting else "more than one draft"
        raise BadInput(f"this machine has {number} of a session whose id ends in {wanted!r}")
    try:
        root = os.path.realpath(credentials.workspace)
        with reading(fitting[0].folder, root, steps, bounds=EXPORTED) as read:
            if read.summed.effects.refusals:
                raise SetupError("; ".join(read.summed.effects.refusals))
            yield read
    except ToolError as error:
        raise SetupError(error.message) from error


def _taken(read: ReadDraft, files: int) -> Taken:
    told = read.told
    return Taken(len(told.steps), files, len(told.effects.git.changes))

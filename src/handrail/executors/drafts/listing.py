"""The drafts on a machine in short, read from disk beside whatever works on them."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from handrail.core.draft import DraftSummary
from handrail.executors.drafts.records import STEPS, StoredDraft, find_draft, used_at_of

_Stamp = tuple[int, tuple[str, ...]]


class StoredDrafts:
    """The drafts below a folder; those that have not changed are not read again."""

    def __init__(self, base: Path):
        self._base = base
        self._known: dict[Path, tuple[_Stamp, StoredDraft]] = {}

    def list(self) -> list[StoredDraft]:
        """Those that have a step; a folder whose session is not known is left out."""
        self._known = {
            folder: known
            for folder in sorted(self._base.glob("*/"))
            if (known := self._look(folder)) is not None
        }
        return [draft for _, draft in self._known.values() if draft.count]

    def _look(self, folder: Path) -> tuple[_Stamp, StoredDraft] | None:
        try:
            stamp, used_at = _stamp_of(folder), used_at_of(folder)
        except OSError:
            return None
        known = self._known.get(folder)
        if known is not None and known[0] == stamp:
            return stamp, replace(known[1], used_at=used_at)
        found = find_draft(folder)
        return None if found is None else (stamp, found)


def summary_of(draft: StoredDraft, age: timedelta) -> DraftSummary:
    """A draft in short; it expires if it is not used for that long."""
    sizes = {
        change.path: 0 if change.after is None else change.after.size
        for step in draft.steps
        for change in step.changes
        if ".git" not in change.path.split("/")
    }
    last_at = datetime.fromtimestamp(draft.used_at, UTC)
    began_at = datetime.fromtimestamp(draft.steps[0].at, UTC) if draft.steps else last_at
    return DraftSummary(
        draft.session_id,
        draft.count,
        len(sizes),
        sum(sizes.values()),
        began_at,
        last_at,
        last_at + age,
        draft.trouble,
    )


def _stamp_of(folder: Path) -> _Stamp:
    steps = folder / STEPS
    return steps.stat().st_mtime_ns, tuple(sorted(os.listdir(steps)))

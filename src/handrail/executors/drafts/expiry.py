"""Drafts that were not used for long: each is exported as a patch, and removed after that."""

import asyncio
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from handrail.core.draft import DraftExpired, DraftStep, DraftSummary
from handrail.core.errors import ToolError
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.listing import StoredDrafts, summary_of
from handrail.executors.drafts.patch import write_patch
from handrail.executors.drafts.reading import EXPORTED, reading
from handrail.executors.drafts.records import StoredDraft

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_MOST_NAME_CHARS = 60

log = structlog.get_logger(__name__)


class ExpiringDrafts:
    """The drafts of one client as it tells about them, and where expired ones are exported to."""

    def __init__(
        self,
        drafts: ClientDrafts,
        base: Path,
        root: str,
        exports: Path,
        age: Callable[[], timedelta],
    ):
        """Drafts below `base` expire if they are not used for the `age` that is set now."""
        self._age = age
        self._drafts = drafts
        self._stored = StoredDrafts(base)
        self._root = root
        self._exports = exports

    def list_all(self) -> list[DraftSummary]:
        """The drafts in short; for a thread."""
        age = self._age()
        return [summary_of(draft, age) for draft in self._stored.list()]

    async def expire(self) -> None:
        """Export and remove drafts that were not used for too long.

        One that cannot be exported stays.
        """
        age = self._age()
        last = time.time() - age.total_seconds()
        for draft in await asyncio.to_thread(self._stored.list):
            if draft.used_at >= last:
                continue
            try:
                patch, known = await asyncio.to_thread(self._export, draft)
                why = f"The draft was not used for {age.days:,} days and has expired"
                gone = await self._drafts.discard(
                    draft.session_id, 1, f"{why}; it is saved as {patch}", known
                )
                if not gone:
                    _forget(patch)
            except (ToolError, OSError) as error:
                log.warning("draft.not_expired", session=draft.session_id, why=str(error))

    def expired(self) -> list[DraftExpired]:
        """Those that the server has not been told about; for a thread."""
        found: list[DraftExpired] = []
        for file in sorted(self._exports.glob("*.json")):
            with suppress(OSError, ValueError, TypeError):
                found.append(DraftExpired(**json.loads(file.read_bytes())))
        return found

    def forget_expired(self, expired: Sequence[DraftExpired]) -> None:
        """The server has been told about them; the patches stay."""
        for one in expired:
            _record_of(Path(one.patch)).unlink(missing_ok=True)

    def _export(self, draft: StoredDraft) -> tuple[Path, tuple[DraftStep, ...]]:
        self._exports.mkdir(0o700, parents=True, exist_ok=True)
        safe = _UNSAFE.sub("-", draft.session_id)[:_MOST_NAME_CHARS]
        stem = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{safe}"
        patch, aside = self._exports / f"{stem}.patch", self._exports / f"{stem}.new"
        with reading(draft.folder, self._root, None, bounds=EXPORTED) as read:
            if read.told.why_not:
                raise ToolError(read.told.why_not)
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as output:
                files = write_patch(read.summed, output)
                os.fsync(output.fileno())
            expired = DraftExpired(draft.session_id, len(read.known), files, str(patch))
        aside.rename(patch)
        _record_of(patch).write_text(json.dumps(expired._asdict()), encoding="utf-8")
        return patch, read.known


def _record_of(patch: Path) -> Path:
    return patch.with_suffix(".json")


def _forget(patch: Path) -> None:
    """A call has used the draft meanwhile, so it was not removed."""
    for file in (_record_of(patch), patch):
        file.unlink(missing_ok=True)

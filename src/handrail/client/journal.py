"""Journal: what this machine has begun and how it ended, kept on disk until the server knows.

One small file for each call that changes something, so that whatever kills this process, the
next one can tell what was never begun from what may have been done.
"""

import asyncio
import json
import os
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import structlog

from handrail.core.errors import FileOperationError

# A call that was never begun and not offered again by then is not waited for any more.
_MOST_CLAIM_SECONDS = 24 * 3600

log = structlog.get_logger(__name__)


class Stage(StrEnum):
    CLAIMING = "claiming"
    BEGUN = "begun"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Entry:
    """How far a call has come here; `report` is what the server is still to be told."""

    tool_id: str
    stage: Stage
    report: dict[str, Any] | None = None


class Journal:
    def __init__(self, folder: Path):
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._entries = {entry.tool_id: entry for entry in self._read_all()}
        except OSError as error:
            raise FileOperationError(f"the journal in {folder} cannot be read: {error}") from error

    @property
    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def find(self, tool_id: str) -> Entry | None:
        return self._entries.get(tool_id)

    def note_claim(self, tool_id: str) -> None:
        """Before the right to begin is asked for. Lost in a power cut, it is missed by nobody."""
        self._write(Entry(tool_id, Stage.CLAIMING), lasting=False)

    async def begin(self, tool_id: str) -> None:
        """Before anything is touched: from here on, nobody but us can know the outcome."""
        await asyncio.to_thread(self._write, Entry(tool_id, Stage.BEGUN), lasting=True)

    async def finish(self, tool_id: str, report: dict[str, Any]) -> None:
        """Before the server is told, so that it is told also by whoever comes after us."""
        await asyncio.to_thread(self._write, Entry(tool_id, Stage.FINISHED, report), lasting=True)

    def forget(self, tool_id: str) -> None:
        """The server knows, or the call was never ours."""
        if self._entries.pop(tool_id, None) is None:
            return
        try:
            self._file(tool_id).unlink(missing_ok=True)
        except OSError as error:
            # It will be told once more after the next start, which harms nobody.
            log.error("journal.failed", execution=tool_id, error=str(error))

    def _write(self, entry: Entry, *, lasting: bool) -> None:
        """Write aside, then rename: a crash leaves the old words or the new, never half."""
        file = self._file(entry.tool_id)
        aside = file.with_suffix(".new")
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                json.dump(asdict(entry), stream)
                if lasting:
                    stream.flush()
                    os.fsync(stream.fileno())
            aside.replace(file)
            if lasting:
                _sync_folder(self._folder)
        except OSError as error:
            reason = f"this machine's journal cannot be written: {error.strerror}"
            raise FileOperationError(reason) from error
        self._entries[entry.tool_id] = entry

    def _file(self, tool_id: str) -> Path:
        # The id comes from outside and is no name for a file.
        return self._folder / f"{sha256(tool_id.encode()).hexdigest()[:32]}.json"

    def _read_all(self) -> list[Entry]:
        for aside in self._folder.glob("*.new"):
            if _is_old(aside):
                aside.unlink()
        found: list[Entry] = []
        for file in sorted(self._folder.glob("*.json")):
            entry = _read(file)
            if entry is None or (entry.stage is Stage.CLAIMING and _is_old(file)):
                file.unlink()
            else:
                found.append(entry)
        return found


def _read(file: Path) -> Entry | None:
    """What a file says, if we have written it. Only a claim may be lost, and it begins nothing."""
    try:
        entry = msgspec.convert(json.loads(file.read_bytes()), Entry)
    except (ValueError, RecursionError):
        entry = None
    if entry is None or not _is_ours(entry):
        log.warning("journal.unreadable", file=file.name)
        return None
    return entry


def _is_ours(entry: Entry) -> bool:
    if entry.stage is not Stage.FINISHED:
        return entry.report is None
    return entry.report is not None and entry.report.get("tool_id") == entry.tool_id


def _is_old(file: Path) -> bool:
    return time.time() - file.stat().st_mtime > _MOST_CLAIM_SECONDS


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

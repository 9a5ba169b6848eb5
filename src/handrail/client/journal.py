"""Journal: what this machine has begun and how it ended, kept on disk until the server knows.

One small file for each call that changes something, so that whatever kills this process, the
next one can tell what was never begun from what may have been done.
"""

import asyncio
import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import structlog

from handrail.core.errors import FileOperationError

# A call that was never begun and not offered again by then is not waited for any more.
_MOST_CLAIM_SECONDS = 24 * 3600
# What lies aside for longer was left there by a crash.
_MOST_ASIDE_SECONDS = 60

log = structlog.get_logger(__name__)


class Stage(StrEnum):
    CLAIMING = "claiming"
    BEGUN = "begun"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Entry:
    """How far a call has come here; `report` is what the server is still to be told.

    `expected` is the report on a call that was begun, if all of its effects are in the workspace.
    `key` is what a claim is made with: it tells this machine from another with its credentials.
    """

    tool_id: str
    stage: Stage
    report: dict[str, Any] | None = None
    expected: dict[str, Any] | None = None
    key: str = field(default="", compare=False, repr=False)


def agents_socket(journal: Path) -> Path:
    """Where the client with the journal in this folder takes orders for programs in drafts."""
    return journal.parent.parent / "agents" / journal.name


class Journal:
    def __init__(self, folder: Path):
        self._folder = folder
        try:
            # Each for itself: the mode does not count for parents that are made on the way.
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            self._entries = {entry.tool_id: entry for entry in self._read_all()}
        except OSError as error:
            why = error.strerror or error
            raise FileOperationError(f"the journal in {folder} cannot be read: {why}") from error

    @property
    def rehearsals(self) -> Path:
        """The folder for what rehearsals of this client leave, beside those of other clients."""
        return self._folder.parent.parent / "rehearsals" / self._folder.name

    @property
    def drafts(self) -> Path:
        """The folder for the drafts of this client, which outlive it."""
        return self._folder.parent.parent / "drafts" / self._folder.name

    @property
    def agents(self) -> Path:
        """The socket at which this client takes orders to run programs in drafts."""
        return agents_socket(self._folder)

    @property
    def expired_drafts(self) -> Path:
        """The folder for patches of the drafts of this client that have expired."""
        return self._folder.parent.parent / "expired-drafts" / self._folder.name

    @property
    def mirrors(self) -> Path:
        """The folder for mirrors of git's remotes, the same for all workspaces."""
        return self._folder.parent.parent / "remotes"

    @property
    def undo_key(self) -> Path:
        """The file of the key that seals what is kept for undo, the same for all workspaces."""
        return self._folder.parent / "undo.key"

    @property
    def keeper(self) -> str:
        """A name for whoever keeps this journal, the same in every life."""
        return sha256(os.fsencode(self._folder.absolute())).hexdigest()[:16]

    @property
    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def find(self, tool_id: str) -> Entry | None:
        return self._entries.get(tool_id)

    def note_claim(self, tool_id: str) -> str:
        """Before the right to begin is asked for; gives the key to ask with.

        Lost in a power cut, it is missed by nobody.
        """
        entry = self._entries.get(tool_id)
        if entry is None:
            entry = Entry(tool_id, Stage.CLAIMING, key=secrets.token_hex(16))
            self._write(entry, lasting=False)
        return entry.key

    async def begin(self, tool_id: str, expected: dict[str, Any] | None = None) -> None:
        """Before anything is touched: from here on, only this machine can know the outcome."""
        entry = Entry(tool_id, Stage.BEGUN, expected=expected)
        await asyncio.to_thread(self._write, entry, lasting=True)

    async def finish(self, tool_id: str, report: dict[str, Any]) -> None:
        """Before the server is told, so that it is told also by whoever comes after us."""
        await asyncio.to_thread(self.finish_now, tool_id, report)

    def finish_now(self, tool_id: str, report: dict[str, Any]) -> None:
        """The same, where there is no time left to wait."""
        self._write(Entry(tool_id, Stage.FINISHED, report), lasting=True)

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
            with suppress(OSError):
                aside.unlink(missing_ok=True)
            reason = f"this machine's journal cannot be written: {error.strerror}"
            raise FileOperationError(reason) from error
        self._entries[entry.tool_id] = entry

    def _file(self, tool_id: str) -> Path:
        # The id comes from outside and is no name for a file.
        return self._folder / f"{sha256(tool_id.encode()).hexdigest()[:32]}.json"

    def _read_all(self) -> list[Entry]:
        for aside in self._folder.glob("*.new"):
            if _age(aside) > _MOST_ASIDE_SECONDS:
                aside.unlink()
        found: list[Entry] = []
        for file in sorted(self._folder.glob("*.json")):
            entry = _read(file)
            if entry is None or _is_stale(entry, file):
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


def _is_stale(entry: Entry, file: Path) -> bool:
    return entry.stage is Stage.CLAIMING and _age(file) > _MOST_CLAIM_SECONDS


def _is_ours(entry: Entry) -> bool:
    if entry.stage is not Stage.FINISHED:
        return entry.report is None
    return entry.report is not None and entry.report.get("tool_id") == entry.tool_id


def _age(file: Path) -> float:
    return time.time() - file.stat().st_mtime


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""A Handrail folder that can be grown, backed up and restored."""

import asyncio
import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from handrail.app.audit import Verification, verify
from handrail.app.backup.make import Made, make_backup
from handrail.app.backup.restore import Prepared, prepare_restore
from handrail.app.clock import SystemClock
from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.storage import open_checkpoints, open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.ids import ProjectId
from handrail.plane.sealing import Sealer


def quiet(step: str, done: int, total: int) -> None:
    """Progress that is not shown."""


class Kept:
    """A folder with one project, whose chain grows and is sealed when it is told to."""

    def __init__(self, home: Home, project_id: str, folder: Path):
        self.home = home
        self.project_id = ProjectId(project_id)
        self.folder = folder

    def grow(self, lines: int, *records: AuditRecord) -> None:
        asyncio.run(self._grow(lines, records))

    async def _grow(self, lines: int, records: tuple[AuditRecord, ...]) -> None:
        async with open_store(self.home, LocalBus()) as store:
            for number in range(lines):
                line = AuditRecord("did", "ada", f"thing-{number}")
                await store.submit(Change(self.project_id, SystemClock().now(), (), (), (line,)))
            for line in records:
                await store.submit(Change(self.project_id, SystemClock().now(), (), (), (line,)))
            await Sealer(store, SystemClock(), open_checkpoints(self.home)).seal_all()

    def back_up(self, name: str) -> Made:
        return make_backup(self.home, self.folder / name, quiet)

    def restore(self, made: Made) -> tuple[Prepared, Path | None]:
        with prepare_restore(self.home, made.file, quiet) as prepared:
            return prepared, prepared.commit()

    def verify(self) -> Verification:
        return asyncio.run(verify(self.home, self.project_id))

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        opened = sqlite3.connect(self.home.database)
        try:
            with opened:
                return opened.execute(statement, values).fetchall()
        finally:
            opened.close()

    def add_blob(self, content: bytes) -> Path:
        sha256 = hashlib.sha256(content).hexdigest()
        blob = self.home.path / "blobs" / self.project_id / sha256
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        self.rows(
            "INSERT INTO blob_holds VALUES (?, ?, ?, 'exe_1', 'result', 1)",
            self.project_id, sha256, len(content),
        )  # fmt: skip
        return blob


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Four lines, sealed at 1 and 4."""
    home, workspace = Home(tmp_path / "home"), tmp_path / "workspace"
    workspace.mkdir()

    async def settle() -> str:
        async with open_store(home, LocalBus()) as store:
            known = await enrol(store, SystemClock(), home, workspace, "http://127.0.0.1:1")
        return known.project_id

    made = Kept(home, asyncio.run(settle()), tmp_path)
    made.grow(3)
    return made

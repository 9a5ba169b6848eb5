"""A backup is consistent while a server writes, and holds what its manifest says."""

import asyncio
import threading
from pathlib import Path

import pytest

from handrail.app.backup.archive import read_archive
from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.errors import SetupError
from tests.app.backup.conftest import Kept


def test_a_backup_under_load_is_consistent_and_verifies(kept: Kept) -> None:
    # Enough pages that the copy takes several steps.
    padding = "x" * 1_000_000
    kept.grow(0, *(AuditRecord("did", "ada", "large", {"text": padding}) for _ in range(12)))
    stop, written = threading.Event(), [0]
    began = threading.Event()

    async def write() -> None:
        async with open_store(kept.home, LocalBus()) as store:
            while not stop.is_set():
                line = AuditRecord("did", "ada", "thing")
                await store.submit(Change(kept.project_id, SystemClock().now(), (), (), (line,)))
                written[0] += 1
                began.set()

    writer = threading.Thread(target=lambda: asyncio.run(write()))
    writer.start()
    try:
        assert began.wait(60)
        before = written[0]
        made = kept.back_up("busy.tar")
        assert written[0] > before
    finally:
        stop.set()
        writer.join(60)
    (position,) = made.manifest.projects
    assert position.broken is None
    assert 16 + before <= position.lines <= 16 + written[0]
    assert made.file.stat().st_mode & 0o777 == 0o600
    assert read_archive(made.file, None, lambda done, size: None) == made.manifest
    assert kept.verify().broken is None
    prepared, _ = kept.restore(made)
    assert prepared.restorations[0].seq == position.lines
    assert kept.verify().broken is None


def test_a_backup_is_never_written_where_agents_work_or_over_another(kept: Kept) -> None:
    (known,) = kept.home.list_credentials()
    with pytest.raises(SetupError, match="agents work in"):
        kept.back_up(str(Path(known.workspace) / "backup.tar"))
    made = kept.back_up("one.tar")
    with pytest.raises(SetupError, match="is there already"):
        kept.back_up("one.tar")
    assert made.file.exists()
    assert not list(kept.home.path.glob("*.tmp"))


def test_a_damaged_database_is_not_backed_up(kept: Kept) -> None:
    kept.grow(200)
    content = bytearray(kept.home.database.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    kept.home.database.write_bytes(content)
    with pytest.raises(SetupError, match=r"is damaged|cannot be copied"):
        kept.back_up("damaged.tar")
    assert not (kept.folder / "damaged.tar").exists()


def test_without_a_database_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    kept = Kept(Home(tmp_path / "none"), "prj_1", tmp_path)
    with pytest.raises(SetupError, match="nothing to back up"):
        kept.back_up("none.tar")

"""A kill at any moment of a restore leaves the old database or the new one, and both verify."""

import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from handrail.app.backup.placing import put_in_place, undo_unfinished
from handrail.app.backup.restore import prepare_restore
from handrail.app.home import Home
from tests.app.backup.conftest import Kept, quiet

KILLED = Path(__file__).with_name("killed.py")
MOST_STEPS = 16


def test_a_kill_anywhere_leaves_the_old_or_the_new(kept: Kept) -> None:
    blob = kept.add_blob(b"large" * 1_000)
    made = kept.back_up("old.tar")
    kept.grow(5)
    blob.unlink()

    def die(number: int) -> tuple[int, Kept]:
        home = Home(kept.folder / f"home-{number}")
        shutil.copytree(kept.home.path, home.path)
        words = [sys.executable, str(KILLED), str(home.path), str(number)]
        ended = subprocess.run(words, check=False, timeout=60)
        return ended.returncode, Kept(home, kept.project_id, kept.folder)

    lines: list[int] = []
    with (
        prepare_restore(kept.home, made.file, quiet),
        ThreadPoolExecutor(2) as pool,
    ):
        results = list(pool.map(die, range(1, MOST_STEPS + 1)))
    for code, left in results:
        found = left.verify()
        assert found.broken is None
        lines.append(found.lines)
        if code == 0:
            break
        assert code == -signal.SIGKILL
    else:
        raise AssertionError("there are more steps than were tried")
    # From one step on, and from then for good, the restored database is there.
    assert set(lines) == {9, 5}
    assert lines == sorted(lines, reverse=True)

    _, first = results[0]
    first.restore(made)
    assert first.verify().broken is None


def test_the_log_of_a_damaged_database_comes_back_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    home.database.write_bytes(b"old")
    log = tmp_path / "handrail.db-wal"
    log.write_bytes(b"log of the old")
    restored = tmp_path / "restored.db"
    restored.write_bytes(b"new")
    with monkeypatch.context() as broken:
        broken.delattr(Path, "replace")
        with pytest.raises(AttributeError):
            put_in_place(home, restored, datetime.now(UTC))
    assert not log.exists()

    undo_unfinished(home)
    assert (home.database.read_bytes(), log.read_bytes()) == (b"old", b"log of the old")

    aside = put_in_place(home, restored, datetime.now(UTC))
    assert aside is not None
    assert home.database.read_bytes() == b"new"
    assert aside.read_bytes() == b"old"
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"log of the old"
    assert not log.exists()

"""A database is looked at without a trace."""

import os
import threading
from pathlib import Path

import pytest

from handrail.store.look import Look, look_into
from handrail.store.migrate import HEAD, migrate_sqlite
from handrail.store.sqlite_file import SqliteFile


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my data" / "handrail.db"
    path.parent.mkdir()
    migrate_sqlite(path)
    return path


def test_a_whole_one_is_found_whole_and_nothing_is_left_beside_it(database: Path) -> None:
    found = look_into(database, 10)
    assert found == Look(HEAD, sound=True)
    assert found.is_current
    assert os.listdir(database.parent) == ["handrail.db"]


def test_what_is_being_written_is_seen(database: Path) -> None:
    writer = SqliteFile(database)
    writer.run("UPDATE alembic_version SET version_num = 'newer'")
    try:
        found = look_into(database, 10)
    finally:
        writer.close()
    assert (found.version, found.is_current, found.sound) == ("newer", False, True)


def test_a_process_that_is_just_closing_the_database_is_waited_for(database: Path) -> None:
    closing = SqliteFile(database)
    closing.run("PRAGMA locking_mode = EXCLUSIVE")
    closing.run("UPDATE alembic_version SET version_num = version_num")
    timer = threading.Timer(0.3, closing.close)
    timer.start()

    found = look_into(database, 10)

    timer.join()
    assert found == Look(HEAD, sound=True)


def test_one_that_takes_too_long_is_not_called_broken(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.store.look._STEPS_BETWEEN_LOOKS_AT_THE_CLOCK", 1)
    assert look_into(database, -1) == Look(HEAD, sound=None)


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello " * 1000)
    found = look_into(tmp_path / "text", 10)
    assert (found.version, found.sound) == (None, False)
    with pytest.raises(OSError, match="unable to open"):
        look_into(tmp_path / "nothing", 10)
    assert os.listdir(tmp_path) == ["text"]

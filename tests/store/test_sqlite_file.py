"""A connection is set up so that what was told stays told, and what was erased is gone."""

import os
import stat
from pathlib import Path

import pytest

from handrail.core.errors import StoreUnavailable
from handrail.store.sqlite_file import SqliteFile


def test_every_connection_is_durable_and_erases_for_good(tmp_path: Path) -> None:
    path = tmp_path / "file.db"

    for read_only in (False, True):
        opened = SqliteFile(path, read_only=read_only)
        settings = {
            name: opened.run(f"PRAGMA {name}")[0][0]
            for name in ("journal_mode", "synchronous", "secure_delete", "busy_timeout")
        }
        opened.close()
        assert settings == {
            "journal_mode": "wal",
            "synchronous": 2,
            "secure_delete": 1,
            "busy_timeout": 10_000,
        }


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    writer = SqliteFile(path)
    writer.run("CREATE TABLE things (name)")
    reader = SqliteFile(path, read_only=True)

    with pytest.raises(StoreUnavailable):
        reader.run("INSERT INTO things VALUES ('one')")

    assert reader.run("SELECT * FROM things") == []
    reader.close()
    writer.close()


def test_it_notices_when_another_connection_has_written(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    one, other = SqliteFile(path), SqliteFile(path)
    one.run("CREATE TABLE things (name)")
    before = one.data_version

    one.run("INSERT INTO things VALUES ('mine')")
    after_mine = one.data_version
    other.run("INSERT INTO things VALUES ('theirs')")
    after_theirs = one.data_version

    assert one.changes == 1
    assert before == after_mine != after_theirs
    one.close()
    other.close()


def test_a_database_is_for_nobody_else_to_read(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    before = os.umask(0)
    try:
        database = SqliteFile(path)
        database.run("CREATE TABLE t (x)")
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    database.close()

    assert modes == dict.fromkeys(["new.db", "new.db-wal", "new.db-shm"], 0o600)

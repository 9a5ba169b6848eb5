"""A migrated file, spoken to in plain SQL."""

from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.store.migrate import migrate_sqlite
from handrail.store.sqlite_file import SqliteFile


@pytest.fixture
def database(tmp_path: Path) -> Generator[SqliteFile]:
    path = tmp_path / "plain.db"
    migrate_sqlite(path)
    opened = SqliteFile(path)
    yield opened
    opened.close()

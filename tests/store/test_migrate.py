"""A database is brought to the present, once, and never from the future."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from handrail.core.errors import StoreFull, StoreTooNew
from handrail.store import migrate
from handrail.store.columns import metadata
from handrail.store.migrate import HEAD, migrate_sqlite, steps_as_sql
from handrail.store.sqlite_file import SqliteError, SqliteFile

MIGRATIONS = Path(migrate.__file__).with_name("migrations")


def describe(database: SqliteFile) -> dict[str, Any]:
    """Everything about the tables that SQLite itself can tell."""
    tables = database.run(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite_%' AND name != 'alembic_version'"
    )
    return {
        name: {
            "without_rowid": without_rowid,
            "columns": database.run(f"SELECT * FROM pragma_table_xinfo('{name}')"),
            "indexes": {
                index: {
                    "flags": flags,
                    "columns": database.run(f"SELECT * FROM pragma_index_xinfo('{index}')"),
                    "sql": database.run("SELECT sql FROM sqlite_master WHERE name = ?", (index,)),
                }
                for _, index, *flags in database.run(f"PRAGMA index_list('{name}')")
            },
        }
        for name, without_rowid in tables
    }


def version_of(path: Path) -> list[Any]:
    database = SqliteFile(path)
    try:
        return [row[0] for row in database.run("SELECT version_num FROM alembic_version")]
    finally:
        database.close()


def test_a_fresh_file_is_brought_to_the_present(tmp_path: Path) -> None:
    path = tmp_path / "handrail.db"

    migrate_sqlite(path)

    assert version_of(path) == [HEAD]
    assert [file.name for file in tmp_path.iterdir()] == ["handrail.db"]


def test_what_is_up_to_date_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "handrail.db"
    migrate_sqlite(path)
    before = path.read_bytes()

    migrate_sqlite(path)

    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["handrail.db"]


def test_a_database_of_a_newer_handrail_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "handrail.db"
    migrate_sqlite(path)
    database = SqliteFile(path)
    database.run("UPDATE alembic_version SET version_num = '9999'")
    database.close()

    with pytest.raises(StoreTooNew) as caught:
        migrate_sqlite(path)

    assert caught.value.message == (
        f"{path} was written by a newer Handrail (schema 9999, this one knows {HEAD})."
        " Upgrade Handrail, or start it with another --home."
    )
    assert version_of(path) == ["9999"]


def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "handrail.db"
    database = SqliteFile(path)
    # In the way of a table that is made late in the steps.
    database.run("CREATE TABLE audit (something)")
    database.close()

    with pytest.raises(SqliteError):
        migrate_sqlite(path)

    database = SqliteFile(path)
    assert database.run("SELECT name FROM sqlite_master") == [("audit",)]
    database.close()


async def test_who_comes_second_finds_the_work_done(tmp_path: Path) -> None:
    path = tmp_path / "handrail.db"
    first = SqliteFile(path)
    first.run("BEGIN IMMEDIATE")

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(migrate_sqlite, path))
        await asyncio.sleep(0.05)  # It looks, finds nothing and waits for us.
        first.run(steps_as_sql("sqlite", None))
        first.run("COMMIT")
    first.close()

    assert version_of(path) == [HEAD]


def test_head_is_the_newest_step_in_the_folder() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [HEAD]


def test_steps_are_named_after_their_numbers() -> None:
    numbers = sorted(file.name[:4] for file in (MIGRATIONS / "versions").glob("*.py"))

    steps = ScriptDirectory(str(MIGRATIONS)).walk_revisions()
    assert sorted(step.revision for step in steps) == numbers
    assert numbers[-1] == HEAD


def test_the_migrated_tables_are_the_declared_ones(tmp_path: Path, database: SqliteFile) -> None:
    declared = SqliteFile(tmp_path / "declared.db")
    for table in metadata.sorted_tables:
        declared.run(str(CreateTable(table).compile(dialect=sqlite.dialect())))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            declared.run(str(CreateIndex(index).compile(dialect=sqlite.dialect())))

    expected = describe(declared)
    declared.close()

    assert describe(database) == expected
    assert set(expected) == set(metadata.tables)


def test_nothing_is_left_to_do_from_the_present(tmp_path: Path) -> None:
    assert steps_as_sql("sqlite", HEAD).strip() == ""


def test_grants_from_before_lasting_answers_end_with_their_session(tmp_path: Path) -> None:
    path = tmp_path / "handrail.db"
    database = SqliteFile(path)
    database.run(steps_as_sql("sqlite", None, "0018"))
    database.run(
        "INSERT INTO grants (id, project_id, session_id, words, max_risk, approval_id, granted_by,"
        " created_at) VALUES ('grt_1', 'prj_1', 'talk', 'w', 'HIGH', 'apr_1', 'usr_1', 1)"
    )
    database.close()

    migrate_sqlite(path)

    database = SqliteFile(path)
    assert database.run("SELECT id, session_id, agent_id FROM grants") == [("grt_1", "talk", None)]
    database.close()


def test_a_copy_is_kept_for_its_owner_alone(tmp_path: Path, database: SqliteFile) -> None:
    path = tmp_path / "plain.db"
    database.run("INSERT INTO users VALUES ('usr_1', 'ada', 1)")

    migrate._keep_copy(database, path, "0000")

    kept = tmp_path / f"plain.db.before-{HEAD}-was-0000"
    copy = SqliteFile(kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert copy.run("SELECT * FROM users") == [("usr_1", "ada", 1)]
    assert describe(copy) == describe(database)
    copy.close()


def test_a_copy_takes_the_place_of_an_earlier_one(tmp_path: Path, database: SqliteFile) -> None:
    path = tmp_path / "plain.db"
    migrate._keep_copy(database, path, "0000")
    database.run("INSERT INTO users VALUES ('usr_1', 'ada', 1)")

    migrate._keep_copy(database, path, "0000")

    copy = SqliteFile(tmp_path / f"plain.db.before-{HEAD}-was-0000")
    assert copy.run("SELECT name FROM users") == [("ada",)]
    copy.close()


def test_a_disk_that_fills_up_during_the_first_start_is_named_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SmallFile(SqliteFile):
        def __init__(self, path: Path):
            super().__init__(path)
            self.run("PRAGMA max_page_count = 20")

    with monkeypatch.context() as full:
        full.setattr(migrate, "SqliteFile", SmallFile)
        with pytest.raises(StoreFull, match="disk that holds Handrail's database is full"):
            migrate_sqlite(tmp_path / "handrail.db")

    migrate_sqlite(tmp_path / "handrail.db")
    database = SqliteFile(tmp_path / "handrail.db")
    assert database.run("SELECT version_num FROM alembic_version") == [(HEAD,)]
    database.close()

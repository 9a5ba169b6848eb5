"""What the tables refuse, whoever holds the pen."""

from itertools import product
from pathlib import Path

import pytest

from handrail.core.execution import TRANSITIONS, Status
from handrail.store.migrate import migrate_sqlite
from handrail.store.schema import tool_executions
from handrail.store.sqlite_file import ConstraintError, SqliteFile

ROADS = {
    ("pending", "awaiting_approval"),
    ("pending", "approved"),
    ("pending", "failed"),
    ("awaiting_approval", "approved"),
    ("awaiting_approval", "rejected"),
    ("awaiting_approval", "timeout"),
    ("awaiting_approval", "failed"),
    ("approved", "executing"),
    ("approved", "awaiting_approval"),
    ("approved", "timeout"),
    ("approved", "failed"),
    ("executing", "completed"),
    ("executing", "failed"),
}


def add_call(database: SqliteFile, status: str) -> None:
    """A row with just enough in it."""
    row = {
        column.name: 0 if column.type.python_type is not str else "x"
        for column in tool_executions.columns
        if not column.nullable
    } | {"id": f"exe_{status}", "call_id": status, "status": status}
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    database.run(f"INSERT INTO tool_executions ({names}) VALUES ({marks})", tuple(row.values()))


def can_become(database: SqliteFile, before: Status, after: Status) -> bool:
    database.run("SAVEPOINT attempt")
    try:
        database.run("UPDATE tool_executions SET status = ? WHERE id = ?", (after, f"exe_{before}"))
    except ConstraintError:
        return False
    finally:
        if database.in_transaction:
            database.run("ROLLBACK TO attempt")
            database.run("RELEASE attempt")
    return True


@pytest.mark.behaviour("states.tables")
def test_of_all_pairs_of_states_only_the_roads_can_be_walked(database: SqliteFile) -> None:
    for status in Status:
        add_call(database, status)
    pairs = list(product(Status, repeat=2))

    open_roads = {(str(a), str(b)) for a, b in pairs if can_become(database, a, b)}

    assert len(pairs) == 64
    assert open_roads == ROADS


def test_a_step_that_does_not_exist_is_called_what_it_is(database: SqliteFile) -> None:
    add_call(database, "completed")

    with pytest.raises(ConstraintError, match="illegal transition"):
        database.run("UPDATE tool_executions SET status = 'executing'")


def test_the_code_knows_the_same_roads_as_the_tables() -> None:
    assert {(str(a), str(b)) for a, roads in TRANSITIONS.items() for b in roads} == ROADS


def test_a_call_can_change_hands_without_a_step(database: SqliteFile) -> None:
    add_call(database, "executing")

    database.run("UPDATE tool_executions SET epoch = 4, client_id = 'cli_other'")

    assert database.run("SELECT status, epoch, client_id FROM tool_executions") == [
        ("executing", 4, "cli_other")
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET actor = 'somebody else'",
        "UPDATE audit SET seq = seq + 1",
        "UPDATE OR REPLACE audit SET seq = 1",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE seq = 2",
    ],
)
def test_an_audit_line_can_be_neither_changed_nor_removed(
    database: SqliteFile, statement: str
) -> None:
    for seq in (1, 2):
        database.run(
            "INSERT INTO audit VALUES ('prj', ?, 1, 'did', 'ada', 'it', '{}', 'a', 'b')", (seq,)
        )
    before = database.run("SELECT * FROM audit")

    with pytest.raises(ConstraintError, match="the audit is append-only"):
        database.run(statement)

    assert database.run("SELECT * FROM audit") == before


@pytest.mark.parametrize("verb", ["INSERT", "INSERT OR REPLACE"])
def test_an_audit_line_cannot_be_replaced(tmp_path: Path, verb: str) -> None:
    migrate_sqlite(tmp_path / "x.db")
    file = SqliteFile(tmp_path / "x.db")
    row = "INTO audit VALUES ('prj', 1, 1, 'did', '{}', 'it', '{{}}', 'a', 'b')"
    file.run("INSERT " + row.format("ada"))
    with pytest.raises(ConstraintError):
        file.run(f"{verb} " + row.format("eve"))
    actors = file.run("SELECT actor FROM audit")
    file.close()
    assert actors == [("ada",)]

"""Every statement is good SQL for every database, and finds its rows by an index."""

import pytest
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import asyncpg
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.elements import ClauseElement

from handrail.store import (
    activity_statements,
    approval_statements,
    blob_statements,
    chat_schema,
    chat_statements,
    event_statements,
    memory_statements,
    retention_statements,
    schema,
    statements,
    token_statements,
)
from handrail.store.sqlite_file import SqliteFile
from handrail.store.statements import StatementBook

STATEMENTS = {
    name: value
    for module in (
        statements,
        activity_statements,
        approval_statements,
        blob_statements,
        chat_statements,
        event_statements,
        memory_statements,
        retention_statements,
        token_statements,
    )
    for name, value in vars(module).items()
    if isinstance(value, ClauseElement) and not name.startswith("_") and name.isupper()
    if name not in vars(schema) and name not in vars(chat_schema)  # pieces of statements
}
# What the sweeper asks of all projects at once; of calls, only the few that have not ended.
OF_ALL_PROJECTS = {
    "LIST_OPEN_SINCE": "SCAN tool_executions USING INDEX tool_executions_unfinished",
    "LIST_OPEN_INSIDE": "SCAN tool_executions USING INDEX tool_executions_unfinished",
    "LIST_RUNNING": "SCAN runs USING INDEX runs_running",
    "LIST_LEFT_IN_STOPPED": "SCAN tool_executions USING INDEX tool_executions_unfinished",
    "LIST_LONG_STREAMS": "SCAN projects",
    "LIST_AUDIT_HEADS": "SCAN projects",
    "LIST_HEAVY_PROJECTS": "SCAN blob_holds",
    "LIST_IDLE_HOLDS": "SCAN blob_holds USING INDEX blob_holds_passing",
    # Asked by a person at the command line; tokens are few.
    "LIST_TOKENS": "SCAN tokens",
    # Read when an id is new, then cached.
    "LIST_NAMES": "SCAN tokens",
}
# Asked with no value at all.
UNBOUND = {
    "LIST_LEFT_IN_STOPPED", "LIST_AUDIT_HEADS", "COUNT_OPEN_QUESTIONS", "LIST_RUNNING",
    "FREE_PAGES",
}  # fmt: skip
READS = [name for name in STATEMENTS if name.startswith(("FIND", "LIST", "READ"))]


def dialects() -> dict[str, Dialect]:
    return {"sqlite": sqlite.dialect(paramstyle="qmark"), "postgresql": asyncpg.dialect()}


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_can_be_said_in_every_dialect(name: str, dialect: str) -> None:
    prepared = StatementBook(dialects()[dialect]).prepare(STATEMENTS[name])

    bound = set(STATEMENTS[name].compile(dialect=dialects()[dialect]).params or ())
    assert set(prepared.order) == bound
    assert bound or name in UNBOUND
    marks = {"sqlite": prepared.sql.count("?"), "postgresql": prepared.sql.count("$")}
    assert marks[dialect] >= len(bound)
    assert " :" not in prepared.sql


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_statement_fits_the_migrated_tables(name: str, database: SqliteFile) -> None:
    prepared = StatementBook(dialects()["sqlite"]).prepare(STATEMENTS[name])
    values = prepared.bind(dict.fromkeys(prepared.order, 1))

    assert database.run(f"EXPLAIN {prepared.sql}", values) != []


@pytest.mark.parametrize("name", READS)
def test_no_read_walks_through_a_whole_table(name: str, database: SqliteFile) -> None:
    prepared = StatementBook(dialects()["sqlite"]).prepare(STATEMENTS[name])
    values = prepared.bind(dict.fromkeys(prepared.order, 1))

    plan = [row[3] for row in database.run(f"EXPLAIN QUERY PLAN {prepared.sql}", values)]

    scans = [step for step in plan if step.startswith("SCAN")]
    assert scans == ([OF_ALL_PROJECTS[name]] if name in OF_ALL_PROJECTS else [])


def test_open_calls_are_found_by_their_own_small_index(database: SqliteFile) -> None:
    prepared = StatementBook(dialects()["sqlite"]).prepare(statements.LIST_OPEN)

    plan = database.run(f"EXPLAIN QUERY PLAN {prepared.sql}", prepared.bind({"workspace_id": "w"}))

    assert "USING INDEX tool_executions_unfinished" in plan[0][3]


def test_a_statement_is_prepared_once() -> None:
    book = StatementBook(dialects()["sqlite"])

    assert book.prepare(statements.FIND_USER) is book.prepare(statements.FIND_USER)


def test_values_are_bound_in_the_order_of_the_statement() -> None:
    prepared = StatementBook(dialects()["sqlite"]).prepare(statements.FIND_CALL)

    bound = prepared.bind({"call_id": "c", "session_id": "s", "project_id": "p"})

    assert bound == ("p", "s", "c")


def test_a_value_that_is_missing_is_not_bound_as_nothing() -> None:
    prepared = StatementBook(dialects()["sqlite"]).prepare(statements.FIND_CALL)

    with pytest.raises(KeyError):
        prepared.bind({"call_id": "c", "session_id": "s"})

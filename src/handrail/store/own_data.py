"""All that a database holds of one person, row by row, in words that others can read."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Select, Table, Text, bindparam, select
from sqlalchemy.dialects import sqlite

from handrail.store.analytics_schema import hourly_counts
from handrail.store.chat_schema import messages, runs, token_usage
from handrail.store.memory_schema import agent_memory
from handrail.store.result_rows import with_repetition
from handrail.store.retention_schema import removed_calls
from handrail.store.rows import from_micros
from handrail.store.schema import (
    audit,
    blob_holds,
    clients,
    events,
    grants,
    projects,
    raw_params,
    sessions,
    tokens,
    tool_approvals,
    tool_executions,
    users,
    workspaces,
)
from handrail.store.sqlite_file import SqliteFile
from handrail.store.statements import StatementBook
from handrail.store.told_schema import told_values

# What a row of each table is called, in the order in which they are told.
KINDS: dict[Table, str] = {
    users: "person",
    projects: "project",
    workspaces: "workspace",
    clients: "client",
    tokens: "token",
    sessions: "session",
    runs: "run",
    messages: "message",
    tool_executions: "call",
    removed_calls: "removed_call",
    tool_approvals: "approval",
    grants: "grant",
    blob_holds: "blob",
    agent_memory: "memory",
    token_usage: "usage",
    audit: "audit",
}
# Parameters as they were sent can hold secrets, and are gone with the end of their call; news
# tells of nothing that is not in another table, and neither do counts, nor what was picked out of
# results.
LEFT_OUT = {raw_params, events, hourly_counts, told_values}
# Secrets, and what can be made anew from the rest.
_UNTOLD = {"secret_hash", "digest_salt", "claim_key", "embedding", "embedded_by"}
_JSON = {
    "tool_params", "tool_input", "reasons", "result", "late_result", "origins", "suspicion",
    "revision", "metadata", "parts", "usage", "details",
}  # fmt: skip


class Told(NamedTuple):
    """One row: what kind of thing it is, and what it holds."""

    kind: str
    values: dict[str, Any]


@contextmanager
def open_own_data(path: Path, user_id: str, only: str | None = None) -> Generator[Iterator[Told]]:
    """What there is of a person at this moment, all or of one kind; a server may go on writing."""
    database = SqliteFile(path, read_only=True)
    try:
        database.run("BEGIN")
        yield _walk(database, user_id, only)
    finally:
        database.close()


def _walk(database: SqliteFile, user_id: str, only: str | None) -> Iterator[Told]:
    book = StatementBook(sqlite.dialect(paramstyle="qmark"))
    for table, kind in KINDS.items():
        if only not in (None, kind):
            continue
        shown = [column for column in table.columns if column.name not in _UNTOLD]
        prepared = book.prepare(_rows_of(table, shown))
        for row in database.walk(prepared.sql, prepared.bind({"user_id": user_id})):
            names = (column.name for column in shown)
            values = {name: _readable(name, v) for name, v in zip(names, row, strict=True)}
            if table is tool_executions:
                values["result"] = with_repetition(values["result"], values.pop("output_field"))
            yield Told(kind, values)


def _rows_of(table: Table, shown: list[Column[Any]]) -> Select[Any]:
    return select(*shown).where(_is_theirs(table)).order_by(*table.primary_key.columns)


def _is_theirs(table: Table) -> ColumnElement[bool]:
    user = bindparam("user_id", type_=Text())
    if table is users:
        return table.c.id == user
    if "user_id" in table.c:
        return table.c.user_id == user
    return table.c.project_id.in_(select(projects.c.id).where(projects.c.user_id == user))


def _readable(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "at" or name.endswith("_at"):
        return from_micros(value).isoformat()
    return json.loads(value) if name in _JSON else value

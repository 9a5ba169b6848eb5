"""The table of calls whose records are gone: what keeps their ids from being used again."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from handrail.store.columns import metadata, moment, words

removed_calls = Table(
    "removed_calls",
    metadata,
    words("project_id"),
    words("session_id"),
    words("call_id"),
    words("execution_id"),
    words("agent_id"),
    moment("removed_at"),
    PrimaryKeyConstraint("project_id", "session_id", "call_id"),
    Index("removed_calls_by_execution", "execution_id"),
    sqlite_with_rowid=False,
)

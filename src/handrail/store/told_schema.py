"""The table of what results have told of: hosts, addresses and paths, and by whom."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table

from handrail.store.columns import metadata, moment, words

told_values = Table(
    "told_values",
    metadata,
    words("project_id"),
    # Who knows it from now on: one conversation, or all that a foreign agent does.
    words("circle"),
    words("value"),
    # The file that told it, if it was one: of what is written back to it, nobody is told.
    words("path"),
    words("session_id"),
    words("execution_id"),
    moment("told_at"),
    PrimaryKeyConstraint("project_id", "circle", "value", "path"),
    Index("told_values_by_session", "project_id", "session_id"),
)

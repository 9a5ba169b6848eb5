"""The table of what is counted hour by hour, so that nobody has to go through all calls for it."""

from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, Table

from handrail.store.columns import metadata, words

hourly_counts = Table(
    "hourly_counts",
    metadata,
    words("project_id"),
    words("kind"),
    Column("hour", Integer, nullable=False),
    words("name"),
    words("tool_name"),
    words("detail"),
    Column("value", BigInteger, nullable=False),
    Column("calls", BigInteger, nullable=False),
    PrimaryKeyConstraint("project_id", "kind", "hour", "name", "tool_name", "detail", "value"),
    sqlite_with_rowid=False,
)

"""The tables of conversations."""

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from handrail.store.columns import metadata, moment, words

RUNNING = text("status = 'running'")

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    words("project_id"),
    words("session_id"),
    words("user_id"),
    words("status"),
    moment("created_at"),
    Column("epoch", Integer, nullable=False),
    words("owner", nullable=True),
    moment("leased_until", nullable=True),
    moment("ended_at", nullable=True),
    words("error", nullable=True),
    Index("runs_by_session", "project_id", "session_id", "created_at"),
    # A conversation has one thread.
    Index(
        "runs_running",
        "project_id",
        "session_id",
        unique=True,
        sqlite_where=RUNNING,
        postgresql_where=RUNNING,
    ),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    words("project_id"),
    words("session_id"),
    words("run_id"),
    Column("seq", Integer, nullable=False),
    moment("at"),
    words("speaker"),
    words("parts"),
    words("model", nullable=True),
    words("usage", nullable=True),
    UniqueConstraint("project_id", "session_id", "seq"),
)

token_usage = Table(
    "token_usage",
    metadata,
    words("user_id"),
    words("day"),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    PrimaryKeyConstraint("user_id", "day"),
    sqlite_with_rowid=False,
)

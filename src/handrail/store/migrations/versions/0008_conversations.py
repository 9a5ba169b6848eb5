"""Conversations with our own agent: runs, messages, and what they cost.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text, nullable=True),
        sa.Column("leased_until", sa.BigInteger, nullable=True),
        sa.Column("ended_at", sa.BigInteger, nullable=True),
        sa.Column("error", sa.Text, nullable=True),
    )
    op.create_index("runs_by_session", "runs", ["project_id", "session_id", "created_at"])
    running = sa.text("status = 'running'")
    op.create_index(
        "runs_running",
        "runs",
        ["project_id", "session_id"],
        unique=True,
        sqlite_where=running,
        postgresql_where=running,
    )
    op.create_table(
        "messages",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("speaker", sa.Text, nullable=False),
        sa.Column("parts", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=True),
        sa.Column("usage", sa.Text, nullable=True),
        sa.UniqueConstraint("project_id", "session_id", "seq"),
    )
    op.create_table(
        "token_usage",
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("day", sa.Text, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "day"),
        sqlite_with_rowid=False,
    )

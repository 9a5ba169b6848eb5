"""The path of a call: projects, sessions, executions, events, audit.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ROADS = (
    "pending>awaiting_approval", "pending>approved", "pending>failed",
    "awaiting_approval>approved", "awaiting_approval>rejected", "awaiting_approval>timeout",
    "awaiting_approval>failed",
    "approved>executing", "approved>timeout", "approved>failed",
    "executing>completed", "executing>failed",
)  # fmt: skip


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def upgrade() -> None:
    _people()
    _places()
    _calls()
    _records()
    _guards()


def _people() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        _number("created_at"),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.Text, primary_key=True),
        _text("user_id"),
        _text("name"),
        _text("autonomy"),
        _text("digest_salt"),
        _number("created_at"),
        sa.Column("last_event", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("audit_seq", sa.BigInteger, nullable=False, server_default=sa.text("0")),
        sa.Column("audit_head", sa.Text, nullable=False, server_default="0" * 64),
    )
    op.create_index("projects_by_user", "projects", ["user_id"])


def _places() -> None:
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Text, primary_key=True),
        _text("project_id"),
        _text("machine"),
        _text("root"),
        _number("created_at"),
        sa.UniqueConstraint("project_id", "machine", "root"),
    )
    op.create_table(
        "clients",
        sa.Column("id", sa.Text, primary_key=True),
        _text("project_id"),
        _text("workspace_id"),
        _text("name"),
        _number("created_at"),
    )
    op.create_index("clients_by_project", "clients", ["project_id"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("secret_hash", sa.Text, nullable=False, unique=True),
        _text("role"),
        _text("subject"),
        _text("user_id"),
        _text("project_id", nullable=True),
        _text("workspace_id", nullable=True),
        _text("name"),
        _number("created_at"),
        _number("expires_at", nullable=True),
        _number("revoked_at", nullable=True),
    )
    op.create_table(
        "sessions",
        _text("id"),
        _text("project_id"),
        _text("workspace_id"),
        _text("opened_by"),
        _number("created_at"),
        _number("stopped_at", nullable=True),
        sa.PrimaryKeyConstraint("project_id", "id"),
    )


def _calls() -> None:
    op.create_table(
        "tool_executions",
        sa.Column("id", sa.Text, primary_key=True),
        *map(_text, ("user_id", "project_id", "workspace_id", "session_id", "call_id")),
        *map(_text, ("agent_id", "tool_name", "tool_params", "request_digest", "digest")),
        *map(_text, ("site", "effect", "autonomy", "risk_level", "reasons")),
        sa.Column("requires_approval", sa.Boolean, nullable=False),
        _text("status"),
        _number("created_at"),
        _text("reasoning", nullable=True),
        _text("approval_id", nullable=True),
        _text("client_id", nullable=True),
        sa.Column("epoch", sa.Integer, nullable=False),
        _text("result", nullable=True),
        _text("error", nullable=True),
        _text("error_type", nullable=True),
        sa.Column("execution_time_ms", sa.Integer),
        _number("approved_at", nullable=True),
        _number("started_at", nullable=True),
        _number("completed_at", nullable=True),
        sa.UniqueConstraint("project_id", "session_id", "call_id"),
    )
    op.create_index("tool_executions_by_time", "tool_executions", ["project_id", "created_at"])
    open_calls = sa.text("status IN ('approved', 'executing')")
    op.create_index(
        "tool_executions_open",
        "tool_executions",
        ["workspace_id"],
        sqlite_where=open_calls,
        postgresql_where=open_calls,
    )
    op.create_table(
        "raw_params", sa.Column("execution_id", sa.Text, primary_key=True), _text("params")
    )


def _records() -> None:
    op.create_table(
        "events",
        _text("project_id"),
        _number("seq"),
        _number("at"),
        _text("kind"),
        _text("execution_id"),
        _text("status"),
        _text("client_id", nullable=True),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "seq"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit",
        _text("project_id"),
        _number("seq"),
        _number("at"),
        *map(_text, ("action", "actor", "subject", "details", "previous", "hash")),
        sa.PrimaryKeyConstraint("project_id", "seq"),
        sqlite_with_rowid=False,
    )


def _guards() -> None:
    """What the code must never do, the tables refuse, whoever holds the pen."""
    roads = ", ".join(f"'{road}'" for road in ROADS)
    op.execute(
        "CREATE TRIGGER tool_executions_roads BEFORE UPDATE OF status ON tool_executions"
        f" WHEN OLD.status || '>' || NEW.status NOT IN ({roads})"
        " BEGIN SELECT RAISE(ABORT, 'illegal transition'); END"
    )
    # INSERT OR REPLACE deletes without a word; so what is there cannot be inserted again.
    for table, key in (
        ("audit", "project_id = NEW.project_id AND seq = NEW.seq"),
        ("tool_executions", "id = NEW.id"),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}"
            f" WHEN EXISTS (SELECT 1 FROM {table} WHERE {key})"
            f" BEGIN SELECT RAISE(ABORT, '{table}: it is there already'); END"
        )
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON audit"
            " BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END"
        )

"""Questions to people, their answers, and grants.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def upgrade() -> None:
    _calls()
    _approvals()
    _grants()
    _guards()


def _calls() -> None:
    surveyed = sa.Column("surveyed", sa.Boolean, nullable=False, server_default=sa.text("0"))
    op.add_column("tool_executions", surveyed)
    op.add_column("tool_executions", _text("approved_by", nullable=True))
    op.add_column("tool_executions", _text("scope", nullable=True))
    _partial_index("tool_executions_unsurveyed", "tool_executions", "created_at")
    asked = sa.text("approval_id IS NOT NULL")
    op.create_index(
        "tool_executions_by_approval",
        "tool_executions",
        ["approval_id"],
        sqlite_where=asked,
        postgresql_where=asked,
    )


def _approvals() -> None:
    op.create_table(
        "tool_approvals",
        sa.Column("request_id", sa.Text, primary_key=True),
        *map(_text, ("project_id", "user_id", "execution_id", "session_id", "agent_id")),
        *map(_text, ("tool_name", "tool_input")),
        _text("reasoning", nullable=True),
        *map(_text, ("description", "risk_level", "reasons", "digest")),
        sa.Column("surveyed", sa.Boolean, nullable=False),
        _text("evidence"),
        _text("class_key", nullable=True),
        _text("class_words", nullable=True),
        sa.Column("timeout_seconds", sa.Integer, nullable=False),
        _number("created_at"),
        _number("expires_at"),
        _text("status"),
        _text("responded_by", nullable=True),
        _text("channel", nullable=True),
        _number("responded_at", nullable=True),
        _text("scope", nullable=True),
        _text("response", nullable=True),
        _text("grant_id", nullable=True),
        _text("metadata", nullable=True),
    )
    op.create_index("tool_approvals_by_time", "tool_approvals", ["project_id", "created_at"])
    _partial_index("tool_approvals_unanswered", "tool_approvals", "expires_at")


def _grants() -> None:
    op.create_table(
        "grants",
        sa.Column("id", sa.Text, primary_key=True),
        _text("project_id"),
        _text("session_id"),
        _text("class_key", nullable=True),
        _text("words"),
        _text("max_risk"),
        sa.Column("uses_left", sa.Integer),
        _number("expires_at", nullable=True),
        _text("approval_id"),
        _text("granted_by"),
        _number("created_at"),
        _number("revoked_at", nullable=True),
    )
    op.create_index("grants_by_session", "grants", ["project_id", "session_id"])


def _guards() -> None:
    """An answer is final: nobody's decision can be rewritten, whoever holds the pen."""
    op.execute(
        "CREATE TRIGGER tool_approvals_answered BEFORE UPDATE ON tool_approvals"
        " WHEN OLD.status <> 'pending'"
        " BEGIN SELECT RAISE(ABORT, 'this question has been answered'); END"
    )
    op.execute(
        "CREATE TRIGGER tool_approvals_no_delete BEFORE DELETE ON tool_approvals"
        " BEGIN SELECT RAISE(ABORT, 'a question is not taken back'); END"
    )
    # An update of the key can replace another row without a word, like the insert below.
    for table, key in (("tool_approvals", "request_id"), ("tool_executions", "id")):
        op.execute(
            f"CREATE TRIGGER {table}_no_rename BEFORE UPDATE OF {key} ON {table}"
            f" BEGIN SELECT RAISE(ABORT, '{table}: an id is for life'); END"
        )
    op.execute(
        "CREATE TRIGGER tool_approvals_no_replace BEFORE INSERT ON tool_approvals"
        " WHEN EXISTS (SELECT 1 FROM tool_approvals WHERE request_id = NEW.request_id)"
        " BEGIN SELECT RAISE(ABORT, 'tool_approvals: it is there already'); END"
    )


def _partial_index(name: str, table: str, column: str) -> None:
    waiting = sa.text("status = 'pending'")
    op.create_index(name, table, [column], sqlite_where=waiting, postgresql_where=waiting)

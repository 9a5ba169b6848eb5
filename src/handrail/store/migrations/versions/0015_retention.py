"""Results that are stored once and can be removed, and the ids of calls that are gone.

Revision ID: 0015
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("tool_executions", sa.Column("result_removed_at", sa.BigInteger))
    op.add_column("tool_executions", sa.Column("output_field", sa.Text))
    with_result = sa.text("(result IS NOT NULL OR late_result IS NOT NULL)")
    op.create_index(
        "tool_executions_with_result",
        "tool_executions",
        ["project_id", "created_at"],
        sqlite_where=with_result,
        postgresql_where=with_result,
    )
    op.create_index("blob_holds_by_holder", "blob_holds", ["project_id", "holder"])
    op.create_table(
        "removed_calls",
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("execution_id", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text, nullable=False),
        sa.Column("removed_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "session_id", "call_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("removed_calls_by_execution", "removed_calls", ["execution_id"])
    _guards()


def _guards() -> None:
    """A call goes only when its id is kept, and a question only with its call."""
    op.execute("DROP TRIGGER tool_approvals_no_delete")
    for table, key, why in (
        ("tool_executions", "id", "the id of a call is kept when its record is removed"),
        ("tool_approvals", "execution_id", "a question is not taken back"),
    ):
        op.execute(
            f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table}"
            f" WHEN NOT EXISTS (SELECT 1 FROM removed_calls WHERE execution_id = OLD.{key})"
            f" BEGIN SELECT RAISE(ABORT, '{why}'); END"
        )

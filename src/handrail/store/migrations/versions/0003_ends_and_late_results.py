"""Late results, keys of claims, and one index for all calls that have not ended.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("tool_executions", sa.Column("late_result", sa.Text, nullable=True))
    op.add_column("tool_executions", sa.Column("claim_key", sa.Text, nullable=True))
    op.drop_index("tool_executions_open", "tool_executions")
    unfinished = sa.text("status IN ('pending', 'awaiting_approval', 'approved', 'executing')")
    op.create_index(
        "tool_executions_unfinished",
        "tool_executions",
        ["workspace_id"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )

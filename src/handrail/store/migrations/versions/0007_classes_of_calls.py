"""Of which class a call is, and how many before it a grant would have covered.

Revision ID: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("tool_executions", sa.Column("class_key", sa.Text, nullable=True))
    of_a_class = sa.text("class_key IS NOT NULL")
    op.create_index(
        "tool_executions_by_class",
        "tool_executions",
        ["project_id", "class_key"],
        sqlite_where=of_a_class,
        postgresql_where=of_a_class,
    )
    op.add_column("tool_approvals", sa.Column("past_calls", sa.Integer, nullable=True))
    op.add_column("tool_approvals", sa.Column("past_refused", sa.Integer, nullable=True))

"""Which calls can be undone, when one was, and who asked for it.

Revision ID: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("tool_executions", sa.Column("can_undo", sa.Boolean))
    op.add_column("tool_executions", sa.Column("undone_at", sa.BigInteger))
    op.add_column("tool_executions", sa.Column("undone_by", sa.Text))
    op.execute(
        "UPDATE tool_executions SET can_undo = json_extract(result, '$.can_undo')"
        " WHERE result LIKE '%\"can_undo\"%'"
        " AND json_type(result, '$.can_undo') IN ('true', 'false')"
    )
    op.create_index(
        "tool_executions_undoable",
        "tool_executions",
        ["project_id", "created_at", "id", "session_id"],
        sqlite_where=sa.text("can_undo IS NOT NULL"),
        postgresql_where=sa.text("can_undo IS NOT NULL"),
    )

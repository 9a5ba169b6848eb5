"""What results have told of: hosts, addresses and paths, each with who told it first.

Revision ID: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "told_values",
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("circle", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("execution_id", sa.Text, nullable=False),
        sa.Column("told_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "circle", "value", "path"),
    )
    op.create_index("told_values_by_session", "told_values", ["project_id", "session_id"])

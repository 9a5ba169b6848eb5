"""Who holds on to which blob, where parameters came from, and how long calls of a class take.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("tool_approvals", sa.Column("estimated_duration_ms", sa.Integer, nullable=True))
    of_a_class = sa.text("class_key IS NOT NULL")
    op.create_index(
        "tool_approvals_by_class",
        "tool_approvals",
        ["project_id", "class_key", "created_at"],
        sqlite_where=of_a_class,
        postgresql_where=of_a_class,
    )
    op.add_column("tool_executions", sa.Column("origins", sa.Text, nullable=True))
    op.create_table(
        "blob_holds",
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "sha256", "holder", "purpose"),
        sqlite_with_rowid=False,
    )
    passing = sa.text("purpose != 'result'")
    op.create_index(
        "blob_holds_passing",
        "blob_holds",
        ["purpose"],
        sqlite_where=passing,
        postgresql_where=passing,
    )

"""Who holds on to which blob, and where parameters came from.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0003"


def upgrade() -> None:
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

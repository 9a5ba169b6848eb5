"""What keeps commands in where a workspace is.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    column = sa.Column("walls", sa.Text, nullable=False, server_default="")
    op.add_column("workspaces", column)

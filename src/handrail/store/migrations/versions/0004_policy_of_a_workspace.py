"""What the policy file in a workspace says.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    column = sa.Column("policy", sa.Text, nullable=False, server_default="")
    op.add_column("workspaces", column)

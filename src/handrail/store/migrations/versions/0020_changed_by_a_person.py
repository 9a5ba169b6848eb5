"""What a person has changed in a call before approving it.

Revision ID: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("tool_executions", sa.Column("revision", sa.Text, nullable=True))
    op.add_column("raw_params", sa.Column("asked", sa.Text, nullable=True))

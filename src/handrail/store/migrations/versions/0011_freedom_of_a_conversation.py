"""How much the agent may do unasked in one conversation.

Revision ID: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("autonomy", sa.Text, nullable=True))

"""Results that read like orders, and the sessions that are not trusted because of them.

Revision ID: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("tainted_at", sa.BigInteger, nullable=True))
    op.add_column("sessions", sa.Column("tainted_by", sa.Text, nullable=True))
    op.add_column("sessions", sa.Column("tainted_call", sa.Text, nullable=True))
    op.add_column("tool_executions", sa.Column("suspicion", sa.Text, nullable=True))

"""A grant that outlives its session belongs to an agent.

Revision ID: 0019
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("grants", sa.Column("agent_id", sa.Text, nullable=True))
    lasting = sa.text("agent_id IS NOT NULL AND revoked_at IS NULL")
    op.create_index(
        "grants_lasting",
        "grants",
        ["project_id", "agent_id"],
        sqlite_where=lasting,
        postgresql_where=lasting,
    )

"""Calls in order of time, with all that they are filtered by.

Revision ID: 0012
"""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.drop_index("tool_executions_by_time", "tool_executions")
    op.create_index(
        "tool_executions_by_time",
        "tool_executions",
        [
            "project_id",
            "created_at",
            "id",
            "status",
            "risk_level",
            "tool_name",
            "session_id",
        ],
    )

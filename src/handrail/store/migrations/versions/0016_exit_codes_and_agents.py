"""Exit codes as a column, and the agent among the columns that calls are filtered by.

Revision ID: 0016
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("tool_executions", sa.Column("exit_code", sa.Integer))
    op.execute(
        "UPDATE tool_executions SET exit_code = json_extract(result, '$.exit_code')"
        " WHERE status = 'completed' AND result LIKE '%\"exit_code\"%'"
        " AND json_type(result, '$.exit_code') = 'integer'"
        " AND abs(json_extract(result, '$.exit_code')) < 2147483648"
    )
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
            "agent_id",
        ],
    )

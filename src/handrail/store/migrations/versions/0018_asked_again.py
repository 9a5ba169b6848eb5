"""A call that was approved goes back to a person where it would no longer do the same.

Revision ID: 0018
"""

from alembic import op

revision = "0018"
down_revision = "0017"

ROADS = (
    "pending>awaiting_approval", "pending>approved", "pending>failed",
    "awaiting_approval>approved", "awaiting_approval>rejected", "awaiting_approval>timeout",
    "awaiting_approval>failed",
    "approved>executing", "approved>awaiting_approval", "approved>timeout", "approved>failed",
    "executing>completed", "executing>failed",
)  # fmt: skip


def upgrade() -> None:
    roads = ", ".join(f"'{road}'" for road in ROADS)
    op.execute("DROP TRIGGER tool_executions_roads")
    op.execute(
        "CREATE TRIGGER tool_executions_roads BEFORE UPDATE OF status ON tool_executions"
        f" WHEN OLD.status || '>' || NEW.status NOT IN ({roads})"
        " BEGIN SELECT RAISE(ABORT, 'illegal transition'); END"
    )

"""The statements about calls that are undone."""

from sqlalchemy import and_, bindparam, update

from handrail.store.schema import CAN_UNDO, tool_executions

_NOT_UNDONE = and_(
    tool_executions.c.id == bindparam("expected_id"),
    tool_executions.c.undone_at.is_(None),
    CAN_UNDO,
)
ASK_UNDO = update(tool_executions).where(_NOT_UNDONE).values(undone_by=bindparam("asked_by"))
KEEP_UNDONE = (
    update(tool_executions)
    .where(_NOT_UNDONE, tool_executions.c.undone_by.is_not(None))
    .values(undone_at=bindparam("now"))
)

"""The statements about the events of a project, and about the stream that tells them."""

from sqlalchemy import bindparam, delete, func, insert, null, or_, select

from handrail.store.schema import events, projects, raw_params, tool_executions
from handrail.store.statements import everything

ADD_EVENT = insert(events).values(everything(events))
FORGET_EVENTS = delete(events).where(
    events.c.project_id == bindparam("project_of_events"), events.c.seq <= bindparam("through")
)
_first_event = (
    select(func.min(events.c.seq)).where(events.c.project_id == projects.c.id).scalar_subquery()
)
_RANGE = (func.coalesce(_first_event, projects.c.last_event + 1), projects.c.last_event)
EVENT_RANGE = select(*_RANGE).where(projects.c.id == bindparam("project_id"))
LIST_LONG_STREAMS = select(projects.c.id, *_RANGE).where(
    # The first test spares most projects the look at their events.
    projects.c.last_event > bindparam("most_events"),
    projects.c.last_event - _RANGE[0] >= bindparam("most_events"),
)
READ_STREAM = (
    select(
        *events.columns,
        # Results can be large, and no event tells of them.
        *(
            null() if column.name in ("result", "late_result") else column
            for column in tool_executions.columns
        ),
        # Without a row of its own, nothing was masked and the record is raw.
        func.coalesce(raw_params.c.params, tool_executions.c.tool_params),
    )
    .select_from(
        # An event of a conversation has no call, and the record of a call may have been removed.
        events.outerjoin(tool_executions, tool_executions.c.id == events.c.execution_id).outerjoin(
            raw_params, raw_params.c.execution_id == events.c.execution_id
        )
    )
    .where(
        events.c.project_id == bindparam("project_id"),
        events.c.seq > bindparam("after"),
        or_(
            bindparam("client_id", type_=events.c.client_id.type).is_(None),
            events.c.client_id.is_(None),
            events.c.client_id == bindparam("client_id"),
        ),
    )
    .order_by(events.c.seq)
    .limit(bindparam("limit"))
)
FIND_FIRST_SINCE = (
    select(events.c.seq)
    .where(events.c.project_id == bindparam("project_id"), events.c.at >= bindparam("since"))
    .order_by(events.c.seq)
    .limit(1)
)

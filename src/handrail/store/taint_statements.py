"""The statements about sessions that are not trusted, and about what calls have brought back."""

from sqlalchemy import bindparam, func, null, or_, select, update

from handrail.store.schema import sessions, tool_executions

_THIS_SESSION = (
    sessions.c.project_id == bindparam("expected_project"),
    sessions.c.id == bindparam("expected_session"),
)
# The first cause counts until a person has cleared it. What a foreign agent has read it knows in
# all of its sessions.
TAINT_SESSION = (
    update(sessions)
    .where(
        sessions.c.project_id == bindparam("expected_project"),
        or_(
            sessions.c.id == bindparam("expected_session"),
            sessions.c.opened_by == bindparam("expected_opener"),
        ),
        sessions.c.tainted_at.is_(None),
    )
    .values(
        tainted_at=bindparam("tainted_at"),
        tainted_by=bindparam("tainted_by"),
        tainted_call=bindparam("tainted_call"),
    )
)
CLEAR_TAINT = (
    update(sessions)
    .where(*_THIS_SESSION, sessions.c.tainted_at.is_not(None))
    .values(tainted_at=null(), tainted_by=null(), tainted_call=null())
)
CLEAR_SAME_TAINT = (
    update(sessions)
    .where(
        sessions.c.project_id == bindparam("expected_project"),
        sessions.c.tainted_call == bindparam("expected_call"),
    )
    .values(tainted_at=null(), tainted_by=null(), tainted_call=null())
)
LIST_TAINTED = (
    select(sessions)
    .where(
        sessions.c.project_id == bindparam("project_id"),
        sessions.c.tainted_at.is_not(None),
        sessions.c.stopped_at.is_(None),
    )
    .order_by(sessions.c.tainted_at)
)

_told = [func.coalesce(tool_executions.c[name], "") for name in ("result", "error", "late_result")]
_weight = func.length(_told[0]) + func.length(_told[1]) + func.length(_told[2])
_latest = (
    select(tool_executions.c.id, tool_executions.c.created_at, _weight.label("weight"))
    .where(
        tool_executions.c.project_id == bindparam("project_id"),
        tool_executions.c.session_id == bindparam("session_id"),
        or_(
            tool_executions.c.result.is_not(None),
            tool_executions.c.error.is_not(None),
            tool_executions.c.late_result.is_not(None),
        ),
    )
    .order_by(tool_executions.c.created_at.desc(), tool_executions.c.id.desc())
    .limit(bindparam("limit"))
    .subquery()
)
# How much there is up to each of them, counted from the newest.
_added_up = select(
    _latest.c.id,
    _latest.c.weight,
    func.sum(_latest.c.weight)
    .over(order_by=(_latest.c.created_at.desc(), _latest.c.id.desc()))
    .label("total"),
).subquery()
LIST_RESULTS = (
    select(tool_executions)
    .where(
        tool_executions.c.id.in_(
            select(_added_up.c.id).where(
                _added_up.c.total - _added_up.c.weight < bindparam("most_chars")
            )
        )
    )
    .order_by(tool_executions.c.created_at.desc(), tool_executions.c.id.desc())
)

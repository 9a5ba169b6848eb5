"""Statements about blobs: who holds one, and who may have it."""

from sqlalchemy import and_, bindparam, delete, exists, func, insert, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from handrail.core.blob import Purpose
from handrail.store.schema import PASSING, blob_holds, tool_executions
from handrail.store.statements import everything

_HELD = blob_holds.alias("held")
_CALL = tool_executions.alias("call")

_agent = bindparam("agent_id", type_=tool_executions.c.agent_id.type)
_uploaded_by_agent = and_(_HELD.c.purpose == Purpose.UPLOAD, _HELD.c.holder == _agent)
_given_to_agent = and_(
    _HELD.c.purpose == Purpose.RESULT,
    exists().where(_CALL.c.id == _HELD.c.holder, _CALL.c.agent_id == _agent),
)
_AVAILABLE = and_(
    _HELD.c.project_id == bindparam("project_id"),
    _HELD.c.sha256 == bindparam("sha256"),
    or_(_agent.is_(None), _uploaded_by_agent, _given_to_agent),
)

_kept = upsert(blob_holds).values(everything(blob_holds))
KEEP_BLOB = _kept.on_conflict_do_update(
    index_elements=["project_id", "sha256", "holder", "purpose"],
    set_={"created_at": _kept.excluded.created_at},
)
USE_BLOB = insert(blob_holds).from_select(
    [column.name for column in blob_holds.columns],
    select(*everything(blob_holds).values()).where(
        exists().where(_AVAILABLE, _HELD.c.size == bindparam("size"))
    ),
)
LET_BLOB_GO = delete(blob_holds).where(
    blob_holds.c.project_id == bindparam("project_id"),
    blob_holds.c.sha256 == bindparam("sha256"),
    blob_holds.c.holder == bindparam("holder"),
    blob_holds.c.purpose == bindparam("purpose"),
    blob_holds.c.created_at == bindparam("created_at"),
)

FIND_BLOB = select(_HELD.c.sha256, _HELD.c.size).where(_AVAILABLE).limit(1)
WEIGH_UPLOADS = select(func.coalesce(func.sum(blob_holds.c.size), 0)).where(
    blob_holds.c.project_id == bindparam("project_id"),
    blob_holds.c.holder == bindparam("holder"),
    blob_holds.c.purpose == Purpose.UPLOAD,
)

LIST_HEAVY_PROJECTS = (
    select(blob_holds.c.project_id, func.sum(blob_holds.c.size))
    .where(blob_holds.c.purpose == Purpose.RESULT)
    .group_by(blob_holds.c.project_id)
    .having(func.sum(blob_holds.c.size) > bindparam("most_bytes"))
)
LIST_OLDEST_RESULTS = (
    select(blob_holds)
    .where(
        blob_holds.c.project_id == bindparam("project_id"),
        blob_holds.c.purpose == Purpose.RESULT,
    )
    .order_by(blob_holds.c.created_at)
    .limit(bindparam("limit"))
)

_ended = and_(_CALL.c.id == blob_holds.c.holder, _CALL.c.completed_at.is_not(None))
_used_up = and_(
    _HELD.c.project_id == blob_holds.c.project_id,
    _HELD.c.sha256 == blob_holds.c.sha256,
    _HELD.c.purpose == Purpose.PARAMS,
    _CALL.c.id == _HELD.c.holder,
    _CALL.c.agent_id == blob_holds.c.holder,
    _CALL.c.completed_at.is_not(None),
    # What was uploaded since is meant for a call to come.
    _CALL.c.created_at >= blob_holds.c.created_at,
)
LIST_IDLE_HOLDS = select(blob_holds).where(
    PASSING,
    or_(
        and_(blob_holds.c.purpose == Purpose.PARAMS, exists().where(_ended)),
        and_(
            blob_holds.c.purpose == Purpose.UPLOAD,
            or_(blob_holds.c.created_at < bindparam("uploaded_before"), exists().where(_used_up)),
        ),
    ),
)

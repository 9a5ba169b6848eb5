"""The statements by which old results and calls are found and removed."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    LargeBinary,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    insert,
    null,
    or_,
    select,
    text,
    update,
)

from handrail.core.errors import ErrorType
from handrail.store.chat_schema import runs
from handrail.store.retention_schema import removed_calls
from handrail.store.schema import (
    WITH_RESULT,
    blob_holds,
    grants,
    sessions,
    tool_approvals,
    tool_executions,
)

_calls = tool_executions.c
_now = bindparam("now", type_=BigInteger())
_before = bindparam("before", type_=BigInteger())
_project = bindparam("project_id", type_=Text())

# Under a name of its own, apart from the questions that are joined to the calls below.
_asked = tool_approvals.alias("asked")
_question_is_open = exists().where(
    _asked.c.request_id == _calls.approval_id, _asked.c.status == "pending"
)
_grant_is_live = exists().where(
    grants.c.project_id == _calls.project_id,
    grants.c.session_id == _calls.session_id,
    grants.c.approval_id == _calls.approval_id,
    grants.c.revoked_at.is_(None),
    or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0),
    or_(grants.c.expires_at.is_(None), grants.c.expires_at > _now),
)
_run_is_open = exists().where(
    runs.c.project_id == _calls.project_id,
    runs.c.session_id == _calls.session_id,
    text("runs.status = 'running'"),
)
# A person who clears a session of distrust is shown what the call brought back.
_is_cause_of_distrust = _calls.id.in_(
    select(sessions.c.tainted_call).where(
        sessions.c.project_id == _calls.project_id, sessions.c.tainted_call.is_not(None)
    )
)
# The machine had begun, and the call ended without its word: that may still come.
_late_result_may_come = and_(
    _calls.started_at.is_not(None),
    _calls.late_result.is_(None),
    or_(
        *(
            func.coalesce(_calls.error_type, "") == error
            for error in (ErrorType.OUTCOME_UNKNOWN, ErrorType.CANCELLED, ErrorType.NO_CLIENT)
        )
    ),
)
_IS_NOT_NEEDED = and_(
    _calls.completed_at.is_not(None),
    ~_late_result_may_come,
    ~_question_is_open,
    ~_grant_is_live,
    ~_run_is_open,
    ~_is_cause_of_distrust,
)
_IS_OLD = and_(
    _calls.project_id == _project,
    _calls.created_at < _before,
    # A call may have waited for days before it was done.
    _calls.completed_at < _before,
    _IS_NOT_NEEDED,
)


def _bytes_of(*columns: ColumnElement[str]) -> ColumnElement[int]:
    sizes = [func.length(cast(func.coalesce(column, ""), LargeBinary)) for column in columns]
    total: ColumnElement[int] = sizes[0]
    for size in sizes[1:]:
        total = total + size
    return total


_RESULT_BYTES = _bytes_of(_calls.result, _calls.late_result, _calls.suspicion)
_CALL_BYTES = _bytes_of(
    _calls.tool_params, _calls.reasons, _calls.reasoning, _calls.error, _calls.origins
)
_question = tool_approvals.c
_QUESTION_BYTES = _bytes_of(_question.tool_input, _question.evidence, _question.description)


def _calls_with_questions(*columns: ColumnElement[Any]) -> Select[Any]:
    return select(*columns).select_from(
        tool_executions.outerjoin(tool_approvals, _question.request_id == _calls.approval_id)
    )


_WHOLE_CALL_BYTES = _CALL_BYTES + func.coalesce(_QUESTION_BYTES, 0)

LIST_OLD_RESULTS = (
    select(_calls.id, _calls.created_at, _RESULT_BYTES, null())
    .where(_IS_OLD, WITH_RESULT)
    .order_by(_calls.created_at)
    .limit(bindparam("limit"))
)
LIST_OLD_CALLS = (
    _calls_with_questions(
        _calls.id, _calls.created_at, _WHOLE_CALL_BYTES, _question.request_id.is_not(None)
    )
    .where(_IS_OLD)
    .order_by(_calls.created_at)
    .limit(bindparam("limit"))
)
LIST_OLD = {"results": LIST_OLD_RESULTS, "calls": LIST_OLD_CALLS}
WEIGH_OLD = {
    "results": select(func.count(), func.coalesce(func.sum(_RESULT_BYTES), 0), null()).where(
        _IS_OLD, WITH_RESULT
    ),
    "calls": _calls_with_questions(
        func.count(),
        func.coalesce(func.sum(_WHOLE_CALL_BYTES), 0),
        func.count(_question.request_id),
    ).where(_IS_OLD),
}

_THIS = and_(
    _calls.project_id == bindparam("expected_project"), _calls.id == bindparam("expected_id")
)
_its_question = select(_calls.approval_id).where(_THIS)
_its_session = select(_calls.session_id).where(_THIS)

REMOVE_RESULT = (
    update(tool_executions)
    .where(_THIS, _IS_NOT_NEEDED, WITH_RESULT)
    .values(
        result=null(),
        late_result=null(),
        # It quotes the result.
        suspicion=null(),
        output_field=null(),
        result_removed_at=_now,
    )
)
LET_BLOBS_GO = delete(blob_holds).where(
    blob_holds.c.project_id == bindparam("expected_project"),
    blob_holds.c.holder == bindparam("expected_id"),
)
ADD_REMOVED_CALL = insert(removed_calls).from_select(
    [column.name for column in removed_calls.columns],
    select(
        _calls.project_id, _calls.session_id, _calls.call_id, _calls.id, _calls.agent_id, _now
    ).where(_THIS, _IS_NOT_NEEDED),
)
REMOVE_WITH_CALL = (
    LET_BLOBS_GO,
    delete(grants).where(
        grants.c.project_id == bindparam("expected_project"),
        grants.c.session_id == _its_session.scalar_subquery(),
        grants.c.approval_id == _its_question.scalar_subquery(),
    ),
    delete(tool_approvals).where(_question.request_id == _its_question.scalar_subquery()),
)
REMOVE_CALL = delete(tool_executions).where(_THIS)
# 200 pages are 800 kB, which takes a few milliseconds.
FREE_PAGES = text("PRAGMA incremental_vacuum(200)")

FIND_REMOVED = select(removed_calls.c.agent_id, removed_calls.c.removed_at).where(
    removed_calls.c.execution_id == bindparam("execution_id"),
    removed_calls.c.project_id == _project,
)
FIND_REMOVED_CALL = select(removed_calls.c.agent_id, removed_calls.c.removed_at).where(
    removed_calls.c.project_id == _project,
    removed_calls.c.session_id == bindparam("session_id"),
    removed_calls.c.call_id == bindparam("call_id"),
)

"""The statements about questions, answers and grants."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from handrail.core.execution import Status
from handrail.core.tool import Site
from handrail.store.schema import (
    LASTING,
    OF_A_CLASS,
    PENDING,
    grants,
    raw_params,
    sessions,
    tool_approvals,
    tool_executions,
)
from handrail.store.statements import everything

ADD_APPROVAL = insert(tool_approvals).values(everything(tool_approvals))
# A session that has been stopped can be given nothing any more.
ADD_GRANT = insert(grants).from_select(
    [column.name for column in grants.columns],
    select(*everything(grants).values()).where(
        ~exists().where(
            sessions.c.project_id == bindparam("expected_project"),
            sessions.c.id == bindparam("expected_session"),
            sessions.c.stopped_at.is_not(None),
        )
    ),
)

_ANSWER = (
    "status", "responded_by", "channel", "responded_at", "scope", "response", "grant_id",
)  # fmt: skip
# The first answer wins: whoever comes second finds the question closed.
RESOLVE_APPROVAL = (
    update(tool_approvals)
    .where(tool_approvals.c.request_id == bindparam("expected_id"), PENDING)
    .values({name: bindparam(name) for name in _ANSWER})
)
SHOWN = (
    "tool_input", "description", "risk_level", "reasons", "digest", "surveyed", "evidence",
    "class_key", "class_words", "timeout_seconds", "expires_at", "metadata",
    "estimated_duration_ms", "past_calls", "past_refused",
)  # fmt: skip
RESHOW_APPROVAL = (
    update(tool_approvals)
    .where(tool_approvals.c.request_id == bindparam("expected_id"), PENDING)
    .values({name: bindparam(name) for name in SHOWN})
)
USE_GRANT = (
    update(grants)
    .where(
        grants.c.id == bindparam("expected_id"),
        grants.c.revoked_at.is_(None),
        ~exists().where(
            sessions.c.project_id == grants.c.project_id,
            sessions.c.id == bindparam("expected_session"),
            sessions.c.tainted_at.is_not(None),
        ),
        or_(grants.c.expires_at.is_(None), grants.c.expires_at > bindparam("now")),
        or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0),
    )
    .values(uses_left=grants.c.uses_left - 1)
)
REVOKE_GRANT = (
    update(grants)
    .where(grants.c.id == bindparam("expected_id"), grants.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("revoked_at"))
)
# A lasting answer is about the agent, and does not end with the session it was given in.
REVOKE_GRANTS_OF = (
    update(grants)
    .where(
        grants.c.project_id == bindparam("expected_project"),
        grants.c.session_id == bindparam("expected_session"),
        grants.c.agent_id.is_(None),
        grants.c.revoked_at.is_(None),
    )
    .values(revoked_at=bindparam("revoked_at"))
)

FIND_EXECUTION_OF = select(tool_executions).where(
    tool_executions.c.approval_id == bindparam("approval_id")
)
LIST_UNCHECKED = (
    select(tool_executions)
    .where(
        tool_executions.c.approval_id.in_(
            select(tool_approvals.c.request_id).where(
                PENDING,
                # For the index of open questions, which is sorted by it.
                tool_approvals.c.expires_at > 0,
                tool_approvals.c.surveyed.is_(False),
            )
        ),
        tool_executions.c.site == Site.CLIENT,
    )
    .order_by(tool_executions.c.created_at)
)
LIST_UNSURVEYED = (
    select(tool_executions)
    .where(PENDING, tool_executions.c.created_at <= bindparam("asked_before"))
    .order_by(tool_executions.c.created_at)
)


def _select_params(*columns: ColumnElement[str]) -> Select[Any]:
    """The first of them that is there. Without any, nothing was masked and the record is raw."""
    return (
        select(func.coalesce(*columns, tool_executions.c.tool_params))
        .select_from(
            tool_executions.outerjoin(raw_params, raw_params.c.execution_id == tool_executions.c.id)
        )
        .where(tool_executions.c.id == bindparam("execution_id"))
    )


READ_RAW_PARAMS = _select_params(raw_params.c.params)
READ_ASKED_PARAMS = _select_params(raw_params.c.asked, raw_params.c.params)

FIND_APPROVAL = select(tool_approvals).where(
    tool_approvals.c.request_id == bindparam("approval_id")
)
LIST_APPROVALS = (
    select(tool_approvals)
    .where(
        tool_approvals.c.project_id == bindparam("project_id"),
        or_(
            bindparam("status", type_=tool_approvals.c.status.type).is_(None),
            tool_approvals.c.status == bindparam("status"),
        ),
    )
    .order_by(tool_approvals.c.created_at.desc(), tool_approvals.c.request_id.desc())
    .limit(bindparam("limit"))
)
COUNT_QUESTIONS = select(func.count()).where(
    PENDING,
    tool_approvals.c.project_id == bindparam("project_id"),
    tool_approvals.c.agent_id == bindparam("agent_id"),
)
COUNT_OPEN_QUESTIONS = (
    select(tool_approvals.c.project_id, func.count())
    .where(PENDING)
    .group_by(tool_approvals.c.project_id)
)
LIST_OVERDUE = (
    select(tool_approvals)
    .where(and_(PENDING, tool_approvals.c.expires_at <= bindparam("now")))
    .order_by(tool_approvals.c.expires_at)
)
LIST_DURATIONS = (
    select(tool_executions.c.execution_time_ms)
    .select_from(
        tool_approvals.join(tool_executions, tool_executions.c.id == tool_approvals.c.execution_id)
    )
    .where(
        tool_approvals.c.project_id == bindparam("project_id"),
        tool_approvals.c.class_key == bindparam("class_key"),
        tool_approvals.c.class_key.is_not(None),
        tool_executions.c.status == Status.COMPLETED,
        tool_executions.c.execution_time_ms.is_not(None),
    )
    .order_by(tool_approvals.c.created_at.desc())
    .limit(bindparam("limit"))
)
# Not the call itself that is being asked about. A grant covers calls of one agent only.
COUNT_OF_CLASS = select(
    func.count(),
    func.count(case((tool_executions.c.status == Status.REJECTED, 1))),
).where(
    tool_executions.c.project_id == bindparam("project_id"),
    tool_executions.c.class_key == bindparam("class_key"),
    OF_A_CLASS,
    tool_executions.c.agent_id == bindparam("agent_id"),
    tool_executions.c.risk_level.in_([bindparam(f"risk_{number}") for number in range(3)]),
    tool_executions.c.id != bindparam("execution_id"),
)
FIND_GRANT = select(grants).where(grants.c.id == bindparam("grant_id"))
LIST_GRANTS = (
    select(grants)
    .where(
        grants.c.project_id == bindparam("project_id"),
        or_(
            bindparam("session_id", type_=grants.c.session_id.type).is_(None),
            grants.c.session_id == bindparam("session_id"),
        ),
    )
    .order_by(grants.c.created_at)
)
LIST_LASTING = (
    select(grants)
    .where(
        grants.c.project_id == bindparam("project_id"),
        grants.c.agent_id == bindparam("agent_id"),
        LASTING,
    )
    .order_by(grants.c.created_at)
)

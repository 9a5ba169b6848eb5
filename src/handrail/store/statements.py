"""Every statement, declared once and compiled once for each database.

Names behind a colon are bound at run time; `expected_…` are the preconditions of a change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, cast

from sqlalchemy import (
    Boolean,
    Table,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement

from handrail.store.retention_schema import removed_calls
from handrail.store.schema import (
    OPEN,
    UNFINISHED,
    audit,
    clients,
    projects,
    raw_params,
    sessions,
    tokens,
    tool_executions,
    users,
    workspaces,
)


def everything(table: Table) -> dict[str, Any]:
    return {column.name: bindparam(column.name, type_=column.type) for column in table.columns}


# Both databases spell "unless it is there already" the same way.
ADD_SESSION = upsert(sessions).values(everything(sessions)).on_conflict_do_nothing()
ADD_USER = insert(users).values(everything(users))
ADD_PROJECT = insert(projects).values(
    {
        column.name: bindparam(column.name, type_=column.type)
        for column in projects.columns
        if column.server_default is None
    }
)
ADD_WORKSPACE = insert(workspaces).values(everything(workspaces))
SET_POLICY = (
    update(workspaces)
    .where(
        workspaces.c.id == bindparam("expected_id"),
        workspaces.c.project_id == bindparam("expected_project"),
    )
    .values(policy=bindparam("policy"), walls=bindparam("walls"))
)
SET_AUTONOMY = (
    update(projects)
    .where(projects.c.id == bindparam("expected_project"))
    .values(autonomy=bindparam("autonomy"))
)
ADD_CLIENT = insert(clients).values(everything(clients))
ADD_TOKEN = insert(tokens).values(everything(tokens))
ADD_AUDIT = insert(audit).values(everything(audit))
ADD_RAW_PARAMS = insert(raw_params).values(
    execution_id=bindparam("execution_id"), params=bindparam("params")
)
SET_RAW_PARAMS = (
    upsert(raw_params)
    .values(everything(raw_params))
    .on_conflict_do_update(
        index_elements=[raw_params.c.execution_id],
        set_={"params": bindparam("params"), "asked": bindparam("asked")},
    )
)

# A call enters only through a session that is known, and under an id that no removed call has had.
# In one that has been stopped, only a person's own calls enter and go on, such as about its draft.
ADD_EXECUTION = insert(tool_executions).from_select(
    [column.name for column in tool_executions.columns],
    select(*everything(tool_executions).values()).where(
        exists().where(
            and_(
                sessions.c.project_id == bindparam("expected_project"),
                sessions.c.id == bindparam("expected_session"),
                or_(sessions.c.stopped_at.is_(None), bindparam("agent_id") == bindparam("user_id")),
                or_(sessions.c.tainted_at.is_(None), bindparam("judged_tainted", type_=Boolean)),
                or_(
                    bindparam("expected_opener", type_=sessions.c.opened_by.type).is_(None),
                    sessions.c.opened_by == bindparam("expected_opener"),
                ),
            )
        ),
        ~exists().where(
            removed_calls.c.project_id == bindparam("expected_project"),
            removed_calls.c.session_id == bindparam("expected_session"),
            removed_calls.c.call_id == bindparam("call_id"),
        ),
    ),
)

_AS_SEEN = and_(
    tool_executions.c.id == bindparam("expected_id"),
    tool_executions.c.status == bindparam("expected_status"),
    tool_executions.c.epoch == bindparam("expected_epoch"),
)
_MOVING = (
    "status", "approval_id", "approved_by", "scope", "client_id", "epoch", "result", "error",
    "error_type", "execution_time_ms", "approved_at", "started_at", "completed_at", "claim_key",
    "suspicion", "exit_code", "output_field", "can_undo",
)  # fmt: skip
_JUDGED = ("digest", "risk_level", "reasons", "requires_approval", "surveyed", "class_key")
_STOPPED = and_(
    tool_executions.c.agent_id != tool_executions.c.user_id,
    exists().where(
        sessions.c.project_id == tool_executions.c.project_id,
        sessions.c.id == tool_executions.c.session_id,
        sessions.c.stopped_at.is_not(None),
    ),
)
# In a session that has been stopped, a call of its agent can only end.
_GOES_ON = not_(_STOPPED)
END_EXECUTION = (
    update(tool_executions).where(_AS_SEEN).values({name: bindparam(name) for name in _MOVING})
)
ADVANCE_EXECUTION = END_EXECUTION.where(_GOES_ON)
END_REJUDGED_EXECUTION = (
    update(tool_executions)
    .where(_AS_SEEN)
    .values({name: bindparam(name) for name in (*_MOVING, *_JUDGED)})
)
REJUDGE_EXECUTION = END_REJUDGED_EXECUTION.where(_GOES_ON)
# These leave the status alone: the table refuses a step from a state to itself.
REJUDGE_WAITING = (
    update(tool_executions)
    .where(_AS_SEEN, _GOES_ON)
    .values({name: bindparam(name) for name in ("client_id", "epoch", *_JUDGED)})
)
REVISE_WAITING = REJUDGE_WAITING.values(
    {name: bindparam(name) for name in ("tool_params", "origins", "revision")}
)
REOFFER_EXECUTION = (
    update(tool_executions)
    .where(_AS_SEEN, _GOES_ON)
    .values(client_id=bindparam("client_id"), epoch=bindparam("epoch"))
)
ERASE_RAW_PARAMS = delete(raw_params).where(
    raw_params.c.execution_id == bindparam("execution_id_ended")
)

# The first one counts; and only the end of a call can be followed by one.
KEEP_LATE_RESULT = (
    update(tool_executions)
    .where(
        tool_executions.c.id == bindparam("expected_id"),
        tool_executions.c.status == bindparam("expected_status"),
        tool_executions.c.completed_at.is_not(None),
        tool_executions.c.late_result.is_(None),
    )
    .values({name: bindparam(name) for name in ("late_result", "suspicion", "can_undo")})
)
STOP_SESSION = (
    update(sessions)
    .where(
        sessions.c.project_id == bindparam("expected_project"),
        sessions.c.id == bindparam("expected_session"),
        sessions.c.stopped_at.is_(None),
    )
    .values(stopped_at=bindparam("stopped_at"))
)
READ_HEAD = select(projects.c.last_event, projects.c.audit_seq, projects.c.audit_head).where(
    projects.c.id == bindparam("project_id")
)
LIST_AUDIT_HEADS = select(projects.c.id, projects.c.audit_seq, projects.c.audit_head)
MOVE_HEAD = (
    update(projects)
    .where(projects.c.id == bindparam("head_of"))
    .values(
        last_event=bindparam("last_event"),
        audit_seq=bindparam("audit_seq"),
        audit_head=bindparam("audit_head"),
    )
)

FIND_USER = select(users).where(users.c.name == bindparam("name"))
GET_USER = select(users).where(users.c.id == bindparam("user_id"))
FIND_TOKEN = select(tokens).where(tokens.c.secret_hash == bindparam("secret_hash"))
_PROJECT = [column for column in projects.columns if column.server_default is None]
FIND_PROJECT = select(*_PROJECT).where(projects.c.id == bindparam("project_id"))
LIST_PROJECTS = (
    select(*_PROJECT)
    .where(projects.c.user_id == bindparam("user_id"))
    .order_by(projects.c.created_at)
)
LIST_WORKSPACES = (
    select(workspaces)
    .where(workspaces.c.project_id == bindparam("project_id"))
    .order_by(workspaces.c.created_at)
)
LIST_CLIENTS = (
    select(clients)
    .where(clients.c.project_id == bindparam("project_id"))
    .order_by(clients.c.created_at)
)
FIND_PLACE = (
    select(*_PROJECT, *workspaces.columns, *sessions.columns)
    .select_from(
        sessions.join(projects, projects.c.id == sessions.c.project_id).join(
            workspaces, workspaces.c.id == sessions.c.workspace_id
        )
    )
    .where(
        sessions.c.project_id == bindparam("project_id"), sessions.c.id == bindparam("session_id")
    )
)
FIND_EXECUTION = select(tool_executions).where(tool_executions.c.id == bindparam("execution_id"))
FIND_CALL = select(tool_executions).where(
    tool_executions.c.project_id == bindparam("project_id"),
    tool_executions.c.session_id == bindparam("session_id"),
    tool_executions.c.call_id == bindparam("call_id"),
)
COUNT_CALLS = (
    select(func.count())
    .select_from(tool_executions)
    .where(
        tool_executions.c.project_id == bindparam("project_id"),
        tool_executions.c.created_at >= bindparam("since"),
    )
)
LIST_EXECUTIONS = (
    select(tool_executions)
    .where(
        tool_executions.c.project_id == bindparam("project_id"),
        or_(
            bindparam("status", type_=tool_executions.c.status.type).is_(None),
            tool_executions.c.status == bindparam("status"),
        ),
        or_(
            bindparam("agent_id", type_=tool_executions.c.agent_id.type).is_(None),
            tool_executions.c.agent_id == bindparam("agent_id"),
        ),
    )
    .order_by(tool_executions.c.created_at.desc(), tool_executions.c.id.desc())
    .limit(bindparam("limit"))
)
LIST_OPEN = (
    select(tool_executions)
    .where(tool_executions.c.workspace_id == bindparam("workspace_id"), UNFINISHED, OPEN)
    .order_by(tool_executions.c.created_at)
)
LIST_OPEN_SINCE = (
    select(tool_executions)
    .where(UNFINISHED, OPEN, tool_executions.c.approved_at <= bindparam("approved_before"))
    .order_by(tool_executions.c.approved_at)
)
LIST_OPEN_INSIDE = (
    select(tool_executions)
    .where(UNFINISHED, OPEN, tool_executions.c.site == bindparam("site"))
    .order_by(tool_executions.c.created_at)
)
LIST_UNFINISHED = (
    select(tool_executions)
    .where(
        tool_executions.c.workspace_id == bindparam("workspace_id"),
        UNFINISHED,
        tool_executions.c.project_id == bindparam("project_id"),
        tool_executions.c.session_id == bindparam("session_id"),
    )
    .order_by(tool_executions.c.created_at)
)
LIST_LEFT_IN_STOPPED = (
    select(tool_executions).where(UNFINISHED, _STOPPED).order_by(tool_executions.c.created_at)
)
READ_AUDIT = (
    select(audit)
    .where(audit.c.project_id == bindparam("project_id"), audit.c.seq > bindparam("after"))
    .order_by(audit.c.seq)
    .limit(bindparam("limit"))
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement as its database speaks it, and the order in which it takes its values."""

    sql: str
    order: tuple[str, ...]
    fixed: Mapping[str, Any]
    _take: Callable[[Mapping[str, Any]], tuple[Any, ...]]

    def bind(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return self._take({**self.fixed, **values} if self.fixed else values)


class StatementBook:
    """Compiles each statement once for one dialect."""

    def __init__(self, dialect: Dialect):
        self._dialect = dialect
        self._prepared: dict[ClauseElement, Prepared] = {}

    def prepare(self, statement: ClauseElement) -> Prepared:
        prepared = self._prepared.get(statement)
        if prepared is None:
            compiled = cast(SQLCompiler, statement.compile(dialect=self._dialect))
            fixed = {name: value for name, value in compiled.params.items() if value is not None}
            order = tuple(compiled.positiontup or ())
            prepared = Prepared(str(compiled), order, fixed, _taking(order))
            self._prepared[statement] = prepared
        return prepared


def _taking(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Takes these out of a row, in order; `itemgetter` is quickest, but alone makes no tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)

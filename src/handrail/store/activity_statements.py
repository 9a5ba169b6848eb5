"""Looking back over calls. What is tested on the way there all stands in one index."""

from typing import Any

from sqlalchemy import (
    Select,
    Text,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
)
from sqlalchemy.sql.elements import ColumnElement

from handrail.store.schema import CAN_UNDO, tool_approvals, tool_executions

_calls = tool_executions.c
_place = tuple_(_calls.created_at, _calls.id)
_NEWEST_FIRST = (_calls.created_at.desc(), _calls.id.desc())
_MOST_PARAMS_CHARS = 20_000
_MOST_TELLING_CHARS = 1_000
_TELLING = ("command", "path", "url", "pattern", "query", "key", "name", "action")


def _any_or(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    return or_(bindparam(name, type_=column.type).is_(None), column == bindparam(name))


_OLDER = _place < tuple_(bindparam("before_at"), bindparam("before_id"))
_WANTED = and_(
    _calls.project_id == bindparam("project_id"),
    _OLDER,
    _place > tuple_(bindparam("after_at"), bindparam("after_id")),
    _any_or(_calls.status, "status"),
    _any_or(_calls.tool_name, "tool_name"),
    _any_or(_calls.risk_level, "risk_level"),
    _any_or(_calls.session_id, "session_id"),
    _any_or(_calls.agent_id, "agent_id"),
)
_WITH_TEXT = and_(
    _WANTED,
    or_(
        _calls.tool_params.ilike(bindparam("params_pattern"), escape="\\"),
        *(
            column.ilike(bindparam("pattern"), escape="\\")
            for column in (
                _calls.error,
                _calls.reasoning,
                _calls.tool_name,
                _calls.call_id,
                _calls.agent_id,
            )
        ),
    ),
)

_SHORT = func.length(_calls.tool_params) <= _MOST_PARAMS_CHARS


def _telling_params() -> ColumnElement[str]:
    """A JSON object of the parameters that say what a call is about, each cut short."""
    pairs: list[ColumnElement[Any]] = []
    for name in _TELLING:
        value = func.json_extract(_calls.tool_params, literal_column(f"'$.{name}'", Text()))
        start = func.substr(value, *(literal_column(str(n)) for n in (1, _MOST_TELLING_CHARS)))
        pairs += (literal_column(f"'{name}'", Text()), start)
    return func.json_object(*pairs)


_GLIMPSE = (
    *(
        _calls[name]
        for name in (
            "id", "session_id", "call_id", "agent_id", "client_id", "tool_name",
            "risk_level", "requires_approval", "status", "created_at", "approval_id", "error",
            "error_type", "exit_code", "execution_time_ms", "approved_at", "started_at",
            "completed_at", "approved_by", "scope",
        )
    ),
    tool_approvals.c.description,
    tool_approvals.c.responded_by,
    _calls.can_undo,
    _calls.undone_at,
    _calls.undone_by,
    case((_SHORT, _calls.tool_params), else_=null()),
    case(
        (_SHORT, null()),
        # SQLite reads no JSON that is nested a thousand times.
        (func.json_valid(_calls.tool_params) == literal_column("1"), _telling_params()),
        else_=null(),
    ),
)  # fmt: skip


def _ids(wanted: ColumnElement[bool]) -> Select[Any]:
    """Which calls they are; only these are read from the table."""
    listed = select(_calls.id).where(wanted).order_by(*_NEWEST_FIRST)
    return listed.limit(bindparam("limit")).offset(bindparam("offset"))


def _glimpses(wanted: ColumnElement[bool]) -> Select[Any]:
    asked = tool_approvals.c.request_id == _calls.approval_id
    return (
        select(*_GLIMPSE)
        .select_from(tool_executions.outerjoin(tool_approvals, asked))
        .where(_calls.id.in_(_ids(wanted)))
        .order_by(*_NEWEST_FIRST)
    )


def _records(wanted: ColumnElement[bool]) -> Select[Any]:
    return select(tool_executions).where(_calls.id.in_(_ids(wanted))).order_by(*_NEWEST_FIRST)


def _count(wanted: ColumnElement[bool]) -> Select[Any]:
    some = select(_calls.id).where(wanted).limit(bindparam("most")).subquery()
    return select(func.count()).select_from(some)


LIST_ACTIVITY = _glimpses(_WANTED)
LIST_ACTIVITY_BY_TEXT = _glimpses(_WITH_TEXT)
COUNT_ACTIVITY = _count(_WANTED)
COUNT_ACTIVITY_BY_TEXT = _count(_WITH_TEXT)
LIST_RECORDS = _records(_WANTED)
LIST_RECORDS_BY_TEXT = _records(_WITH_TEXT)
LIST_UNDOABLE = (
    select(tool_executions)
    .where(
        _calls.project_id == bindparam("project_id"),
        CAN_UNDO,
        _any_or(_calls.session_id, "session_id"),
    )
    .order_by(*_NEWEST_FIRST)
    .limit(bindparam("limit"))
)
FIND_MARK = (
    select(_calls.created_at, _calls.id)
    .where(_calls.project_id == bindparam("project_id"), _OLDER)
    .order_by(*_NEWEST_FIRST)
    .limit(1)
    .offset(bindparam("offset"))
)

"""Values of the core as rows, and back."""

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from handrail.core.access import Role, Token
from handrail.core.audit import AuditEntry, canonical
from handrail.core.blob import BlobHold
from handrail.core.box import Wall
from handrail.core.errors import ErrorType
from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ports import StreamItem
from handrail.core.project import (
    Autonomy,
    Client,
    Place,
    Project,
    Session,
    User,
    Workspace,
    circle_of,
)
from handrail.core.revision import Revision
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, JsonObject, Site
from handrail.store.result_rows import with_repetition, without_repetition

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
# Looked up, because an enum takes its time to say its own name.
_RISKS = {risk: risk.name for risk in RiskLevel}
# The one column that no field is named like.
_OUTPUT_FIELD = ToolExecution._fields.index("exit_code")

Row = Sequence[Any]


def to_micros(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)


def plain_row(
    value: User | Project | Workspace | Client | Session | Token | BlobHold,
) -> dict[str, Any]:
    """A flat value as a row; its fields are named like the columns."""
    row = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: to_micros(v) if isinstance(v, datetime) else v for name, v in row.items()}


def execution_row(execution: ToolExecution, params_json: str) -> dict[str, Any]:
    row = execution._asdict()
    row["tool_params"] = params_json
    row["created_at"] = to_micros(execution.created_at)
    row.update(moving_row(execution))
    row.update(judged_row(execution))
    row["late_result"] = _json_or_none(execution.late_result)
    row["origins"] = _json_or_none(execution.origins)
    row["result_removed_at"] = micros_or_none(execution.result_removed_at)
    row["undone_at"] = micros_or_none(execution.undone_at)
    row["revision"] = _revision_or_none(execution.revision)
    return row


def moving_row(execution: ToolExecution) -> dict[str, Any]:
    """The columns that change over the life of a call."""
    result, output_field = without_repetition(execution.result)
    return {
        "status": execution.status,
        "approval_id": execution.approval_id,
        "approved_by": execution.approved_by,
        "scope": execution.scope,
        "client_id": execution.client_id,
        "epoch": execution.epoch,
        "result": _json_or_none(result),
        "error": execution.error,
        "error_type": execution.error_type,
        "execution_time_ms": execution.execution_time_ms,
        "approved_at": micros_or_none(execution.approved_at),
        "started_at": micros_or_none(execution.started_at),
        "completed_at": micros_or_none(execution.completed_at),
        "claim_key": execution.claim_key,
        "suspicion": _json_or_none(execution.suspicion),
        "exit_code": execution.exit_code,
        "output_field": output_field,
        "can_undo": execution.can_undo,
    }


def judged_row(execution: ToolExecution) -> dict[str, Any]:
    """The columns that a new judgement changes."""
    return {
        "digest": execution.digest,
        "risk_level": _RISKS[execution.risk_level],
        "reasons": _in_json(execution.reasons),
        "requires_approval": execution.requires_approval,
        "surveyed": execution.surveyed,
        "class_key": execution.class_key,
    }


def revised_row(execution: ToolExecution) -> dict[str, Any]:
    """The columns that change when a person changes a waiting call."""
    return {
        "tool_params": canonical(execution.tool_params),
        "origins": _json_or_none(execution.origins),
        "revision": _revision_or_none(execution.revision),
    }


def revision_json(revision: Revision) -> dict[str, Any]:
    return {"by": revision.by, "at": to_micros(revision.at), "diff": revision.diff}


def read_revision(value: dict[str, Any] | None) -> Revision | None:
    if value is None:
        return None
    return Revision(value["by"], from_micros(value["at"]), value["diff"])


def late_row(execution: ToolExecution) -> dict[str, Any]:
    """What keeps a late result beside the end of its call."""
    return {
        "expected_id": execution.id,
        "expected_status": execution.status,
        "late_result": _json_or_none(execution.late_result),
        "suspicion": _json_or_none(execution.suspicion),
        "can_undo": execution.can_undo,
    }


def told_row(execution: ToolExecution) -> dict[str, Any]:
    """Who has told something, and to whom; all but what it was."""
    path = execution.tool_params.get("path")
    return {
        "project_id": execution.project_id,
        "circle": circle_of(execution.agent_id, execution.session_id),
        "path": path if isinstance(path, str) else "",
        "session_id": execution.session_id,
        "execution_id": execution.id,
        "told_at": to_micros(execution.created_at),
    }


def event_row(event: Event) -> Row:
    """In the order of the table's columns, which is that of the fields."""
    return (event.project_id, event.seq, to_micros(event.at), *event[3:])


def audit_row(entry: AuditEntry) -> Row:
    """In the order of the table's columns, which is that of the fields."""
    return (entry.project_id, entry.seq, to_micros(entry.at), *entry[3:])


def read_user(row: Row) -> User:
    return User(**_named(User, row))


def read_project(row: Row) -> Project:
    values = _named(Project, row)
    values["autonomy"] = Autonomy(values["autonomy"])
    return Project(**values)


def read_workspace(row: Row) -> Workspace:
    values = _named(Workspace, row)
    walls: str = values["walls"]
    values["walls"] = tuple(Wall(wall) for wall in walls.split(",") if wall)
    return Workspace(**values)


def read_client(row: Row) -> Client:
    return Client(**_named(Client, row))


def read_place(row: Row) -> Place:
    project, rest = row[: len(fields(Project))], row[len(fields(Project)) :]
    workspace, session = rest[: len(fields(Workspace))], rest[len(fields(Workspace)) :]
    return Place(read_project(project), read_workspace(workspace), read_session(session))


def read_session(row: Row) -> Session:
    values = _named(Session, row)
    if values["autonomy"] is not None:
        values["autonomy"] = Autonomy(values["autonomy"])
    return Session(**values)


def read_token(row: Row) -> Token:
    values = _named(Token, row)
    values["role"] = Role(values["role"])
    return Token(**values)


def read_execution(row: Row) -> ToolExecution:
    columns, output_field = (*row[:_OUTPUT_FIELD], *row[_OUTPUT_FIELD + 1 :]), row[_OUTPUT_FIELD]
    values: dict[str, Any] = dict(zip(ToolExecution._fields, columns, strict=True))
    values["tool_params"] = _decode(values["tool_params"])
    values["reasons"] = tuple(_decode(values["reasons"]))
    values["site"] = Site(values["site"])
    values["effect"] = Effect(values["effect"])
    values["autonomy"] = Autonomy(values["autonomy"])
    values["risk_level"] = RiskLevel[values["risk_level"]]
    values["requires_approval"] = bool(values["requires_approval"])
    values["surveyed"] = bool(values["surveyed"])
    values["status"] = Status(values["status"])
    if values["scope"] is not None:
        values["scope"] = Scope(values["scope"])
    values["created_at"] = from_micros(values["created_at"])
    for name in ("result", "late_result", "origins", "suspicion", "revision"):
        values[name] = None if values[name] is None else _decode(values[name])
    values["revision"] = read_revision(values["revision"])
    values["result"] = with_repetition(values["result"], output_field)
    if values["error_type"] is not None:
        values["error_type"] = ErrorType(values["error_type"])
    if values["can_undo"] is not None:
        values["can_undo"] = bool(values["can_undo"])
    for name in ("approved_at", "started_at", "completed_at", "result_removed_at", "undone_at"):
        values[name] = moment_or_none(values[name])
    return ToolExecution(**values)


def read_event(row: Row) -> Event:
    project_id, seq, at, kind, execution_id, status, client_id, epoch = row
    kind, status = EventKind(kind), Status(status)
    return Event(project_id, seq, from_micros(at), kind, execution_id, status, client_id, epoch)


def read_stream_item(row: Row) -> StreamItem:
    event, call = read_event(row[: len(Event._fields)]), row[len(Event._fields) : -1]
    if call[0] is None:
        return StreamItem(event, None, None)
    execution = read_execution(call)
    stands = execution.epoch == event.epoch and not execution.status.is_final
    return StreamItem(event, execution, row[-1] if stands else None)


def read_audit_entry(row: Row) -> AuditEntry:
    project_id, seq, at, *rest = row
    return AuditEntry(project_id, seq, from_micros(at), *rest)


def _named(kind: type[Any], row: Row) -> dict[str, Any]:
    names = (field.name for field in fields(kind))
    values = dict(zip(names, row, strict=True))
    return {
        name: from_micros(value) if name.endswith("_at") and value is not None else value
        for name, value in values.items()
    }


def _revision_or_none(revision: Revision | None) -> str | None:
    return None if revision is None else _in_json(revision_json(revision))


def _json_or_none(value: JsonObject | None) -> str | None:
    return None if value is None else _in_json(value)


def _in_json(value: object) -> str:
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:
        # Half a character, which UTF-8 cannot hold and an escape can.
        return json.dumps(value)


def moment_or_none(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def micros_or_none(at: datetime | None) -> int | None:
    return None if at is None else to_micros(at)

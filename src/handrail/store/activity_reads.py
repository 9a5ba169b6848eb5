"""What can be asked of a store about the calls there have been."""

from dataclasses import fields
from typing import Any

import msgspec

from handrail.core.activity import Glimpse, Mark, Wanted
from handrail.core.audit import canonical
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ExecutionId, ProjectId, SessionId
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject
from handrail.store import activity_statements as statements
from handrail.store.reading import Reading
from handrail.store.rows import Row, from_micros, moment_or_none, read_execution, to_micros

_NAMES = tuple(field.name for field in fields(Glimpse))
_EVER = 2**63 - 1


class ActivityReads(Reading):
    async def list_activity(
        self, project_id: ProjectId, wanted: Wanted, *, limit: int, offset: int = 0
    ) -> list[Glimpse]:
        by_text = wanted.text is not None
        statement = statements.LIST_ACTIVITY_BY_TEXT if by_text else statements.LIST_ACTIVITY
        values = _values(project_id, wanted)
        found = await self._fetch_aside(statement, limit=limit, offset=offset, **values)
        return [_read_glimpse(row) for row in found]

    async def count_activity(self, project_id: ProjectId, wanted: Wanted, *, most: int) -> int:
        by_text = wanted.text is not None
        statement = statements.COUNT_ACTIVITY_BY_TEXT if by_text else statements.COUNT_ACTIVITY
        found = await self._fetch_aside(statement, most=most, **_values(project_id, wanted))
        return found[0][0]

    async def list_records(
        self, project_id: ProjectId, wanted: Wanted, *, limit: int
    ) -> list[ToolExecution]:
        by_text = wanted.text is not None
        statement = statements.LIST_RECORDS_BY_TEXT if by_text else statements.LIST_RECORDS
        values = _values(project_id, wanted)
        found = await self._fetch_aside(statement, limit=limit, offset=0, **values)
        return [read_execution(row) for row in found]

    async def list_undoable(
        self, project_id: ProjectId, session_id: SessionId | None, *, limit: int
    ) -> list[ToolExecution]:
        where = {"project_id": project_id, "session_id": session_id}
        found = await self._fetch_aside(statements.LIST_UNDOABLE, limit=limit, **where)
        return [read_execution(row) for row in found]

    async def find_mark(
        self, project_id: ProjectId, *, before: Mark | None, distance: int
    ) -> Mark | None:
        at, call = _place(before, _EVER)
        found = await self._fetch_aside(
            statements.FIND_MARK,
            project_id=project_id,
            before_at=at,
            before_id=call,
            offset=distance - 1,
        )
        return Mark(from_micros(found[0][0]), ExecutionId(found[0][1])) if found else None


def _values(project_id: ProjectId, wanted: Wanted) -> dict[str, Any]:
    before_at, before_id = _place(wanted.before, _EVER)
    after_at, after_id = _place(wanted.after, -1)
    values = {
        "project_id": project_id,
        "before_at": before_at,
        "before_id": before_id,
        "after_at": after_at,
        "after_id": after_id,
        "status": wanted.status,
        "tool_name": wanted.tool_name,
        "risk_level": None if wanted.risk_level is None else wanted.risk_level.name,
        "session_id": wanted.session_id,
        "agent_id": wanted.agent_id,
    }
    if wanted.text is None:
        return values
    # Parameters are kept as JSON, in which some letters are spelled otherwise.
    in_params = canonical(wanted.text)[1:-1]
    return {**values, "pattern": _pattern(wanted.text), "params_pattern": _pattern(in_params)}


def _place(mark: Mark | None, otherwise: int) -> tuple[int, str]:
    return (otherwise, "") if mark is None else (to_micros(mark.at), mark.id)


def _pattern(text: str) -> str:
    """These very words anywhere: what stands for others in a pattern stands for itself."""
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return f"%{text}%"


def _read_glimpse(row: Row) -> Glimpse:
    *columns, telling = row
    values: dict[str, Any] = dict(zip(_NAMES, columns, strict=True))
    values["risk_level"] = RiskLevel[values["risk_level"]]
    values["requires_approval"] = bool(values["requires_approval"])
    values["status"] = Status(values["status"])
    values["created_at"] = from_micros(values["created_at"])
    values["can_undo"] = None if values["can_undo"] is None else bool(values["can_undo"])
    for name in ("approved_at", "started_at", "completed_at", "undone_at"):
        values[name] = moment_or_none(values[name])
    values["tool_params"] = _params(values["tool_params"], telling)
    return Glimpse(**values)


def _params(all_of_them: str | None, telling: str | None) -> JsonObject:
    if all_of_them is not None:
        return msgspec.json.decode(all_of_them)
    found: dict[str, str | None] = msgspec.json.decode(telling or "{}")
    return {name: value for name, value in found.items() if value is not None}

"""Values and rows are each other's mirror."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Table

from handrail.core.access import Token
from handrail.core.audit import AuditEntry, canonical
from handrail.core.event import Event, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ports import StreamItem
from handrail.core.project import Client, Project, Session, User, Workspace
from handrail.store import rows, schema, statements
from tests.conftest import Household
from tests.contracts.conftest import a_call, a_session

HEADS = {"last_event", "audit_seq", "audit_head"}


def columns(table: Table) -> list[str]:
    return [column.name for column in table.columns]


@pytest.mark.parametrize(
    ("value", "table"),
    [
        pytest.param(ToolExecution, schema.tool_executions, id="ToolExecution"),
        pytest.param(Event, schema.events, id="Event"),
        pytest.param(AuditEntry, schema.audit, id="AuditEntry"),
    ],
)
def test_named_tuples_stand_in_the_order_of_their_columns(value: Any, table: Table) -> None:
    assert list(value._fields) == [name for name in columns(table) if name != "output_field"]


@pytest.mark.parametrize(
    ("value", "table"),
    [
        pytest.param(User, schema.users, id="User"),
        pytest.param(Project, schema.projects, id="Project"),
        pytest.param(Workspace, schema.workspaces, id="Workspace"),
        pytest.param(Client, schema.clients, id="Client"),
        pytest.param(Token, schema.tokens, id="Token"),
        pytest.param(Session, schema.sessions, id="Session"),
    ],
)
def test_plain_values_stand_in_the_order_of_their_columns(value: Any, table: Table) -> None:
    kept = [name for name in columns(table) if name not in HEADS]

    assert [field.name for field in fields(value)] == kept


def test_only_projects_have_heads() -> None:
    assert set(columns(schema.projects)) >= HEADS


def test_an_event_ends_with_what_was_new_about_it() -> None:
    assert Event._fields[-len(NewEvent._fields) :] == NewEvent._fields


def test_the_columns_that_move_are_those_that_are_updated(household: Household) -> None:
    assert tuple(rows.moving_row(a_call(household))) == statements._MOVING


def test_an_execution_becomes_a_row_of_its_table(household: Household) -> None:
    row = rows.execution_row(a_call(household), canonical(a_call(household).tool_params))

    assert set(row) == set(columns(schema.tool_executions))
    stored = tuple(row[name] for name in (*ToolExecution._fields, "output_field"))
    assert rows.read_execution(stored) == a_call(household, id=row["id"])


def test_a_session_becomes_a_row_of_its_table(household: Household) -> None:
    at = household.project.created_at

    row = rows.plain_row(a_session(household, stopped_at=at))

    assert row == {
        "id": "session-1",
        "project_id": household.project.id,
        "workspace_id": household.workspace.id,
        "opened_by": household.agent.subject,
        "created_at": rows.to_micros(at),
        "stopped_at": rows.to_micros(at),
        "tainted_at": None,
        "tainted_by": None,
        "tainted_call": None,
        "autonomy": None,
    }


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_survives_to_the_microsecond(moment: datetime) -> None:
    assert rows.from_micros(rows.to_micros(moment)) == moment


def test_the_same_moment_in_another_zone_is_the_same_number() -> None:
    moment = datetime(2026, 1, 1, 12, tzinfo=UTC)

    elsewhere = moment.astimezone(timezone(timedelta(hours=9)))

    assert rows.to_micros(elsewhere) == rows.to_micros(moment) == 1_767_268_800_000_000


@pytest.mark.parametrize(
    ("epoch", "status", "expected"),
    [
        (1, "executing", "{}"),
        (2, "executing", None),  # offered anew since
        (1, "completed", None),
        (1, "failed", None),
    ],
)
def test_only_a_signal_that_stands_carries_parameters(
    household: Household, epoch: int, status: str, expected: str | None
) -> None:
    event = ("prj", 1, 0, "tool.execution_signal", "exe", "executing", "cli", 1)

    call = a_call(household)._replace(epoch=epoch, status=Status(status))
    columns = rows.execution_row(call, "{}")
    names = (*call._fields, "output_field")
    item = rows.read_stream_item((*event, *(columns[name] for name in names), "{}"))

    assert isinstance(item, StreamItem)
    assert item.raw_params == expected

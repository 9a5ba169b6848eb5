"""An event says to each listener what is theirs to know, and no more."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import (
    CallId,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)
from handrail.core.ports import StreamItem
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site
from handrail.wire.chat import CHAT_DELTA
from handrail.wire.events import ABOUT_APPROVALS, DRAFT_CHANGED, EVENTS, STREAM_RESET
from handrail.wire.rendering import render, stream_reset

HERE, THERE = ClientId("cli_here"), ClientId("cli_there")

# What is said in a conversation is rendered by its own view.
OF_CALLS = [kind for kind in EventKind if not kind.is_chat]
OF_SESSIONS = (EventKind.SESSION_TAINTED, EventKind.SESSION_CLEARED)
FOR_EVERYONE = (*OF_SESSIONS, EventKind.UNDONE)


CALL = ToolExecution(
    id=ExecutionId("exe_1"),
    user_id=UserId("usr_1"),
    project_id=ProjectId("prj_1"),
    workspace_id=WorkspaceId("wsp_1"),
    session_id=SessionId("session-1"),
    call_id=CallId("call-1"),
    agent_id="agt_1",
    tool_name="read_file",
    tool_params={"path": "a"},
    request_digest="asked",
    digest="judged",
    site=Site.CLIENT,
    effect=Effect.READ,
    autonomy=Autonomy.FULL,
    risk_level=RiskLevel.LOW,
    reasons=(),
    requires_approval=False,
    status=Status.EXECUTING,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def an_item(kind: EventKind, raw_params: str | None = '{"path":"a"}') -> StreamItem:
    client_id = None if kind is EventKind.STATUS else HERE
    event = Event(
        ProjectId("prj_1"),
        7,
        datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC),
        kind,
        ExecutionId("exe_1"),
        Status.EXECUTING,
        client_id,
        2,
    )
    return StreamItem(event, CALL, raw_params)


def rendered(
    item: StreamItem, listener: ClientId | None, *, replayed: bool = False
) -> tuple[str, dict[str, Any]]:
    """What a listener reads, after it went over the wire."""
    name, payload = render(item, listener=listener, salt="salt", replayed=replayed, names={})
    return name, msgspec.json.decode(msgspec.json.encode(payload))


STATUS_CHANGE = {
    "tool_id": "exe_1",
    "tool_name": "read_file",
    "status": "executing",
    "timestamp": "2026-01-02T03:04:05.678900Z",
}
SIGNAL = {
    "tool_id": "exe_1",
    "session_id": "session-1",
    "tool_name": "read_file",
    "tool_params": {"path": "a"},
    "digest": "judged",
    "salt": "salt",
    "epoch": 2,
    "status": "executing",
    "risk_level": "LOW",
    "surveyed": False,
    "replayed": False,
    "execution_context": {
        "approved": True,
        "approved_by": "policy",
        "scope": "once",
        "autonomy": "full",
        "by_person": False,
    },
    "timestamp": "2026-01-02T03:04:05.678900Z",
}


def test_the_addressed_client_reads_a_whole_signal() -> None:
    item = an_item(EventKind.EXECUTION_SIGNAL)

    assert rendered(item, HERE) == ("tool.execution_signal", SIGNAL)


@pytest.mark.parametrize(
    ("raw_params", "replayed"),
    [
        pytest.param('{"path":"a"}', True, id="sent-again"),
        pytest.param(None, False, id="ended-or-offered-anew"),
        pytest.param(None, True, id="both"),
    ],
)
def test_a_signal_that_no_longer_stands_says_so_and_carries_no_parameters(
    raw_params: str | None, replayed: bool
) -> None:
    item = an_item(EventKind.EXECUTION_SIGNAL, raw_params)

    assert rendered(item, HERE, replayed=replayed) == (
        "tool.execution_signal",
        SIGNAL | {"replayed": True, "tool_params": None},
    )


@pytest.mark.parametrize(
    ("kind", "receipt", "message"),
    [
        (EventKind.RESULT_ACK, "processed", "Tool result processed"),
        (EventKind.RESULT_KEPT, "received", "The call had ended; this is kept beside its end"),
        (EventKind.RESULT_REJECTED, "rejected", "Tool result rejected: the call is executing"),
    ],
)
def test_the_addressed_client_reads_what_became_of_its_result(
    kind: EventKind, receipt: str, message: str
) -> None:
    assert rendered(an_item(kind), HERE) == (
        "tool.result_ack",
        {
            "tool_id": "exe_1",
            "status": "received",
            "receipt_status": receipt,
            "message": message,
            "timestamp": "2026-01-02T03:04:05.678900Z",
        },
    )


@pytest.mark.parametrize("replayed", [False, True], ids=["live", "told-again"])
def test_the_addressed_client_reads_that_its_call_was_cancelled_and_why(replayed: bool) -> None:
    item = an_item(EventKind.CANCEL, None)
    item = item._replace(execution=CALL._replace(error="ada cancelled this call: not now"))

    assert rendered(item, HERE, replayed=replayed) == (
        "tool.cancel",
        {
            "tool_id": "exe_1",
            "message": "ada cancelled this call: not now",
            "timestamp": "2026-01-02T03:04:05.678900Z",
        },
    )


def test_a_cancel_that_nobody_gave_words_to_says_at_least_what_it_is() -> None:
    _, payload = rendered(an_item(EventKind.CANCEL, None), HERE)

    assert payload["message"] == "cancelled"


@pytest.mark.parametrize(
    ("at", "written"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC), "2026-01-02T03:04:05.678900Z"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
    ],
)
def test_who_asks_for_what_is_gone_is_told_what_to_do_instead(at: datetime, written: str) -> None:
    message = "events since the last one you received are gone; read the current state instead"

    assert stream_reset(at) == {"message": message, "timestamp": written}


@pytest.mark.parametrize("kind", [kind for kind in OF_CALLS if kind not in FOR_EVERYONE])
@pytest.mark.parametrize("listener", [None, THERE], ids=["a-person", "another-client"])
def test_everyone_else_reads_of_a_change_of_status(
    kind: EventKind, listener: ClientId | None
) -> None:
    assert rendered(an_item(kind), listener) == ("tool.status", STATUS_CHANGE)


def test_a_status_is_a_status_to_the_client_too() -> None:
    assert rendered(an_item(EventKind.STATUS), HERE) == ("tool.status", STATUS_CHANGE)


def test_a_whole_second_is_written_without_a_fraction() -> None:
    item = an_item(EventKind.STATUS)
    item = item._replace(event=item.event._replace(at=datetime(2026, 1, 2, tzinfo=UTC)))

    assert rendered(item, None)[1]["timestamp"] == "2026-01-02T00:00:00Z"


def test_every_event_is_described() -> None:
    told_as_others = {
        EventKind.RESULT_KEPT,
        EventKind.RESULT_REJECTED,
        EventKind.SESSION_UNDO_REQUEST,
    }
    assert set(EVENTS) == {*EventKind, STREAM_RESET, CHAT_DELTA, DRAFT_CHANGED} - told_as_others


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_a_timestamp(name: str) -> None:
    described = EVENTS[name]
    model = described.model_fields if issubclass(described, BaseModel) else {}
    assert "timestamp" in {**model, **described.__annotations__}


@pytest.mark.parametrize("kind", [kind for kind in OF_CALLS if kind not in ABOUT_APPROVALS])
def test_every_event_carries_the_fields_it_promises(kind: EventKind) -> None:
    name, payload = rendered(an_item(kind), HERE)

    assert name in (kind, EventKind.RESULT_ACK, EventKind.UNDO_REQUEST)
    assert list(payload) == list(EVENTS[name].__annotations__)


@pytest.mark.parametrize("listener", [None, HERE, THERE])
def test_everyone_is_told_what_a_session_is_not_trusted_for(listener: ClientId | None) -> None:
    found = {
        "source": "read_file notes.md",
        "score": 2.0,
        "findings": [{"rule": "a", "reason": "gives orders", "line": 3, "excerpt": "ignore"}],
    }
    item = an_item(EventKind.SESSION_TAINTED)._replace(execution=CALL._replace(suspicion=found))

    assert rendered(item, listener) == (
        "session.tainted",
        {
            "session_id": "session-1",
            "tool_id": "exe_1",
            "source": "read_file notes.md",
            "reasons": ["line 3: gives orders"],
            "timestamp": "2026-01-02T03:04:05.678900Z",
        },
    )


@pytest.mark.parametrize("listener", [None, HERE, THERE])
def test_everyone_is_told_that_a_call_was_undone_and_by_whom(listener: ClientId | None) -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    undone = CALL._replace(undone_at=at, undone_by="ada")

    item = an_item(EventKind.UNDONE)._replace(execution=undone)

    assert rendered(item, listener) == (
        "tool.undone",
        {
            "tool_id": undone.id,
            "tool_name": undone.tool_name,
            "session_id": undone.session_id,
            "undone_by": "ada",
            "undone_at": "2026-01-02T00:00:00Z",
            "timestamp": "2026-01-02T03:04:05.678900Z",
        },
    )

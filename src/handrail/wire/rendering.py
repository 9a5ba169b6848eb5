"""Events in words: rows hold ids, and what is said of them depends on who listens."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

import msgspec

from handrail.core.approval import Approval
from handrail.core.conversation import Text, Utterance
from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId
from handrail.core.names import Names
from handrail.core.ports import StreamItem
from handrail.core.run import Message, Run
from handrail.wire.approvals import ApprovalView
from handrail.wire.chat import MessageView, RunView
from handrail.wire.events import (
    Cancel,
    ExecutionSignal,
    Payload,
    ResultAck,
    SessionCleared,
    SessionTainted,
    StatusChange,
    StreamReset,
    SurveyRequest,
    ToolUndone,
    UndoAsked,
)

# What is deeper than anybody follows, or holds what JSON or UTF-8 cannot.
CANNOT_BE_TOLD = (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError)
_NOT_SHOWN = "[Handrail] This message contains something that cannot be shown."

_encode = msgspec.json.Encoder().encode


def render(
    item: StreamItem,
    *,
    listener: ClientId | None,
    salt: str,
    replayed: bool,
    names: Names,
    approval: Approval | None = None,
    to_undo: Sequence[ExecutionId] = (),
) -> tuple[str, Payload]:
    """An event in words for one listener: the addressed client, or anyone else.

    `approval` is the question that an event of `ABOUT_APPROVALS` tells of, and `to_undo` are the
    calls of a request to undo.
    """
    event, execution, raw_params = item
    if execution is None:
        raise TypeError(f"{event.kind} names no call")
    if approval is not None:
        return event.kind, _about_approval(event, approval, names)
    if event.kind in (EventKind.SESSION_TAINTED, EventKind.SESSION_CLEARED):
        return event.kind, _about_session(event, execution)
    if event.kind is EventKind.UNDONE:
        return event.kind, _call_undone(event, execution)
    if listener is None or event.client_id != listener:
        return EventKind.STATUS, _status_change(event, execution)
    params = None if replayed else raw_params
    if event.kind in (EventKind.UNDO_REQUEST, EventKind.SESSION_UNDO_REQUEST):
        return EventKind.UNDO_REQUEST, _undo_request(event, to_undo, replayed=replayed)
    return _for_its_client(event, execution, params, salt)


def _for_its_client(
    event: Event, execution: ToolExecution, params: str | None, salt: str
) -> tuple[str, Payload]:
    match event.kind:
        case EventKind.EXECUTION_SIGNAL:
            return event.kind, _execution_signal(event, execution, params, salt)
        case EventKind.SURVEY_REQUEST:
            return event.kind, _survey_request(event, execution, params)
        case EventKind.RESULT_ACK | EventKind.RESULT_KEPT | EventKind.RESULT_REJECTED:
            return EventKind.RESULT_ACK, _result_ack(event)
        case EventKind.CANCEL:
            return event.kind, _cancel(event, execution)
        case _:
            return EventKind.STATUS, _status_change(event, execution)


def _about_approval(event: Event, approval: Approval, names: Names) -> Payload:
    view = ApprovalView.of(approval, names).model_dump(mode="json")
    if event.kind is EventKind.APPROVAL_REQUEST:
        return {**view, "timestamp": _timestamp(event)}
    return {
        "approval_id": approval.id,
        "tool_id": approval.execution_id,
        "status": approval.status,
        "decided_by": view["decided_by"],
        "channel": view["channel"],
        "decided_at": view["decided_at"],
        "scope": view["scope"],
        "reason": view["reason"],
        "timestamp": _timestamp(event),
    }


def _about_session(event: Event, execution: ToolExecution) -> SessionTainted | SessionCleared:
    if event.kind is EventKind.SESSION_CLEARED:
        return {
            "session_id": execution.session_id,
            "tool_id": execution.id,
            "timestamp": _timestamp(event),
        }
    found = execution.suspicion or {"source": execution.tool_name, "findings": []}
    return {
        "session_id": execution.session_id,
        "tool_id": execution.id,
        "source": found["source"],
        "reasons": [f"line {one['line']}: {one['reason']}" for one in found["findings"]],
        "timestamp": _timestamp(event),
    }


def render_message(message: Message) -> Payload:
    """A message in words; of one that cannot be told, that there is one."""
    try:
        payload = MessageView.of(message).model_dump(mode="json")
        _encode(payload)
    except CANNOT_BE_TOLD:
        return MessageView.of(_without_words(message)).model_dump(mode="json")
    return payload


def _without_words(message: Message) -> Message:
    said = Utterance(message.utterance.speaker, (Text(_NOT_SHOWN),))
    return replace(message, utterance=said, model=None)


def render_run(run: Run) -> dict[str, Any]:
    return RunView.of(run).model_dump(mode="json")


def render_run_event(event: Event, run: Run) -> Payload:
    return {**render_run(run), "timestamp": _timestamp(event)}


def _execution_signal(
    event: Event, execution: ToolExecution, params: str | None, salt: str
) -> ExecutionSignal:
    return {
        "tool_id": event.execution_id,
        "session_id": execution.session_id,
        "tool_name": execution.tool_name,
        "tool_params": _raw(params),
        "digest": execution.digest,
        "salt": salt,
        "epoch": event.epoch,
        "status": event.status,
        "risk_level": execution.risk_level.name,
        "surveyed": execution.surveyed,
        "replayed": params is None,
        "execution_context": {
            "approved": True,
            "approved_by": execution.approved_by or "policy",
            "scope": execution.scope or "once",
            "autonomy": execution.autonomy,
            "by_person": execution.agent_id == execution.user_id,
        },
        "timestamp": _timestamp(event),
    }


def _survey_request(event: Event, execution: ToolExecution, params: str | None) -> SurveyRequest:
    return {
        "approval_id": execution.approval_id or "",
        "tool_id": event.execution_id,
        "session_id": execution.session_id,
        "tool_name": execution.tool_name,
        "tool_params": _raw(params),
        # A question without facts is still being checked; what it shows is stored, so masked.
        "unmasked": event.status is Status.AWAITING_APPROVAL and execution.surveyed,
        "autonomy": execution.autonomy,
        "epoch": event.epoch,
        "replayed": params is None,
        "timestamp": _timestamp(event),
    }


def _raw(params: str | None) -> msgspec.Raw | None:
    """Raw parameters go out only with a signal that stands: live, and not superseded."""
    return None if params is None else msgspec.Raw(params.encode())


def _result_ack(event: Event) -> ResultAck:
    receipt, message = _receipt(event)
    return {
        "tool_id": event.execution_id,
        "status": "received",
        "receipt_status": receipt,
        "message": message,
        "timestamp": _timestamp(event),
    }


def _receipt(event: Event) -> tuple[Literal["received", "processed", "rejected"], str]:
    match event.kind:
        case EventKind.RESULT_KEPT:
            return "received", "The call had ended; this is kept beside its end"
        case EventKind.RESULT_REJECTED:
            return "rejected", f"Tool result rejected: the call is {event.status}"
        case _:
            return "processed", "Tool result processed"


def _cancel(event: Event, execution: ToolExecution) -> Cancel:
    return {
        "tool_id": event.execution_id,
        "message": execution.error or "cancelled",
        "timestamp": _timestamp(event),
    }


def _undo_request(event: Event, calls: Sequence[ExecutionId], *, replayed: bool) -> UndoAsked:
    return {"tool_ids": [*calls], "replayed": replayed, "timestamp": _timestamp(event)}


def _call_undone(event: Event, execution: ToolExecution) -> ToolUndone:
    undone_at = execution.undone_at
    return {
        "tool_id": execution.id,
        "tool_name": execution.tool_name,
        "session_id": execution.session_id,
        "undone_by": execution.undone_by,
        "undone_at": None if undone_at is None else _in_words(undone_at),
        "timestamp": _timestamp(event),
    }


def stream_reset(at: datetime) -> StreamReset:
    return {
        "message": "events since the last one you received are gone; read the current state "
        "instead",
        "timestamp": _in_words(at),
    }


def _status_change(event: Event, execution: ToolExecution) -> StatusChange:
    return {
        "tool_id": event.execution_id,
        "tool_name": execution.tool_name,
        "status": event.status,
        "timestamp": _timestamp(event),
    }


def _timestamp(event: Event) -> str:
    return _in_words(event.at)


def _in_words(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")

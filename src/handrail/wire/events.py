"""What travels on the event stream: rows hold ids, words are added for whoever listens."""

from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

from handrail.core.approval import Approval
from handrail.core.event import Event, EventKind
from handrail.core.ids import ClientId
from handrail.core.ports import StreamItem
from handrail.wire.approvals import ApprovalView

# Events that tell of a question to people: what they show is read when they are sent.
ABOUT_APPROVALS = (EventKind.APPROVAL_REQUEST, EventKind.APPROVAL_RESOLVED)


class ExecutionContext(TypedDict):
    approved: bool
    approved_by: str
    scope: str
    autonomy: str


class ExecutionSignal(TypedDict):
    """`tool.execution_signal`: to the one client that shall execute.

    `replayed` marks a signal sent again after a break; it never executes anything. `surveyed`
    says whether the digest covers what the machine was seen to hold, and `status` whether the
    call was begun before, by this client in an earlier life.
    """

    tool_id: str
    tool_name: str
    tool_params: Any
    digest: str
    salt: str
    epoch: int
    status: str
    risk_level: str
    surveyed: bool
    replayed: bool
    execution_context: ExecutionContext
    timestamp: str


class SurveyRequest(TypedDict):
    """`tool.survey_request`: to the one client that shall look, and change nothing."""

    approval_id: str
    tool_id: str
    tool_name: str
    tool_params: Any
    replayed: bool
    timestamp: str


class ResultAck(TypedDict):
    """`tool.result_ack`: to the client that reported."""

    tool_id: str
    status: Literal["received"]
    receipt_status: Literal["received", "processed", "rejected"]
    message: str
    timestamp: str


class Cancel(TypedDict):
    """`tool.cancel`: to the client that has the call; whatever runs for it is to end."""

    tool_id: str
    message: str
    timestamp: str


class StreamReset(TypedDict):
    """`stream.reset`: events since the last one heard are gone; look at what there is instead."""

    message: str
    timestamp: str


class StatusChange(TypedDict):
    """`tool.status`: to everyone who may see the call."""

    tool_id: str
    tool_name: str
    status: str
    timestamp: str


class ApprovalResolved(TypedDict):
    """`approval.resolved`: to everyone, so that other screens can take the card away."""

    approval_id: str
    tool_id: str
    status: str
    decided_by: str | None
    channel: str | None
    decided_at: str | None
    scope: str | None
    reason: str | None
    timestamp: str


Payload = (
    ExecutionSignal | SurveyRequest | ResultAck | Cancel | StatusChange | ApprovalResolved
    | StreamReset | dict[str, Any]
)  # fmt: skip


def render(
    item: StreamItem,
    *,
    listener: ClientId | None,
    salt: str,
    replayed: bool,
    approval: Approval | None = None,
) -> tuple[str, Payload]:
    """An event in words for one listener: the addressed client, or anyone else.

    `approval` is the question that an event of `ABOUT_APPROVALS` tells of.
    """
    event = item.event
    if approval is not None:
        return event.kind, _about_approval(event, approval)
    if listener is None or event.client_id != listener:
        return EventKind.STATUS, _status_change(item)
    match event.kind:
        case EventKind.EXECUTION_SIGNAL:
            return event.kind, _execution_signal(item, salt, replayed=replayed)
        case EventKind.SURVEY_REQUEST:
            return event.kind, _survey_request(item, replayed=replayed)
        case EventKind.RESULT_ACK:
            return event.kind, _result_ack(event)
        case EventKind.CANCEL:
            return event.kind, _cancel(item)
        case _:
            return EventKind.STATUS, _status_change(item)


def _about_approval(event: Event, approval: Approval) -> Payload:
    view = ApprovalView.of(approval).model_dump(mode="json")
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


def _execution_signal(item: StreamItem, salt: str, *, replayed: bool) -> ExecutionSignal:
    event, execution, _ = item
    params = _standing_params(item, replayed=replayed)
    return {
        "tool_id": event.execution_id,
        "tool_name": execution.tool_name,
        "tool_params": params,
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
        },
        "timestamp": _timestamp(event),
    }


def _survey_request(item: StreamItem, *, replayed: bool) -> SurveyRequest:
    event, execution, _ = item
    params = _standing_params(item, replayed=replayed)
    return {
        "approval_id": execution.approval_id or "",
        "tool_id": event.execution_id,
        "tool_name": execution.tool_name,
        "tool_params": params,
        "replayed": params is None,
        "timestamp": _timestamp(event),
    }


def _standing_params(item: StreamItem, *, replayed: bool) -> msgspec.Raw | None:
    """Raw parameters go out only with a signal that stands: live, and not superseded."""
    if replayed or item.raw_params is None:
        return None
    return msgspec.Raw(item.raw_params.encode())


def _result_ack(event: Event) -> ResultAck:
    return {
        "tool_id": event.execution_id,
        "status": "received",
        "receipt_status": "processed",
        "message": "Tool result processed",
        "timestamp": _timestamp(event),
    }


def _cancel(item: StreamItem) -> Cancel:
    return {
        "tool_id": item.event.execution_id,
        "message": item.execution.error or "cancelled",
        "timestamp": _timestamp(item.event),
    }


def stream_reset(at: datetime) -> StreamReset:
    return {
        "message": "events since the last one you heard are gone; look at what there is instead",
        "timestamp": _in_words(at),
    }


def _status_change(item: StreamItem) -> StatusChange:
    return {
        "tool_id": item.event.execution_id,
        "tool_name": item.execution.tool_name,
        "status": item.event.status,
        "timestamp": _timestamp(item.event),
    }


def _timestamp(event: Event) -> str:
    return _in_words(event.at)


def _in_words(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")

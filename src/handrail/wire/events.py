"""What travels on the event stream: rows hold ids, words are added for whoever listens."""

from typing import Any, Literal, NotRequired, TypedDict

import msgspec

from handrail.core.event import Event, EventKind
from handrail.core.ids import ClientId
from handrail.core.ports import StreamItem


class ExecutionContext(TypedDict):
    approved: bool
    approved_by: str
    scope: str
    autonomy: str


class ExecutionSignal(TypedDict):
    """`tool.execution_signal`: to the one client that shall execute.

    `replayed` marks a signal sent again after a break; it never executes anything.
    """

    tool_id: str
    tool_name: str
    tool_params: Any
    digest: str
    salt: str
    epoch: int
    replayed: bool
    execution_context: ExecutionContext
    timestamp: str


class ResultAck(TypedDict):
    """`tool.result_ack`: to the client that reported."""

    tool_id: str
    status: Literal["received"]
    receipt_status: Literal["received", "processed", "rejected"]
    message: NotRequired[str]
    timestamp: str


class StatusChange(TypedDict):
    """`tool.status`: to everyone who may see the call."""

    tool_id: str
    tool_name: str
    status: str
    timestamp: str


def render(
    item: StreamItem, *, listener: ClientId | None, salt: str, replayed: bool
) -> tuple[str, ExecutionSignal | ResultAck | StatusChange]:
    """An event in words for one listener: the addressed client, or anyone else."""
    event = item.event
    if listener is None or event.client_id != listener:
        return EventKind.STATUS, _status_change(item)
    match event.kind:
        case EventKind.EXECUTION_SIGNAL:
            return event.kind, _execution_signal(item, salt, replayed=replayed)
        case EventKind.RESULT_ACK:
            return event.kind, _result_ack(event)
        case EventKind.STATUS:
            return event.kind, _status_change(item)


def _execution_signal(item: StreamItem, salt: str, *, replayed: bool) -> ExecutionSignal:
    event = item.event
    # Raw parameters go out only with a signal that stands: live, and not superseded.
    standing = not replayed and item.raw_params is not None
    return {
        "tool_id": event.execution_id,
        "tool_name": item.tool_name,
        "tool_params": msgspec.Raw((item.raw_params or "null").encode()) if standing else None,
        "digest": item.digest,
        "salt": salt,
        "epoch": event.epoch,
        "replayed": not standing,
        "execution_context": {
            "approved": True,
            "approved_by": "policy",
            "scope": "once",
            "autonomy": item.autonomy,
        },
        "timestamp": _timestamp(event),
    }


def _result_ack(event: Event) -> ResultAck:
    return {
        "tool_id": event.execution_id,
        "status": "received",
        "receipt_status": "processed",
        "timestamp": _timestamp(event),
    }


def _status_change(item: StreamItem) -> StatusChange:
    return {
        "tool_id": item.event.execution_id,
        "tool_name": item.tool_name,
        "status": item.event.status,
        "timestamp": _timestamp(item.event),
    }


def _timestamp(event: Event) -> str:
    return event.at.isoformat().replace("+00:00", "Z")

"""What travels on the event stream: rows hold ids, words are added for whoever listens."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

import msgspec
from msgspec import Meta
from pydantic import Field

from handrail.core.approval import Approval
from handrail.core.event import Event, EventKind
from handrail.core.execution import ToolExecution
from handrail.core.ids import ClientId
from handrail.core.ports import StreamItem
from handrail.core.run import Message, Run
from handrail.wire.approvals import ApprovalView
from handrail.wire.chat import CHAT_DELTA, ChatDelta, MessageView, RunView

# Events that tell of a question to people: what they show is read when they are sent.
ABOUT_APPROVALS = (EventKind.APPROVAL_REQUEST, EventKind.APPROVAL_RESOLVED)


STREAM_RESET = "stream.reset"

TheCall = Annotated[str, Meta(description="The call.")]
TheTool = Annotated[str, Meta(description="The tool.")]
TheQuestion = Annotated[str, Meta(description="The question.")]
TheParams = Annotated[
    Any, Meta(description="The parameters as they were sent; null where it is replayed.")
]
Replayed = Annotated[
    bool, Meta(description="It was told before, or is no longer what counts: do nothing.")
]
Timestamp = Annotated[str, Meta(description="When it happened, in UTC.")]


class ExecutionContext(TypedDict):
    """Why a call may be executed."""

    approved: Annotated[bool, Meta(description="Always true.")]
    approved_by: Annotated[str, Meta(description="A person's name, a grant, or `policy`.")]
    scope: Annotated[str, Meta(description="How far that yes reached.")]
    autonomy: Annotated[str, Meta(description="The freedom the agent had.")]


class ExecutionSignal(TypedDict):
    """To the one client that shall execute.

    A signal that is replayed after a break never executes anything; what still has to be done is
    offered anew.
    """

    tool_id: TheCall
    tool_name: TheTool
    tool_params: TheParams
    digest: Annotated[str, Meta(description="What was judged, shown and approved.")]
    salt: Annotated[str, Meta(description="The project's, to make the digest with.")]
    epoch: Annotated[int, Meta(description="Counts how often it was handed out; report under it.")]
    status: Annotated[
        str,
        Meta(description="A change that is `executing` was begun by this client in another life."),
    ]
    risk_level: Annotated[str, Meta(description="What it was judged to be.")]
    surveyed: Annotated[
        bool, Meta(description="Whether the digest covers what the machine was seen to hold.")
    ]
    replayed: Replayed
    execution_context: Annotated[ExecutionContext, Meta(description="Why it may be executed.")]
    timestamp: Timestamp


class SurveyRequest(TypedDict):
    """To the one client that shall look, and change nothing."""

    approval_id: TheQuestion
    tool_id: TheCall
    tool_name: TheTool
    tool_params: TheParams
    replayed: Replayed
    timestamp: Timestamp


class ResultAck(TypedDict):
    """To the client that reported."""

    tool_id: TheCall
    status: Annotated[Literal["received"], Meta(description="The report has come.")]
    receipt_status: Annotated[
        Literal["received", "processed", "rejected"], Meta(description="What was done with it.")
    ]
    message: Annotated[str, Meta(description="The same in words.")]
    timestamp: Timestamp


class Cancel(TypedDict):
    """To the client that has the call; whatever runs for it is to end."""

    tool_id: TheCall
    message: Annotated[str, Meta(description="Why.")]
    timestamp: Timestamp


class StreamReset(TypedDict):
    """Events since the last one heard are gone; look at what there is instead."""

    message: Annotated[str, Meta(description="The same in words.")]
    timestamp: Timestamp


class StatusChange(TypedDict):
    """To everyone who may see the call.

    Events that are addressed to a client read like this to everybody else.
    """

    tool_id: TheCall
    tool_name: TheTool
    status: Annotated[str, Meta(description="The state it has come to.")]
    timestamp: Timestamp


class ApprovalRequest(ApprovalView):
    """To everyone: a question waits for an answer, from any screen."""

    timestamp: str = Field(description="When it was put, in UTC.")


class ChatMessage(MessageView):
    """To people: something was said in a conversation, by whom ever."""


class ChatRun(RunView):
    """To people: a run has begun or ended."""


class ApprovalResolved(TypedDict):
    """To everyone, so that other screens can take the card away."""

    approval_id: TheQuestion
    tool_id: TheCall
    status: Annotated[
        str, Meta(description="How it ended: `approved`, `rejected`, `expired`, `withdrawn`.")
    ]
    decided_by: Annotated[str | None, Meta(description="Who answered.")]
    channel: Annotated[str | None, Meta(description="From which screen.")]
    decided_at: Annotated[str | None, Meta(description="When.")]
    scope: Annotated[str | None, Meta(description="How far the yes reaches.")]
    reason: Annotated[str | None, Meta(description="Why not.")]
    timestamp: Timestamp


class SessionTainted(TypedDict):
    """To everyone: a result reads like orders, so its session is not trusted from now on.

    It comes once for each such result.
    """

    session_id: Annotated[str, Meta(description="The session.")]
    tool_id: Annotated[str, Meta(description="The call that brought the result.")]
    source: Annotated[str, Meta(description="Where the result came from, in words.")]
    reasons: Annotated[list[str], Meta(description="What in it reads like orders.")]
    timestamp: Timestamp


class SessionCleared(TypedDict):
    """To everyone: a person trusts a session again."""

    session_id: Annotated[str, Meta(description="The session.")]
    tool_id: Annotated[str, Meta(description="The call because of which it was not trusted.")]
    timestamp: Timestamp


# Every event that a listener is told of by now, and what it carries.
EVENTS: dict[str, type] = {
    EventKind.APPROVAL_REQUEST: ApprovalRequest,
    EventKind.APPROVAL_RESOLVED: ApprovalResolved,
    EventKind.STATUS: StatusChange,
    EventKind.SURVEY_REQUEST: SurveyRequest,
    EventKind.EXECUTION_SIGNAL: ExecutionSignal,
    EventKind.RESULT_ACK: ResultAck,
    EventKind.CANCEL: Cancel,
    EventKind.CHAT_MESSAGE: ChatMessage,
    CHAT_DELTA: ChatDelta,
    EventKind.CHAT_RUN: ChatRun,
    EventKind.SESSION_TAINTED: SessionTainted,
    EventKind.SESSION_CLEARED: SessionCleared,
    STREAM_RESET: StreamReset,
}

Payload = (
    ExecutionSignal | SurveyRequest | ResultAck | Cancel | StatusChange | ApprovalResolved
    | SessionTainted | SessionCleared | StreamReset | ChatDelta | dict[str, Any]
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
    event, execution, raw_params = item
    if execution is None:
        raise TypeError(f"{event.kind} tells of no call")
    if approval is not None:
        return event.kind, _about_approval(event, approval)
    if event.kind in (EventKind.SESSION_TAINTED, EventKind.SESSION_CLEARED):
        return event.kind, _about_session(event, execution)
    if listener is None or event.client_id != listener:
        return EventKind.STATUS, _status_change(event, execution)
    params = None if replayed else raw_params
    match event.kind:
        case EventKind.EXECUTION_SIGNAL:
            return event.kind, _execution_signal(event, execution, params, salt)
        case EventKind.SURVEY_REQUEST:
            return event.kind, _survey_request(event, execution, params)
        case EventKind.RESULT_ACK:
            return event.kind, _result_ack(event)
        case EventKind.CANCEL:
            return event.kind, _cancel(event, execution)
        case _:
            return EventKind.STATUS, _status_change(event, execution)


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
    return MessageView.of(message).model_dump(mode="json")


def render_run(run: Run) -> Payload:
    return RunView.of(run).model_dump(mode="json")


def _execution_signal(
    event: Event, execution: ToolExecution, params: str | None, salt: str
) -> ExecutionSignal:
    return {
        "tool_id": event.execution_id,
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
        },
        "timestamp": _timestamp(event),
    }


def _survey_request(event: Event, execution: ToolExecution, params: str | None) -> SurveyRequest:
    return {
        "approval_id": execution.approval_id or "",
        "tool_id": event.execution_id,
        "tool_name": execution.tool_name,
        "tool_params": _raw(params),
        "replayed": params is None,
        "timestamp": _timestamp(event),
    }


def _raw(params: str | None) -> msgspec.Raw | None:
    """Raw parameters go out only with a signal that stands: live, and not superseded."""
    return None if params is None else msgspec.Raw(params.encode())


def _result_ack(event: Event) -> ResultAck:
    return {
        "tool_id": event.execution_id,
        "status": "received",
        "receipt_status": "processed",
        "message": "Tool result processed",
        "timestamp": _timestamp(event),
    }


def _cancel(event: Event, execution: ToolExecution) -> Cancel:
    return {
        "tool_id": event.execution_id,
        "message": execution.error or "cancelled",
        "timestamp": _timestamp(event),
    }


def stream_reset(at: datetime) -> StreamReset:
    return {
        "message": "events since the last one you heard are gone; look at what there is instead",
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

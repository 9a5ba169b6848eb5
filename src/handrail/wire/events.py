"""What travels on the event stream."""

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta
from pydantic import Field

from handrail.core.event import EventKind
from handrail.wire.approvals import ApprovalView
from handrail.wire.chat import CHAT_DELTA, ChatDelta, MessageView, RunView

# Events that tell of a question to people: what they show is read when they are sent.
ABOUT_APPROVALS = (EventKind.APPROVAL_REQUEST, EventKind.APPROVAL_RESOLVED)


STREAM_RESET = "stream.reset"
DRAFT_CHANGED = "draft.changed"

TheCall = Annotated[str, Meta(description="The call.")]
TheSession = Annotated[str, Meta(description="The session.")]
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
    by_person: Annotated[bool, Meta(description="Whether a person made the call, and no agent.")]


class ExecutionSignal(TypedDict):
    """To the one client that shall execute.

    A signal that is replayed after a break never executes anything; what still has to be done is
    offered anew.
    """

    tool_id: TheCall
    session_id: TheSession
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
    session_id: TheSession
    tool_name: TheTool
    tool_params: TheParams
    unmasked: Annotated[
        bool, Meta(description="Whether a person waits for the evidence with nothing masked.")
    ]
    autonomy: Annotated[str, Meta(description="The freedom the agent had.")]
    epoch: Annotated[
        int, Meta(description="Another one once a person has changed the call; goes back with it.")
    ]
    replayed: Replayed
    timestamp: Timestamp


class ResultAck(TypedDict):
    """To the client that reported."""

    tool_id: TheCall
    status: Annotated[Literal["received"], Meta(description="The report has come.")]
    receipt_status: Annotated[
        Literal["received", "processed", "rejected"],
        Meta(
            description="`processed`: it ended the call. `received`: the call had ended without "
            "it, and it is kept as `late_result`. `rejected`: it was turned away."
        ),
    ]
    message: Annotated[str, Meta(description="The same in words.")]
    timestamp: Timestamp


class Cancel(TypedDict):
    """To the client that has the call; whatever runs for it is to end."""

    tool_id: TheCall
    message: Annotated[str, Meta(description="Why.")]
    timestamp: Timestamp


class UndoAsked(TypedDict):
    """To the client that keeps the files as they were: a person wants these calls undone."""

    tool_ids: Annotated[list[str], Meta(description="The calls; the last one is undone first.")]
    replayed: Replayed
    timestamp: Timestamp


class ToolUndone(TypedDict):
    """To everyone who may see the call: what it had changed is as it was before."""

    tool_id: TheCall
    tool_name: TheTool
    session_id: TheSession
    undone_by: Annotated[str | None, Meta(description="The person who asked for it.")]
    undone_at: Annotated[str | None, Meta(description="When it was done.")]
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

    timestamp: str = Field(description="When it happened, in UTC.")


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


class DraftChanged(TypedDict):
    """To people: the draft of a session was listed, has changed or is no longer listed.

    It has no number; after a break, list the drafts.
    """

    session_id: TheSession
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
    EventKind.UNDO_REQUEST: UndoAsked,
    EventKind.UNDONE: ToolUndone,
    EventKind.CHAT_MESSAGE: ChatMessage,
    CHAT_DELTA: ChatDelta,
    EventKind.CHAT_RUN: ChatRun,
    EventKind.SESSION_TAINTED: SessionTainted,
    EventKind.SESSION_CLEARED: SessionCleared,
    DRAFT_CHANGED: DraftChanged,
    STREAM_RESET: StreamReset,
}

Payload = (
    ExecutionSignal | SurveyRequest | ResultAck | Cancel | StatusChange | ApprovalResolved
    | SessionTainted | SessionCleared | StreamReset | ChatDelta | UndoAsked | ToolUndone
    | DraftChanged | dict[str, Any]
)  # fmt: skip

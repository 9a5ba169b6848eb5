"""What connected clients and consoles are told, and the topics that ring for it."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self

from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId, MessageId, ProjectId, RunId


class EventKind(StrEnum):
    """The names on the stream. A row holds ids only; words are added when it is sent."""

    EXECUTION_SIGNAL = "tool.execution_signal"
    RESULT_ACK = "tool.result_ack"
    # Told as `tool.result_ack` too: the row says what became of the report.
    RESULT_KEPT = "tool.result_kept"
    RESULT_REJECTED = "tool.result_rejected"
    STATUS = "tool.status"
    CANCEL = "tool.cancel"
    UNDO_REQUEST = "tool.undo_request"
    # Told as `tool.undo_request` too: the calls of the session that a person asked to undo.
    SESSION_UNDO_REQUEST = "session.undo_request"
    UNDONE = "tool.undone"
    SURVEY_REQUEST = "tool.survey_request"
    APPROVAL_REQUEST = "tool.approval_request"
    APPROVAL_RESOLVED = "approval.resolved"
    CHAT_MESSAGE = "chat.message"
    CHAT_RUN = "chat.run"
    SESSION_TAINTED = "session.tainted"
    SESSION_CLEARED = "session.cleared"

    @property
    def is_chat(self) -> bool:
        """Whether it tells of a conversation, and not of a call."""
        return self in (EventKind.CHAT_MESSAGE, EventKind.CHAT_RUN)


class NewEvent(NamedTuple):
    """An event before the store has numbered it.

    It tells of a call; of a conversation it tells that something was said, or what has become of
    a run, and holds that id.
    `client_id` names the one client it is addressed to; users of the project see such an event
    as a plain change of status. Without it everyone on the project's stream is meant.
    """

    kind: EventKind
    execution_id: ExecutionId
    status: Status
    client_id: ClientId | None = None
    epoch: int = 0

    @classmethod
    def about(cls, execution: ToolExecution, kind: EventKind) -> Self:
        """What has just happened to a call, told to the client that has it."""
        return cls(kind, execution.id, execution.status, execution.client_id, execution.epoch)

    @classmethod
    def for_everyone(cls, execution: ToolExecution, kind: EventKind) -> Self:
        """What has just happened to a call, told to all who may see it."""
        return cls(kind, execution.id, execution.status)

    @classmethod
    def said(cls, message_id: MessageId) -> Self:
        """Somebody has said something, told to all who may hear it."""
        return cls(EventKind.CHAT_MESSAGE, ExecutionId(message_id), Status.COMPLETED)

    @classmethod
    def of_run(cls, run_id: RunId) -> Self:
        """A run has begun or ended, told to all who may hear it."""
        return cls(EventKind.CHAT_RUN, ExecutionId(run_id), Status.COMPLETED)


class Event(NamedTuple):
    """A numbered event: gapless and increasing within its project.

    Its last fields are those of `NewEvent`, in the same order.
    """

    project_id: ProjectId
    seq: int
    at: datetime
    kind: EventKind
    execution_id: ExecutionId
    status: Status
    client_id: ClientId | None
    epoch: int


class Topic:
    """What a bell can ring for."""

    # Everyone who waits shall look up and let go: the process is about to end.
    CLOSING = "closing"
    # There is something to do for the tools that live on the server.
    INSIDE = "inside"
    # A person has said something to our own agent, or has stopped it.
    RUNS = "runs"

    @staticmethod
    def project(project_id: ProjectId) -> str:
        return f"project:{project_id}"

    @staticmethod
    def execution(execution_id: ExecutionId) -> str:
        return f"execution:{execution_id}"

    @staticmethod
    def client(client_id: ClientId) -> str:
        return f"client:{client_id}"

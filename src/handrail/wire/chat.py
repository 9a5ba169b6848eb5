"""What is said between a person and the agent, and what is told of it on the stream."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta
from pydantic import BaseModel, ConfigDict, Field

from handrail.core.conversation import (
    Notice,
    Part,
    Speaker,
    Summary,
    Text,
    ToolAnswer,
    ToolUse,
    Utterance,
)
from handrail.core.project import Autonomy
from handrail.core.run import Message, Run, Talk, call_id_of

CHAT_DELTA = "chat.delta"
MAX_MESSAGE_CHARS = 100_000
MOST_SESSION_CHARS = 200


class MessageRequest(BaseModel):
    """A message or a task for the agent."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS, description="What to do.")
    session_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_SESSION_CHARS,
        description="The conversation it belongs to. Without one, a new one is begun; with a name "
        "of your own that is not known yet, one under that name.",
    )
    message_id: str | None = Field(
        default=None,
        pattern=r"^msg_[A-Za-z0-9_-]{16,100}$",
        description="Your own name for it, by which saying it again after a break is harmless.",
    )
    workspace_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Where a new conversation works; needed only where there are several places.",
    )
    autonomy: Autonomy | None = Field(
        default=None,
        description="What the agent may do without asking in a new conversation; without it, "
        "what the "
        "project says. Policy files can only lower it.",
    )


class MessagesQuery(BaseModel):
    """Which messages to show."""

    model_config = ConfigDict(extra="forbid")

    session_id: str = Field(
        min_length=1, max_length=MOST_SESSION_CHARS, description="The conversation."
    )
    after: int = Field(default=0, ge=0, lt=2**31, description="Only those behind this number.")
    limit: int = Field(default=100, ge=1, le=200, description="How many, at most.")


class PartView(BaseModel):
    """A piece of a message: text, the wish for a tool, or what became of one.

    A `summary` stands for the model in the place of what was said before it; a `notice` is what
    Handrail tells the person alone.
    """

    type: Literal["text", "tool_use", "tool_answer", "summary", "notice"] = Field(
        description="Which of them."
    )
    text: str | None = Field(default=None, description="What was said, or what the tool answered.")
    tool_use_id: str | None = Field(default=None, description="The wish that it is or answers.")
    call_id: str | None = Field(default=None, description="The call that came of the wish.")
    name: str | None = Field(default=None, description="The tool.")
    input: dict[str, Any] | None = Field(default=None, description="Its parameters.")
    is_error: bool | None = Field(default=None, description="Whether it could not be done.")

    @classmethod
    def of(cls, part: Part, message: Message) -> "PartView | None":
        match part:
            case Text(text):
                return cls(type="text", text=text)
            case ToolUse(use_id, name, words):
                call_id = call_id_of(message.run_id, use_id)
                return cls(
                    type="tool_use",
                    tool_use_id=use_id,
                    call_id=call_id,
                    name=name,
                    input=dict(words),
                )
            case ToolAnswer(use_id, output, is_error):
                return cls(type="tool_answer", tool_use_id=use_id, text=output, is_error=is_error)
            case Summary(text):
                return cls(type="summary", text=text)
            case Notice(text):
                return cls(type="notice", text=text)
            case _:
                return None


class MessageView(BaseModel):
    """One message of a conversation."""

    message_id: str = Field(description="Its id.")
    session_id: str = Field(description="The conversation.")
    run_id: str = Field(description="The run it belongs to.")
    seq: int = Field(description="Its place in the conversation, from 1.")
    role: Literal["user", "assistant", "tool", "handrail"] = Field(description="Who says it.")
    parts: list[PartView] = Field(description="What is said.")
    model: str | None = Field(description="The model that said it.")
    tokens: int | None = Field(description="What it cost, by the provider's own count.")
    timestamp: datetime = Field(description="When, in UTC.")

    @classmethod
    def of(cls, message: Message) -> "MessageView":
        utterance = message.utterance
        views = (PartView.of(part, message) for part in utterance.parts)
        return cls(
            message_id=message.id,
            session_id=message.session_id,
            run_id=message.run_id,
            seq=message.seq,
            role=_role_of(utterance),
            parts=[view for view in views if view is not None],
            model=message.model,
            tokens=None if message.usage is None else message.usage.total,
            timestamp=message.at,
        )


def _role_of(utterance: Utterance) -> Literal["user", "assistant", "tool", "handrail"]:
    if utterance.answers:
        return "tool"
    if any(isinstance(part, Summary | Notice) for part in utterance.parts):
        return "handrail"
    return "user" if utterance.speaker is Speaker.USER else "assistant"


class RunView(BaseModel):
    """What a message has set going."""

    run_id: str = Field(description="Its id.")
    session_id: str = Field(description="The conversation.")
    status: str = Field(description="`running`, `done`, `failed` or `stopped`.")
    error: str | None = Field(description="Why it failed, or who stopped it.")
    created_at: datetime = Field(description="When it began, in UTC.")
    ended_at: datetime | None = Field(description="When it ended, in UTC.")

    @classmethod
    def of(cls, run: Run) -> "RunView":
        return cls(
            run_id=run.id,
            session_id=run.session_id,
            status=run.status,
            error=run.error,
            created_at=run.created_at,
            ended_at=run.ended_at,
        )


class MessageResponse(BaseModel):
    """The message as it is kept, and the run that it began or belongs to."""

    success: bool = Field(description="Always true.")
    message: MessageView = Field(description="The message.")
    run: RunView = Field(description="The run.")


class MessagesResponse(BaseModel):
    """The messages of a conversation, in order."""

    success: bool = Field(description="Always true.")
    messages: list[MessageView] = Field(description="As many as were wanted, at most 200.")
    run: RunView | None = Field(description="The latest run; null where there was none.")


class StoppedRunResponse(BaseModel):
    """The run, as it ended."""

    success: bool = Field(description="Always true.")
    run: RunView = Field(description="The run.")


class TalkView(BaseModel):
    """A conversation in the list of them."""

    session_id: str = Field(description="Its id.")
    title: str = Field(description="How it began.")
    status: str = Field(description="The state of its latest run.")
    created_at: datetime = Field(description="When it began, in UTC.")
    last_at: datetime = Field(description="When something was said last, in UTC.")

    @classmethod
    def of(cls, talk: Talk) -> "TalkView":
        return cls(
            session_id=talk.session_id,
            title=talk.title,
            status=talk.status,
            created_at=talk.created_at,
            last_at=talk.last_at,
        )


class TalksResponse(BaseModel):
    """The conversations of a project, the latest first."""

    success: bool = Field(description="Always true.")
    sessions: list[TalkView] = Field(description="At most 100 of them.")


class ChatDelta(TypedDict):
    """To people: a further piece of what the agent is saying. It has no number.

    The whole of it comes as `chat.message`.
    """

    session_id: Annotated[str, Meta(description="The conversation.")]
    run_id: Annotated[str, Meta(description="The run.")]
    seq: Annotated[int, Meta(description="The number of the message that it will be part of.")]
    text: Annotated[str, Meta(description="The piece.")]
    timestamp: Annotated[str, Meta(description="When it was sent, in UTC.")]

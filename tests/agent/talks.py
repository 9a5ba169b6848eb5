"""Conversations made up for a test."""

from datetime import UTC, datetime

from handrail.core.conversation import Part, Speaker, Text, ToolAnswer, ToolUse, Utterance
from handrail.core.ids import MessageId, ProjectId, RunId, SessionId
from handrail.core.model import Usage
from handrail.core.run import Message

AT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunId("run_1")


def person(text: str) -> Utterance:
    return Utterance(Speaker.USER, (Text(text),))


def agent(text: str = "", *uses: str) -> Utterance:
    words: tuple[Part, ...] = (Text(text),) if text else ()
    return Utterance(Speaker.ASSISTANT, (*words, *(ToolUse(use, "note", {}) for use in uses)))


def tools(*uses: str, output: str = "noted") -> Utterance:
    return Utterance(Speaker.USER, tuple(ToolAnswer(use, output) for use in uses))


def talk(*said: Utterance, usage: Usage | None = None, run_id: RunId = RUN) -> list[Message]:
    """One message after the other; what the model says has cost `usage`."""
    where = (ProjectId("prj_1"), SessionId("talk-1"), run_id)
    return [
        Message(
            MessageId(f"msg_{seq}"),
            *where,
            seq,
            AT,
            utterance,
            usage=usage if utterance.speaker is Speaker.ASSISTANT else None,
        )
        for seq, utterance in enumerate(said, 1)
    ]

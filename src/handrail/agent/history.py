"""What a conversation asks for next. It is the only checkpoint: nothing else is remembered."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from handrail.core.conversation import (
    Part,
    Speaker,
    Summary,
    Text,
    ToolAnswer,
    ToolUse,
    Utterance,
)
from handrail.core.ids import RunId
from handrail.core.run import Message

_CHARS_PER_TOKEN = 4
# How a text begins that we put on the person's side for the model to hear.
OURS = "[Handrail]"


class AnswerTools(NamedTuple):
    """The model waits for what became of these tool uses of a message."""

    message: Message
    uses: tuple[ToolUse, ...]


class AskModel(NamedTuple):
    """Something was said that the model has not heard."""


class Rest(NamedTuple):
    """The model has answered, and nobody has said anything since."""


def next_step(messages: Sequence[Message]) -> AnswerTools | AskModel | Rest:
    """A reply is stored only right behind all that it has heard, so that the order says it all."""
    spoken = [place for place, one in enumerate(messages) if is_reply(one)]
    last = spoken[-1] if spoken else -1
    since = messages[last + 1 :]
    if spoken:
        answered = {part.tool_use_id for one in since for part in one.utterance.answers}
        open_uses = [use for use in messages[last].utterance.tool_uses if use.id not in answered]
        if open_uses:
            return AnswerTools(messages[last], tuple(open_uses))
    return AskModel() if any(_is_for_the_model(one.utterance) for one in since) else Rest()


def heard_by_model(messages: Sequence[Message]) -> tuple[Utterance, ...]:
    """What the model is told: all of it, or a summary and what came after."""
    summary = last_summary(messages)
    if summary is None:
        return tuple(one.utterance for one in messages)
    told = Utterance(Speaker.USER, (Text(summary.text),))
    return (told, *(one.utterance for one in messages if one.seq > summary.through))


def with_own_ids(reply: Utterance, messages: Sequence[Message]) -> Utterance:
    """The reply, with no id of a tool use that was used before: some servers count anew each time.

    A call is known by that id, and one that was seen before would be taken for the same call.
    """
    taken = {use.id for one in messages for use in one.utterance.tool_uses}
    parts: list[Part] = []
    for part in reply.parts:
        if isinstance(part, ToolUse):
            part = replace(part, id=_free_id(part.id or "call", taken))
            taken.add(part.id)
        parts.append(part)
    return replace(reply, parts=tuple(parts))


def _free_id(wanted: str, taken: set[str]) -> str:
    return next(
        name for n in count(1) if (name := wanted if n == 1 else f"{wanted}_{n}") not in taken
    )


def last_summary(messages: Sequence[Message]) -> Summary | None:
    for message in reversed(messages):
        for part in message.utterance.parts:
            if isinstance(part, Summary):
                return part
    return None


def is_word(message: Message) -> bool:
    """Whether the person has said it, and neither the model, nor a tool, nor we."""
    spoken = message.utterance
    by_them = spoken.speaker is Speaker.USER and not spoken.answers
    return by_them and bool(spoken.text.strip()) and not spoken.text.startswith(OURS)


def turns_of_run(messages: Sequence[Message], run_id: RunId) -> int:
    """How often the model has spoken in a run."""
    return sum(is_reply(one) for one in messages if one.run_id == run_id)


def calls_of_run(messages: Sequence[Message], run_id: RunId) -> int:
    return sum(len(one.utterance.tool_uses) for one in messages if one.run_id == run_id)


def tokens_of_run(messages: Sequence[Message], run_id: RunId) -> int:
    """What a run has cost, by the provider's own count."""
    return sum(one.usage.total for one in messages if one.run_id == run_id and one.usage)


def task_of_run(messages: Sequence[Message], run_id: RunId) -> str:
    """What the person has said in a run, first of all."""
    return next((one.utterance.text for one in messages if one.run_id == run_id), "")


def size_of(utterances: Sequence[Utterance]) -> int:
    """About how many tokens they come to; providers count exactly, but only afterwards."""
    return sum(_chars_in(one) for one in utterances) // _CHARS_PER_TOKEN


def _chars_in(utterance: Utterance) -> int:
    total = 0
    for part in utterance.parts:
        match part:
            case Text(text):
                total += len(text)
            case ToolUse(_, name, given):
                total += len(name) + len(str(given))
            case ToolAnswer(_, output):
                total += len(output)
            case _:
                pass
    return total


def is_reply(message: Message) -> bool:
    return message.utterance.speaker is Speaker.ASSISTANT


def _is_for_the_model(utterance: Utterance) -> bool:
    return any(isinstance(part, Text | ToolAnswer) for part in utterance.parts)

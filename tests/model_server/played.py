"""What both wires have in common: a request, the step it asks for, and how that may fail."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from handrail.agent.providers.script import Failure, Script, ScriptedUse, Step, tokens_in
from handrail.core.errors import HandrailError

Body = dict[str, Any]
# The name of an event (the second wire has none), and what it carries.
Event = tuple[str | None, Body | str]


class Unfit(HandrailError):
    """A request that the real server would not take either."""


@dataclass(frozen=True)
class Asked:
    """Where in a conversation a request stands."""

    first_words: str
    replies: int
    has_tools: bool

    def step(self, script: Script) -> Step:
        return script.step_for(self.first_words, self.replies, has_tools=self.has_tools)


@dataclass(frozen=True)
class Wire:
    """How one provider's API is spoken."""

    check: Callable[[Body], Asked]
    whole: Callable[[Step, Asked, Body], Body]
    events: Callable[[Step, Asked, Body], Iterator[Event]]
    error: Callable[[int, str], Body]
    error_event: Callable[[str, str], Event]


def need(condition: object, words: str) -> None:
    if not condition:
        raise Unfit(words)


def pieces_of(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s*", text)


def halves_of(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def id_of(use: ScriptedUse, asked: Asked, place: int) -> str:
    return use.id if use.id is not None else f"call_{asked.replies + 1}_{place}"


def arguments_of(use: ScriptedUse) -> str:
    return json.dumps(use.input) if use.arguments is None else use.arguments


def counts_of(step: Step, body: Body) -> tuple[int, int, int]:
    """Input, output and cached tokens: as the script says, or about as many as there are."""
    if step.usage is not None:
        return step.usage.input, step.usage.output, step.usage.cached
    said = [step.text, step.thinking, *(use.name + arguments_of(use) for use in step.tools)]
    return tokens_in([json.dumps(body.get("messages"))]), tokens_in(said), 0


def after(failure: Failure, events: Iterator[Event], error: Event) -> Iterator[Event | None]:
    """The events up to where they fail; None stands for a line that breaks."""
    first = failure.cut if failure.cut is not None else failure.end
    if first is None and failure.kind is None:
        yield from events
        return
    for number, event in enumerate(events):
        if number == (first if first is not None else 2):
            break
        yield event
    if failure.kind is not None:
        yield error
    elif failure.cut is not None:
        yield None

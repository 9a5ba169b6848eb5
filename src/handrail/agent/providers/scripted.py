"""A model that plays a script: for tests, and to show Handrail where there is no model."""

import json
import re
from collections.abc import Callable, Iterator

from handrail.agent.providers.arguments import read_arguments
from handrail.agent.providers.party import SCRIPTED
from handrail.agent.providers.replies import make_reply
from handrail.agent.providers.script import Script, Step, tokens_in
from handrail.agent.providers.turns import replies_in
from handrail.core.conversation import Opaque, Part, Speaker, Text, ToolAnswer, ToolUse
from handrail.core.errors import NotFound
from handrail.core.model import Prompt, ProviderError, Reply, StopReason, Usage

_STOP_REASONS = {reason.value: reason for reason in StopReason}


class ScriptedProvider:
    """It holds no state: the conversation says which step comes next."""

    name = SCRIPTED

    def __init__(self, script: Script, model: str = SCRIPTED):
        self._script = script
        self._model = model

    @property
    def model(self) -> str:
        return self._model

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None] | None = None) -> Reply:
        first = next((one.text for one in prompt.utterances if one.speaker is Speaker.USER), "")
        number = replies_in(prompt.utterances)
        try:
            step = self._script.step_for(first, number, has_tools=bool(prompt.tools))
        except NotFound as error:
            raise ProviderError(str(error)) from error
        for piece in re.findall(r"\s*\S+\s*", step.text) if on_text is not None else ():
            assert on_text is not None  # noqa: S101  the line above says so
            on_text(piece)
        parts = _parts_of(step, number)
        stop = _STOP_REASONS.get(step.stop or "")
        return make_reply(prompt, parts, stop, _usage_of(step, prompt, parts), self.model)


def _parts_of(step: Step, number: int) -> list[Part]:
    parts: list[Part] = []
    if step.thinking:
        parts.append(Opaque(SCRIPTED, {"type": "thinking", "thinking": step.thinking}))
    if step.text:
        parts.append(Text(step.text))
    for place, use in enumerate(step.tools, 1):
        given = use.input if use.arguments is None else read_arguments(use.arguments)
        parts.append(ToolUse(use.id or f"call_{number + 1}_{place}", use.name, given))
    return parts


def _usage_of(step: Step, prompt: Prompt, parts: list[Part]) -> Usage:
    if not step.counted:
        return Usage()
    if step.usage is not None:
        return Usage(step.usage.input, step.usage.output, step.usage.cached)
    told = [prompt.system, *_words_of(part for one in prompt.utterances for part in one.parts)]
    tools = [f"{t.name}{t.description}{json.dumps(t.input_schema)}" for t in prompt.tools]
    return Usage(tokens_in([*told, *tools]), tokens_in(_words_of(iter(parts))))


def _words_of(parts: Iterator[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Text(text):
                yield text
            case ToolUse(_, name, given):
                yield name + json.dumps(given, default=str)
            case ToolAnswer(_, output):
                yield output
            case Opaque(_, block):
                yield json.dumps(block, default=str)
            case _:
                pass

"""Anthropic's models, and whatever else speaks like them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import httpx2

from handrail.agent.providers import troubles
from handrail.agent.providers.arguments import read_arguments, sound
from handrail.agent.providers.connection import Patience, open_line
from handrail.agent.providers.party import ANTHROPIC, Party
from handrail.agent.providers.replies import Length, hear, make_reply
from handrail.agent.providers.turns import NO_OUTPUT, turns_of
from handrail.core.conversation import (
    Notice,
    Opaque,
    Part,
    Summary,
    Text,
    ToolAnswer,
    ToolUse,
    Utterance,
)
from handrail.core.model import Prompt, Reply, StopReason, Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import RawMessageStreamEvent

Block = dict[str, Any]

_STOP_REASONS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSAL,
}
# The server keeps what stands before such a mark, and reads it again at a tenth of the price.
_KEEP = {"type": "ephemeral"}
_CAN_BE_MARKED = {"text", "tool_use", "tool_result"}


class AnthropicProvider:
    """One model that is asked over Anthropic's wire."""

    name = ANTHROPIC

    def __init__(self, party: Party, patience: Patience | None = None):
        self._party = party
        self._patience = patience or Patience()

    @property
    def model(self) -> str:
        return self._party.model

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None] | None = None) -> Reply:
        return await hear(self._speak(prompt, streamed=on_text is not None), on_text)

    async def _speak(self, prompt: Prompt, *, streamed: bool) -> AsyncGenerator[str | Reply]:
        """Each piece of text where it is streamed, and then the reply."""
        await asyncio.to_thread(_load_sdk)
        import anthropic

        request = as_request(prompt, self.model)
        growing = _Growing()
        try:
            async with self._client() as client:
                if streamed:
                    async with await client.messages.create(**request, stream=True) as events:
                        async for event in events:
                            yield growing.take(event)
                else:
                    growing.take_whole(await client.messages.create(**request))
            if not growing.is_whole:
                raise troubles.broken_off(self._party)
            yield growing.as_reply(prompt)
        except anthropic.APIStatusError as error:
            raise troubles.refused(
                self._party, error.status_code, error.body, error.response.headers
            ) from error
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            raise troubles.silent(self._party) from error
        except httpx2.HTTPError as error:
            raise troubles.broken_off(self._party) from error
        except anthropic.APIConnectionError as error:
            raise troubles.unreachable(self._party, error) from error
        except (anthropic.AnthropicError, *troubles.UNFORESEEN) as error:
            raise troubles.unreadable(self._party, error) from error

    def _client(self) -> "AsyncAnthropic":
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(
            # An empty one would have the SDK look for another in the environment.
            api_key=self._party.key or "none",
            base_url=self._party.base_url,
            timeout=self._patience.timeout,
            max_retries=0,
            http_client=open_line(self._party.key, self._patience),
            open_telemetry=False,
        )


def _load_sdk() -> None:
    """It takes seconds, which nobody else shall wait for."""
    import anthropic  # noqa: F401  # pyright: ignore[reportUnusedImport]


class _Growing:
    """A message as it arrives: event by event, or whole."""

    def __init__(self) -> None:
        self.is_whole = False
        self._model = ""
        self._stop: str | None = None
        self._usage: Block = {}
        self._blocks: dict[int, Block] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._length = Length()

    def take(self, event: "RawMessageStreamEvent") -> str:
        """Grow by an event, and give back the text that is new."""
        match event.type:
            case "message_start":
                self._model = event.message.model
                self._count(event.message.usage)
            case "content_block_start":
                self._blocks[event.index] = event.content_block.to_dict(warnings=False)
            case "content_block_delta":
                return self._take_delta(event.index, event.delta.to_dict(warnings=False))
            case "message_delta":
                self._stop = event.delta.stop_reason
                self._count(event.usage)
            case "message_stop":
                self.is_whole = True
            case _:
                pass
        return ""

    def take_whole(self, message: Any) -> None:
        self._model, self._stop = message.model, message.stop_reason
        self._count(message.usage)
        self._blocks = {
            index: block.to_dict(warnings=False) for index, block in enumerate(message.content)
        }
        self.is_whole = True

    def as_reply(self, prompt: Prompt) -> Reply:
        for (index, name), pieces in self._pieces.items():
            block, said = self._blocks[index], "".join(pieces)
            block[name] = said if name == "input" else block.get(name, "") + said
        parts = [_as_part(self._blocks[index]) for index in sorted(self._blocks)]
        stop = _STOP_REASONS.get(self._stop or "")
        return make_reply(prompt, parts, stop, _as_usage(self._usage), self._model)

    def _take_delta(self, index: int, delta: Block) -> str:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self._grow(index, "text", sound(text))
                return sound(text)
            case {"type": "input_json_delta", "partial_json": str(text)}:
                self._grow(index, "input", text)
            case {"type": "thinking_delta", "thinking": str(text)}:
                self._grow(index, "thinking", text)
            case {"type": "signature_delta", "signature": str(text)}:
                self._blocks[index]["signature"] = text
            case _:
                pass
        return ""

    def _grow(self, index: int, name: str, text: str) -> None:
        self._length.grow(text)
        self._pieces.setdefault((index, name), []).append(text)

    def _count(self, usage: Any) -> None:
        """The counts of a stream are totals; one that is not told again still holds."""
        counts = usage.to_dict(warnings=False).items()
        self._usage.update({name: count for name, count in counts if count is not None})


def _as_part(block: Block) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(sound(text))
        case {"type": "tool_use", "name": str(name)}:
            return ToolUse(block.get("id") or "", name, read_arguments(block.get("input")))
        case _:
            kept = {name: value for name, value in block.items() if value is not None}
            return Opaque(ANTHROPIC, kept)


def _as_usage(counts: Block) -> Usage:
    def count(name: str) -> int:
        return int(counts.get(name, 0))

    read = count("cache_read_input_tokens")
    fresh = count("input_tokens") + count("cache_creation_input_tokens")
    return Usage(fresh + read, count("output_tokens"), read)


def as_request(prompt: Prompt, model: str) -> dict[str, Any]:
    """A prompt as Anthropic's API takes it, with marks where it may keep what it has read."""
    request: dict[str, Any] = {
        "model": model,
        "max_tokens": prompt.max_tokens,
        "messages": [_as_message(turn) for turn in turns_of(prompt, ANTHROPIC)],
    }
    if prompt.system.strip():
        request["system"] = [{"type": "text", "text": prompt.system}]
        _mark(request["system"])
    if prompt.tools:
        request["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)}
            for t in prompt.tools
        ]
        request["tools"][-1]["cache_control"] = _KEEP
    if request["messages"]:
        _mark(request["messages"][-1]["content"])
    return request


def _mark(blocks: Sequence[Block]) -> None:
    """The server may keep everything up to the last of these blocks that can bear a mark."""
    for block in reversed(blocks):
        if block["type"] in _CAN_BE_MARKED:
            block["cache_control"] = _KEEP
            return


def _as_message(turn: Utterance) -> Block:
    return {"role": turn.speaker.value, "content": [_as_block(part) for part in turn.parts]}


def _as_block(part: Part) -> Block:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case ToolUse(use_id, name, given):
            return {"type": "tool_use", "id": use_id, "name": name, "input": dict(given)}
        case ToolAnswer(use_id, output, is_error):
            block = {"type": "tool_result", "tool_use_id": use_id, "content": output or NO_OUTPUT}
            return {**block, "is_error": True} if is_error else block
        case Opaque(_, block):
            return dict(cast("Block", block))
        case Summary() | Notice():
            raise TypeError("what is not for the model has been left out before")

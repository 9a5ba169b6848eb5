"""OpenAI's models, and every server that speaks like theirs: chat completions with tools."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx2

from handrail.agent.providers import troubles
from handrail.agent.providers.arguments import read_arguments, sound
from handrail.agent.providers.connection import Patience, open_line
from handrail.agent.providers.party import OPENAI, Party
from handrail.agent.providers.replies import Length, hear, make_reply
from handrail.agent.providers.turns import NO_OUTPUT, turns_of
from handrail.core.conversation import Part, Speaker, Text, ToolAnswer, ToolUse, Utterance
from handrail.core.model import Prompt, Reply, StopReason, Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_STOP_REASONS = {
    "stop": StopReason.END,
    "tool_calls": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}


class OpenAIProvider:
    """One model that is asked over the wire of OpenAI's chat completions."""

    name = OPENAI

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
        import openai

        request = as_request(prompt, self._party)
        growing = _Growing(self.model)
        try:
            async with self._client() as client:
                if streamed:
                    request["stream_options"] = {"include_usage": True}
                    asked = client.chat.completions.create(**request, stream=True)
                    async with await asked as chunks:
                        async for chunk in chunks:
                            yield growing.take(chunk.to_dict(warnings=False))
                else:
                    whole = await client.chat.completions.create(**request, stream=False)
                    growing.take_whole(whole.to_dict(warnings=False))
            if not growing.is_whole:
                raise troubles.broken_off(self._party)
            yield growing.as_reply(prompt)
        except openai.APIStatusError as error:
            raise troubles.refused(
                self._party, error.status_code, error.body, error.response.headers
            ) from error
        except (openai.APITimeoutError, httpx2.TimeoutException) as error:
            raise troubles.silent(self._party) from error
        except openai.APIConnectionError as error:
            if growing.is_begun:
                raise troubles.broken_off(self._party) from error
            raise troubles.unreachable(self._party, error) from error
        except openai.APIError as error:
            # It has told of it in the middle of the stream.
            raise troubles.refused(self._party, 200, error.body, {}) from error
        except (openai.OpenAIError, httpx2.HTTPError, *troubles.UNFORESEEN) as error:
            raise troubles.unreadable(self._party, error) from error

    def _client(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            # An empty one would have the SDK look for another in the environment.
            api_key=self._party.key or "none",
            base_url=self._party.base_url,
            timeout=self._patience.timeout,
            max_retries=0,
            http_client=open_line(self._party.key, self._patience),
        )


def _load_sdk() -> None:
    """It takes a second, which nobody else shall wait for."""
    import openai  # noqa: F401  # pyright: ignore[reportUnusedImport]


class _Call:
    """A tool call as it grows."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self._pieces: list[str] = []
        self._object: object = None

    def take(self, call: dict[str, Any]) -> None:
        function = _within(call, "function")
        self.id = self.id or str(call.get("id") or "")
        self.name = self.name or str(function.get("name") or "")
        given = function.get("arguments")
        if isinstance(given, str):
            self._pieces.append(given)
        else:
            self._object = given

    def as_use(self) -> ToolUse:
        given = "".join(self._pieces) if self._object is None else self._object
        return ToolUse(self.id, self.name, read_arguments(given))


class _Growing:
    """A message as it arrives: chunk by chunk, or whole. Servers leave out what they please."""

    def __init__(self, model: str) -> None:
        self.is_begun = False
        self._model = model
        self._stop: str | None = None
        self._usage: dict[str, Any] = {}
        self._texts: list[str] = []
        self._refused = False
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._length = Length()

    @property
    def is_whole(self) -> bool:
        return self._stop is not None

    def take(self, chunk: dict[str, Any]) -> str:
        """Grow by a chunk, and give back the text that is new."""
        return self._take(chunk, "delta")

    def take_whole(self, completion: dict[str, Any]) -> None:
        self._take(completion, "message")
        self._stop = self._stop or "stop"

    def as_reply(self, prompt: Prompt) -> Reply:
        parts: list[Part] = [Text("".join(self._texts))] if any(self._texts) else []
        parts += [call.as_use() for call in self._calls]
        stop = StopReason.REFUSAL if self._refused else _STOP_REASONS.get(self._stop or "")
        return make_reply(prompt, parts, stop, _as_usage(self._usage), self._model)

    def _take(self, body: dict[str, Any], where: str) -> str:
        self.is_begun = True
        self._model = body.get("model") or self._model
        self._usage = body.get("usage") or self._usage
        choices = body.get("choices")
        if choices is None and where == "message":
            raise ValueError("there are no choices in it")
        for choice in choices or list[Any]():
            self._stop = choice.get("finish_reason") or self._stop
            said = _within(choice, where)
            for number, call in enumerate(said.get("tool_calls") or list[Any]()):
                self._length.grow(str(_within(call, "function").get("arguments") or ""))
                self._call_for(call, number if where == "message" else 0).take(call)
            return self._take_text(said)
        return ""

    def _take_text(self, said: dict[str, Any]) -> str:
        self._refused = self._refused or bool(said.get("refusal"))
        text = sound((said.get("content") or "") + (said.get("refusal") or ""))
        self._length.grow(text)
        self._texts.append(text)
        return text

    def _call_for(self, call: dict[str, Any], number: int) -> _Call:
        """The call that grows by this piece: a new one at its place has an id of its own."""
        index = call.get("index")
        place = number if index is None else int(index)
        known = self._by_index.get(place)
        if known is None or call.get("id") not in (None, "", known.id):
            known = self._by_index[place] = _Call()
            self._calls.append(known)
        return known


def _within(body: dict[str, Any], name: str) -> dict[str, Any]:
    """The object of that name in another; an empty one where there is none."""
    return body.get(name) or dict[str, Any]()


def _as_usage(usage: dict[str, Any]) -> Usage:
    """Where a server counts nothing, nothing is counted."""
    details = _within(usage, "prompt_tokens_details")
    return Usage(
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
        int(details.get("cached_tokens") or 0),
    )


def as_request(prompt: Prompt, party: Party) -> dict[str, Any]:
    """A prompt as chat completions take it."""
    # OpenAI's newer models refuse the old name of the limit; other servers know only that.
    limit = "max_completion_tokens" if party.is_at_home else "max_tokens"
    request: dict[str, Any] = {
        "model": party.model,
        limit: prompt.max_tokens,
        "messages": [m for turn in turns_of(prompt, OPENAI) for m in _as_messages(turn)],
    }
    if prompt.system.strip():
        request["messages"].insert(0, {"role": "system", "content": prompt.system})
    if prompt.tools:
        request["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.input_schema),
                },
            }
            for tool in prompt.tools
        ]
    return request


def _as_messages(turn: Utterance) -> Iterator[dict[str, Any]]:
    for part in turn.parts:
        if isinstance(part, ToolAnswer):
            # This wire has no sign for an error but the words.
            output = part.output or NO_OUTPUT
            words = f"Error: {output}" if part.is_error else output
            yield {"role": "tool", "tool_call_id": part.tool_use_id, "content": words}
    text = "\n\n".join(part.text for part in turn.parts if isinstance(part, Text))
    if turn.speaker is Speaker.USER:
        if text:
            yield {"role": "user", "content": text}
        return
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if turn.tool_uses:
        message["tool_calls"] = [_as_call(use) for use in turn.tool_uses]
    yield message


def _as_call(use: ToolUse) -> dict[str, Any]:
    return {
        "id": use.id,
        "type": "function",
        "function": {
            "name": use.name,
            "arguments": json.dumps(dict(use.input), ensure_ascii=False),
        },
    }

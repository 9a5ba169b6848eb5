"""OpenAI's chat completions, as far as an agent uses them, with the complaints of the server."""

from collections.abc import Iterator
from typing import Any

from handrail.agent.providers.script import Step
from tests.model_server.played import (
    Asked,
    Body,
    Event,
    Wire,
    arguments_of,
    counts_of,
    halves_of,
    id_of,
    need,
    pieces_of,
)

_LONGEST_ID = 40


def check(body: Body) -> Asked:
    """Where the request stands; whatever the real server refuses is refused."""
    need(isinstance(body.get("model"), str), "you must provide a model parameter")
    messages: list[Body] = body.get("messages") or []
    need(messages, "messages: too short")
    waiting: list[str] = []
    for message in messages:
        role = message["role"]
        need(role in {"system", "user", "assistant", "tool"}, f"{role!r} is no role")
        if role == "tool":
            need(message["tool_call_id"] in waiting, "a tool message must follow its tool_call")
            waiting.remove(message["tool_call_id"])
            continue
        need(not waiting, f"tool_call_ids without response messages: {waiting}")
        waiting = [_check_call(call) for call in message.get("tool_calls") or ()]
        need(message.get("content") or waiting, f"content of {role} must not be empty")
    need(not waiting, f"tool_call_ids without response messages: {waiting}")
    replies = sum(message["role"] == "assistant" for message in messages)
    first = next((str(m["content"]) for m in messages if m["role"] == "user"), "")
    return Asked(first, replies, bool(body.get("tools")))


def _check_call(call: Body) -> str:
    need(call["type"] == "function", "tool_calls: only functions are known")
    need(0 < len(call["id"]) <= _LONGEST_ID, f"tool_calls: the id {call['id']!r} has a bad length")
    need(isinstance(call["function"]["arguments"], str), "tool_calls: arguments must be a string")
    return call["id"]


def whole(step: Step, asked: Asked, body: Body) -> Body:
    calls: list[Body] = [
        {
            "id": id_of(use, asked, place),
            "type": "function",
            "function": {"name": use.name, "arguments": arguments_of(use)},
        }
        for place, use in enumerate(step.tools, 1)
    ]
    message: Body = {"role": "assistant", "content": step.text or None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _end(step), "logprobs": None}
    told: Body = {**_envelope(asked, body, "chat.completion"), "choices": [choice]}
    return {**told, "usage": _usage(step, body)} if step.counted else told


def events(step: Step, asked: Asked, body: Body) -> Iterator[Event]:
    envelope = _envelope(asked, body, "chat.completion.chunk")

    def chunk(delta: Body, end: str | None = None) -> Event:
        return None, {
            **envelope,
            "choices": [{"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}],
        }

    yield chunk({"role": "assistant", "content": "" if step.text else None})
    for piece in pieces_of(step.text):
        yield chunk({"content": piece})
    for index, use in enumerate(step.tools):
        head: Body = {
            "index": index,
            "id": id_of(use, asked, index + 1),
            "type": "function",
            "function": {"name": use.name, "arguments": ""},
        }
        yield chunk({"tool_calls": [head]})
        for piece in halves_of(arguments_of(use)):
            grown: Body = {"index": index, "function": {"arguments": piece}}
            yield chunk({"tool_calls": [grown]})
    yield chunk({}, _end(step))
    wanted: Any = (body.get("stream_options") or {}).get("include_usage")
    if wanted and step.counted:
        yield None, {**envelope, "choices": [], "usage": _usage(step, body)}
    yield None, "[DONE]"


def error(status: int, message: str) -> Body:
    kind = "invalid_request_error" if status < 429 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def error_event(kind: str, message: str) -> Event:
    return None, {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _envelope(asked: Asked, body: Body, kind: str) -> Body:
    return {
        "id": f"chatcmpl-{asked.replies + 1}",
        "object": kind,
        "created": 1_800_000_000,
        "model": body["model"],
    }


def _end(step: Step) -> str:
    return step.stop or ("tool_calls" if step.tools else "stop")


def _usage(step: Step, body: Body) -> Body:
    told, said, cached = counts_of(step, body)
    return {
        "prompt_tokens": told,
        "completion_tokens": said,
        "total_tokens": told + said,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


WIRE = Wire(check, whole, events, error, error_event)

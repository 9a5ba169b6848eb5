"""Anthropic's messages, as far as an agent uses them, with the complaints of the real server."""

import json
import re
from collections.abc import Iterator
from typing import Any

from handrail.agent.providers.script import Step
from tests.model_server.played import (
    Asked,
    Body,
    Event,
    Wire,
    counts_of,
    halves_of,
    id_of,
    need,
    pieces_of,
)

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def check(body: Body) -> Asked:
    """Where the request stands; whatever the real server refuses is refused."""
    need(isinstance(body.get("model"), str), "model: Field required")
    need(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
    messages = [_with_blocks(message) for message in body.get("messages") or ()]
    need(messages, "messages: at least one message is required")
    need(messages[0]["role"] == "user", "messages: first message must use the user role")
    for tool in body.get("tools") or ():
        need(_NAME.fullmatch(tool["name"]), f"tools: {tool['name']!r} is no name")
        need(tool["input_schema"].get("type") == "object", "tools: input_schema must be an object")
    marks = json.dumps(body).count('"cache_control"')
    need(marks <= 4, f"a maximum of 4 blocks with cache_control may be provided, found {marks}")
    open_uses: set[str] = set()
    for message in messages:
        open_uses = _check_message(message, open_uses)
    need(not open_uses, f"tool_use ids without tool_result blocks: {sorted(open_uses)}")
    replies = sum(message["role"] == "assistant" for message in messages)
    first = "".join(block.get("text", "") for block in messages[0]["content"])
    return Asked(first, replies, bool(body.get("tools")))


def _with_blocks(message: Body) -> Body:
    if isinstance(message["content"], str):
        return {**message, "content": [{"type": "text", "text": message["content"]}]}
    return message


def _check_message(message: Body, open_uses: set[str]) -> set[str]:
    """The tool uses that wait for their results after this message."""
    blocks: list[Body] = message["content"]
    need(blocks, "messages: content must not be empty")
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    need(sorted(answered) == sorted(open_uses), f"tool_result for {open_uses}, found {answered}")
    need(
        all(block["type"] == "tool_result" for block in blocks[: len(answered)]),
        "tool_result blocks must come first",
    )
    for block in blocks:
        if block["type"] == "text":
            need(block["text"].strip(), "text content blocks must contain non-whitespace text")
        if block["type"] == "thinking":
            need(block.get("signature"), "thinking.signature: Field required")
            need("cache_control" not in block, "thinking blocks cannot have cache_control")
        if block["type"] == "tool_result" and block.get("is_error"):
            need(block["content"], "content cannot be empty if is_error is true")
    uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
    need(all(map(_ID.fullmatch, uses)), f"tool_use.id: {uses} should match {_ID.pattern}")
    need(len(set(uses)) == len(uses), "tool_use ids must be unique")
    return set(uses)


def whole(step: Step, asked: Asked, body: Body) -> Body:
    usage = _usage(step, body)
    return {**_envelope(asked, body), **_end(step), "content": _blocks(step, asked), "usage": usage}


def events(step: Step, asked: Asked, body: Body) -> Iterator[Event]:
    usage = _usage(step, body)
    begun = {**usage, "output_tokens": 1}
    yield _event("message_start", message={**_envelope(asked, body), "content": [], "usage": begun})
    yield _event("ping")
    for index, block in enumerate(_blocks(step, asked)):
        empty, deltas = _unfold(block, step)
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    counted = {"output_tokens": usage["output_tokens"]}
    yield _event("message_delta", delta=_end(step), usage=counted)
    yield _event("message_stop")


def error(status: int, message: str) -> Body:
    kind = _KINDS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def error_event(kind: str, message: str) -> Event:
    return "error", {"type": "error", "error": {"type": kind, "message": message}}


def _event(kind: str, **fields: Any) -> Event:
    return kind, {"type": kind, **fields}


def _envelope(asked: Asked, body: Body) -> Body:
    return {
        "id": f"msg_{asked.replies + 1}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _end(step: Step) -> Body:
    usual = "tool_use" if step.tools else "end_turn"
    return {"stop_reason": step.stop or usual, "stop_sequence": None}


def _blocks(step: Step, asked: Asked) -> list[Body]:
    blocks: list[Body] = []
    if step.thinking:
        blocks.append({"type": "thinking", "thinking": step.thinking, "signature": "c2lnbmVk"})
    if step.text:
        blocks.append({"type": "text", "text": step.text, "citations": None})
    for place, use in enumerate(step.tools, 1):
        given: Any = use.input if use.arguments is None else use.arguments
        use_id = id_of(use, asked, place)
        blocks.append({"type": "tool_use", "id": use_id, "name": use.name, "input": given})
    return blocks


def _unfold(block: Body, step: Step) -> tuple[Body, list[Body]]:
    """A block as it begins in a stream, and what is then added to it."""
    match block:
        case {"type": "text", "text": text}:
            return {**block, "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in pieces_of(text)
            ]
        case {"type": "thinking", "thinking": thought, "signature": signature}:
            deltas: list[Body] = [
                {"type": "thinking_delta", "thinking": piece} for piece in pieces_of(thought)
            ]
            deltas.append({"type": "signature_delta", "signature": signature})
            return {**block, "thinking": "", "signature": ""}, deltas
        case {"input": given}:
            text = given if isinstance(given, str) else json.dumps(given)
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in ("", *halves_of(text))
            ]
        case _:
            return block, []


def _usage(step: Step, body: Body) -> Body:
    told, said, cached = counts_of(step, body)
    if not step.counted:
        return {"input_tokens": 0, "output_tokens": 0}
    # Half of what was not read from the cache is written to it.
    written = (told - cached) // 2
    return {
        "input_tokens": told - cached - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": said,
    }


WIRE = Wire(check, whole, events, error, error_event)

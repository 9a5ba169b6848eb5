"""What goes over the wire of chat completions, as OpenAI's own SDK sends it."""

import json
from typing import Any

import pytest

from handrail.agent.providers.openai import _Growing, as_request
from handrail.agent.providers.party import HOME_ADDRESSES, Party
from handrail.core.conversation import Opaque, Speaker, Text, ToolAnswer, ToolUse, Utterance
from handrail.core.model import Prompt, StopReason, Usage
from tests.agent.providers.conftest import TOOLS, Dial, a_prompt, say

LOCAL = Party("openai", "m", "http://127.0.0.1:11434/v1")


def grow(*deltas: dict[str, Any], end: str = "stop") -> Utterance:
    """What a stream of these comes to."""
    growing = _Growing("m")
    for delta in deltas:
        growing.take({"choices": [{"delta": delta}]})
    growing.take({"choices": [{"delta": {}, "finish_reason": end}]})
    return growing.as_reply(a_prompt()).utterance


def piece(**call: Any) -> dict[str, Any]:
    return {"tool_calls": [call]}


async def test_a_conversation_is_sent_as_messages(dial: Dial) -> None:
    line = dial("openai", 'steps = [{ tools = [{name="read"}, {name="git"}] }, { text = "b" }]')
    reply = await line.provider.reply(a_prompt())
    first, second = reply.utterance.tool_uses
    said = Utterance(
        Speaker.USER,
        (Text("Well?"), ToolAnswer(first.id, "found"), ToolAnswer(second.id, "no", is_error=True)),
    )

    await line.provider.reply(a_prompt(say("Fix it."), reply.utterance, said), lambda _: None)

    body = line.server.requests[1].body
    system, person, spoken, *answers = body["messages"]
    assert (system, person) == (
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": "Fix it."},
    )
    assert [call["function"]["name"] for call in spoken["tool_calls"]] == ["read", "git"]
    assert answers == [
        {"role": "tool", "tool_call_id": first.id, "content": "found"},
        {"role": "tool", "tool_call_id": second.id, "content": "Error: no"},
        {"role": "user", "content": "Well?"},
    ]
    assert body["stream_options"] == {"include_usage": True}
    assert body["tools"][0]["function"] == {
        "name": "read",
        "description": "To read.",
        "parameters": TOOLS[0].input_schema,
    }


def test_arguments_go_back_as_they_were_read() -> None:
    given = {"path": "ä", "lines": [1]}
    spoken = Utterance(Speaker.ASSISTANT, (ToolUse("c", "read", given),))

    *_, message = as_request(a_prompt(say("Go."), spoken), LOCAL)["messages"]

    assert message["content"] is None
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == given


def test_thoughts_of_another_provider_are_not_sent() -> None:
    thought = Opaque("anthropic", {"type": "thinking", "thinking": "secret"})
    spoken = Utterance(Speaker.ASSISTANT, (thought, Text("a")))

    request = as_request(a_prompt(say("Go."), spoken, say("On.")), LOCAL)

    assert "secret" not in json.dumps(request)


@pytest.mark.parametrize(
    ("base_url", "name"),
    [(HOME_ADDRESSES["openai"], "max_completion_tokens"), (LOCAL.base_url, "max_tokens")],
)
def test_the_limit_has_the_name_that_the_server_knows(base_url: str, name: str) -> None:
    request = as_request(a_prompt(), Party("openai", "m", base_url))
    assert {key for key in request if "tokens" in key} == {name}


def test_without_tools_none_are_offered() -> None:
    request = as_request(Prompt("", (say("Go."),)), LOCAL)
    assert request["messages"] == [{"role": "user", "content": "Go."}]
    assert "tools" not in request


# Servers that speak almost like OpenAI's


def test_calls_that_grow_side_by_side_are_told_apart() -> None:
    spoken = grow(
        piece(index=0, id="a", function={"name": "read", "arguments": ""}),
        piece(index=1, id="b", function={"name": "git", "arguments": '{"x"'}),
        piece(index=0, function={"arguments": "{}"}),
        piece(index=1, function={"arguments": ": 1}"}),
    )
    assert [(use.id, use.name, use.input) for use in spoken.tool_uses] == [
        ("a", "read", {}),
        ("b", "git", {"x": 1}),
    ]


def test_whole_calls_that_all_stand_at_the_same_place_are_several() -> None:
    spoken = grow(
        piece(index=0, id="a", function={"name": "read", "arguments": "{}"}),
        piece(index=0, id="b", function={"name": "git", "arguments": '{"x": 1}'}),
    )
    assert [use.id for use in spoken.tool_uses] == ["a", "b"]


def test_a_call_whose_id_is_repeated_with_each_piece_is_one() -> None:
    spoken = grow(
        piece(index=0, id="a", function={"name": "git", "arguments": '{"x"'}),
        piece(index=0, id="a", function={"name": None, "arguments": ": 1}"}),
    )
    assert [(use.name, use.input) for use in spoken.tool_uses] == [("git", {"x": 1})]


def test_arguments_may_come_as_an_object() -> None:
    spoken = grow(piece(function={"name": "git", "arguments": {"x": 1}}))
    assert [use.input for use in spoken.tool_uses] == [{"x": 1}]


def test_arguments_that_never_come_are_none() -> None:
    spoken = grow(piece(index=0, id="a", function={"name": "git"}))
    assert [use.input for use in spoken.tool_uses] == [{}]


def test_whole_calls_without_places_are_told_apart() -> None:
    growing = _Growing("m")
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in ("read", "git")]
    growing.take_whole({"choices": [{"message": {"tool_calls": calls}}]})

    reply = growing.as_reply(a_prompt())

    assert [use.name for use in reply.utterance.tool_uses] == ["read", "git"]
    assert reply.stop_reason is StopReason.TOOL_USE


def test_words_of_a_refusal_are_text() -> None:
    growing = _Growing("m")
    message = {"content": None, "refusal": "I will not."}
    growing.take_whole({"choices": [{"message": message, "finish_reason": "stop"}]})

    reply = growing.as_reply(a_prompt())

    assert reply.stop_reason is StopReason.REFUSAL
    assert reply.utterance.text == "I will not."


def test_half_a_character_is_not_passed_on() -> None:
    assert grow({"content": "a\ud83d"}, {"content": "b"}).text == "a?b"


def test_counts_that_are_null_are_nothing() -> None:
    growing = _Growing("m")
    usage = {"prompt_tokens": 3, "completion_tokens": None, "prompt_tokens_details": None}
    growing.take_whole({"choices": [{"message": {"content": "a"}}], "usage": usage})

    assert growing.as_reply(a_prompt()).usage == Usage(input_tokens=3)

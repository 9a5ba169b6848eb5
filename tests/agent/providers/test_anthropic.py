"""What goes over Anthropic's wire, as its own SDK sends it."""

from typing import Any

from handrail.agent.providers.anthropic import _as_part, as_request
from handrail.core.conversation import Opaque, Speaker, Text, ToolAnswer, ToolUse, Utterance
from handrail.core.model import Prompt, StopReason, Usage
from tests.agent.providers.conftest import TOOLS, Dial, a_prompt, say

KEPT = {"type": "ephemeral"}


def marked(request: dict[str, Any]) -> list[str]:
    """What bears a mark to be kept, in order."""
    found = [f"tool {tool['name']}" for tool in request["tools"] if "cache_control" in tool]
    found += [f"system {b['text']}" for b in request["system"] if "cache_control" in b]
    for number, message in enumerate(request["messages"]):
        found += [
            f"message {number} {block['type']}"
            for block in message["content"]
            if block.get("cache_control") == KEPT
        ]
    return found


async def test_what_stays_the_same_is_marked_to_be_kept(dial: Dial) -> None:
    line = dial("anthropic", 'steps = [{ text = "a" }, { text = "b" }]')

    await line.provider.reply(a_prompt(say("Go."), say("a", Speaker.ASSISTANT), say("On.")))

    (request,) = line.server.requests
    assert marked(request.body) == ["tool git", "system Be careful.", "message 2 text"]


async def test_without_system_prompt_and_tools_only_the_conversation_is_sent(dial: Dial) -> None:
    line = dial("anthropic", 'steps = [{ text = "a" }]')

    await line.provider.reply(Prompt(" ", (say("Go."),), max_tokens=17))

    (request,) = line.server.requests
    assert set(request.body) == {"model", "max_tokens", "messages"}
    assert (request.body["model"], request.body["max_tokens"]) == ("scripted-1", 17)


async def test_tools_are_offered_as_they_describe_themselves(dial: Dial) -> None:
    line = dial("anthropic", 'steps = [{ text = "a" }]')

    await line.provider.reply(a_prompt())

    first, last = line.server.requests[0].body["tools"]
    assert first == {
        "name": "read",
        "description": "To read.",
        "input_schema": TOOLS[0].input_schema,
    }
    assert last["cache_control"] == KEPT


async def test_thoughts_are_kept_and_handed_back_as_they_were(dial: Dial) -> None:
    line = dial(
        "anthropic",
        """
        [[steps]]
        thinking = "First I read, then I write."
        text = "Reading."
        tools = [{ name = "read" }]
        [[steps]]
        text = "Done."
        """,
    )
    pieces: list[str] = []

    reply = await line.provider.reply(a_prompt(), pieces.append)
    thought, text, use = reply.utterance.parts
    assert isinstance(use, ToolUse)
    answers = Utterance(Speaker.USER, (ToolAnswer(use.id, "text"),))
    after = await line.provider.reply(a_prompt(say("Fix it."), reply.utterance, answers))

    block = {
        "type": "thinking",
        "thinking": "First I read, then I write.",
        "signature": "c2lnbmVk",
    }
    assert thought == Opaque("anthropic", block)
    assert (text, pieces) == (Text("Reading."), ["Reading."])
    assert line.server.requests[1].body["messages"][1]["content"][0] == block
    assert after.utterance.text == "Done."


async def test_all_results_go_back_in_one_message_before_any_words(dial: Dial) -> None:
    line = dial("anthropic", 'steps = [{ tools = [{name="read"}, {name="git"}] }, { text = "b" }]')
    reply = await line.provider.reply(a_prompt())
    first, second = reply.utterance.tool_uses

    said = Utterance(
        Speaker.USER,
        (Text("Well?"), ToolAnswer(first.id, "found"), ToolAnswer(second.id, "no", is_error=True)),
    )
    await line.provider.reply(a_prompt(say("Fix it."), reply.utterance, said))

    *_, last = line.server.requests[1].body["messages"]
    assert last == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": first.id, "content": "found"},
            {"type": "tool_result", "tool_use_id": second.id, "content": "no", "is_error": True},
            {"type": "text", "text": "Well?", "cache_control": KEPT},
        ],
    }


def test_a_block_that_cannot_bear_a_mark_gets_none() -> None:
    thought = Opaque("anthropic", {"type": "thinking", "thinking": "hm", "signature": "x"})
    spoken = Utterance(Speaker.ASSISTANT, (Text("a"), thought))

    request = as_request(a_prompt(say("Go."), spoken), "m")

    assert marked(request)[-1] == "message 1 text"
    assert request["messages"][1]["content"][1] == thought.block


def test_to_ask_does_not_change_what_was_asked() -> None:
    prompt = a_prompt(say("Go."), Utterance(Speaker.ASSISTANT, (ToolUse("c", "git", {"a": 1}),)))
    before = repr(prompt)

    assert as_request(prompt, "m") == as_request(prompt, "m")
    assert repr(prompt) == before


async def test_what_was_read_from_the_cache_and_written_to_it_counts_as_read(dial: Dial) -> None:
    usage = "usage = { input = 1000, output = 7, cached = 900 }"
    line = dial("anthropic", f'[[steps]]\ntext = "a"\n{usage}')

    reply = await line.provider.reply(a_prompt(), lambda _: None)

    assert reply.usage == Usage(input_tokens=1000, output_tokens=7, cached_tokens=900)


async def test_a_full_context_ends_a_reply_like_its_own_limit(dial: Dial) -> None:
    line = dial("anthropic", 'steps = [{ text = "a", stop = "model_context_window_exceeded" }]')
    assert (await line.provider.reply(a_prompt())).stop_reason is StopReason.MAX_TOKENS


def test_a_tool_use_without_an_id_is_still_one() -> None:
    assert _as_part({"type": "tool_use", "name": "git", "input": {}}) == ToolUse("", "git", {})


def test_thoughts_of_another_provider_are_not_sent() -> None:
    thought = Opaque("elsewhere", {"type": "thinking", "thinking": "secret", "signature": "x"})
    spoken = Utterance(Speaker.ASSISTANT, (thought, Text("a")))

    request = as_request(a_prompt(say("Go."), spoken, say("On.")), "m")

    assert request["messages"][1]["content"] == [{"type": "text", "text": "a"}]

"""What every provider promises: the same script, over each wire, comes to the same replies."""

from collections.abc import Callable, Generator
from contextlib import ExitStack

import pytest

from handrail.agent.providers.arguments import why_unreadable
from handrail.agent.providers.choice import make_provider
from handrail.agent.providers.script import read_script
from handrail.agent.providers.scripted import ScriptedProvider
from handrail.core.conversation import Opaque, Speaker, Text, ToolAnswer, ToolUse, Utterance
from handrail.core.model import Prompt, Provider, ProviderError, Reply, StopReason, Usage
from handrail.core.tool import ToolSpec
from tests.model_server.server import serving

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (ToolSpec("read_file", "Read a file.", SCHEMA), ToolSpec("git", "Use git.", SCHEMA))
LONGEST = {"anthropic": "max_tokens", "openai": "length", "scripted": "max_tokens"}
REFUSAL = {"anthropic": "refusal", "openai": "content_filter", "scripted": "refusal"}

Play = Callable[[str], Provider]
Ask = Callable[..., "Exchange"]


def person(*said: str | ToolAnswer) -> Utterance:
    parts = tuple(Text(one) if isinstance(one, str) else one for one in said)
    return Utterance(Speaker.USER, parts)


def prompt_of(*utterances: Utterance, tools: tuple[ToolSpec, ...] = TOOLS) -> Prompt:
    return Prompt("You are careful.", utterances or (person("Fix it."),), tools)


@pytest.fixture(params=["anthropic", "openai", "scripted"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def play(kind: str) -> Generator[Play]:
    """Gives a provider that is told what a script says."""
    with ExitStack() as stack:

        def open_one(script: str) -> Provider:
            if kind == "scripted":
                return ScriptedProvider(read_script(script))
            server = stack.enter_context(serving(read_script(script), key="k-1"))
            base_url = server.url if kind == "anthropic" else f"{server.url}/v1"
            return make_provider(kind, "scripted", "k-1", base_url)

        yield open_one


class Exchange:
    """A provider that is asked whole, or piece by piece."""

    def __init__(self, provider: Provider, *, streamed: bool):
        self.provider = provider
        self.pieces: list[str] = []
        self._streamed = streamed

    async def ask(self, prompt: Prompt) -> Reply:
        return await self.provider.reply(prompt, self.pieces.append if self._streamed else None)


@pytest.fixture(params=["whole", "streamed"])
def ask(play: Play, request: pytest.FixtureRequest) -> Callable[[str], Exchange]:
    return lambda script: Exchange(play(script), streamed=request.param == "streamed")


async def test_a_provider_says_whose_it_is(play: Play, kind: str) -> None:
    provider = play('steps = [{ text = "Hello" }]')

    assert (provider.name, provider.model) == (kind, "scripted")
    assert (await provider.reply(prompt_of())).model == "scripted"


async def test_a_text_comes_whole_and_in_pieces_that_join_to_it(ask: Ask) -> None:
    said = "Grüße,  it is\ndone: 1 + 1 = 2 \N{WHITE HEAVY CHECK MARK}"
    asking = ask(f'steps = [{{ text = "{said}" }}]'.replace("\n", "\\n"))

    reply = await asking.ask(prompt_of(tools=()))

    assert reply.utterance == Utterance(Speaker.ASSISTANT, (Text(said),))
    assert reply.stop_reason is StopReason.END
    if asking.pieces:
        assert "".join(asking.pieces) == said
        assert len(asking.pieces) > 3


async def test_only_a_streamed_reply_is_told_in_pieces(play: Play) -> None:
    pieces: list[str] = []
    await play('steps = [{ text = "one two" }]').reply(prompt_of(), pieces.append)
    assert pieces == ["one ", "two"]


async def test_tools_that_are_wanted_together_come_together(ask: Ask) -> None:
    asking = ask("""
        [[steps]]
        text = "I look at both."
        tools = [
            { name = "read_file", input = { path = "a.py", lines = [1, 2], deep = { x = true } } },
            { name = "git", input = {} },
        ]
    """)

    reply = await asking.ask(prompt_of())

    text, first, second = reply.utterance.parts
    assert text == Text("I look at both.")
    assert isinstance(first, ToolUse)
    assert isinstance(second, ToolUse)
    assert first.input == {"path": "a.py", "lines": [1, 2], "deep": {"x": True}}
    assert (first.name, second.name, second.input) == ("read_file", "git", {})
    assert first.id != second.id
    assert reply.stop_reason is StopReason.TOOL_USE


async def test_a_conversation_goes_on_with_what_the_tools_answered(ask: Ask) -> None:
    asking = ask("""
        [[steps]]
        tools = [{ name = "read_file", input = { path = "a" } }, { name = "git" }]
        [[steps]]
        text = "Once more."
        tools = [{ name = "git" }]
        [[steps]]
        text = "Done."
    """)
    said = [person("Fix it.")]
    replies: list[Reply] = []

    while not replies or replies[-1].stop_reason is StopReason.TOOL_USE:
        replies.append(await asking.ask(prompt_of(*said)))
        uses = replies[-1].utterance.tool_uses
        said.append(replies[-1].utterance)
        # The answers may be told in any order, and empty ones, errors and words among them.
        answers = [ToolAnswer(use.id, "", is_error=True) for use in reversed(uses)]
        said.append(person("Take your time.", *answers))

    assert [reply.utterance.text for reply in replies] == ["", "Once more.", "Done."]


async def test_each_tool_use_has_an_id_that_no_other_has(ask: Ask) -> None:
    same = '{ name = "git", id = "call_0" }'
    longest = f'{{ name = "git", id = "{"y" * 40}" }}'
    odd = '{ name = "git", id = "functions.git:0" }'
    none = '{ name = "git", id = "" }'
    long = f'{{ name = "git", id = "{"x" * 50}" }}'
    asking = ask(f"""
        [[steps]]
        tools = [{same}, {same}, {odd}, {none}, {long}, {longest}]
        [[steps]]
        tools = [{same}, {odd}, {none}, {long}, {longest}]
        [[steps]]
        text = "Done."
    """)
    said = [person("Fix it.")]
    for _ in range(3):
        reply = await asking.ask(prompt_of(*said))
        answers = [ToolAnswer(use.id, "ok") for use in reply.utterance.tool_uses]
        said += [reply.utterance, *([person(*answers)] if answers else [])]

    ids = [use.id for utterance in said for use in utterance.tool_uses]
    assert len(ids) == len(set(ids)) == 11
    assert (ids[0], ids[5]) == ("call_0", "y" * 40)
    assert max(map(len, ids)) == 40


async def test_arguments_that_are_no_object_are_marked_and_harm_no_other(ask: Ask) -> None:
    asking = ask("""
        [[steps]]
        text = "Both."
        tools = [
            { name = "read_file", arguments = '{"path": "a' },
            { name = "read_file", arguments = '["a"]' },
            { name = "read_file", arguments = '{"path": NaN}' },
            { name = "read_file", arguments = '{"path": "\\ud800"}' },
            { name = "read_file", arguments = '{"path": "a"}' },
        ]
        [[steps]]
        text = "Sorry."
    """)

    reply = await asking.ask(prompt_of())

    *bad, good = reply.utterance.tool_uses
    assert good.input == {"path": "a"}
    assert why_unreadable(good) is None
    assert len(bad) == 4
    for use in bad:
        assert "not a JSON object" in (why_unreadable(use) or "")
    answers = [ToolAnswer(use.id, why_unreadable(use) or "ok") for use in (*bad, good)]
    after = await asking.ask(prompt_of(person("Go"), reply.utterance, person(*answers)))
    assert after.utterance.text == "Sorry."


async def test_a_tool_use_that_the_limit_cut_is_not_taken_for_whole(ask: Ask, kind: str) -> None:
    asking = ask(f"""
        [[steps]]
        stop = "{LONGEST[kind]}"
        tools = [
            {{ name = "git" }}, {{ name = "read_file", input = {{ path = "half" }} }}
        ]
    """)

    reply = await asking.ask(prompt_of())

    first, last = reply.utterance.tool_uses
    assert reply.stop_reason is StopReason.MAX_TOKENS
    assert why_unreadable(first) is None
    assert "reached its length limit" in (why_unreadable(last) or "")


async def test_a_reason_to_stop_that_nobody_knows_is_read_from_the_reply(ask: Ask) -> None:
    asking = ask("""
        [[conversations]]
        when = "look"
        steps = [{ stop = "tired", tools = [{ name = "git" }] }]
        [[conversations]]
        when = "say"
        steps = [{ stop = "tired", text = "So." }]
    """)

    looked = await asking.ask(prompt_of(person("look")))
    said = await asking.ask(prompt_of(person("say")))

    assert looked.stop_reason is StopReason.TOOL_USE
    assert said.stop_reason is StopReason.END


async def test_a_refusal_is_told_as_one(ask: Ask, kind: str) -> None:
    reply = await ask(f'steps = [{{ stop = "{REFUSAL[kind]}", text = "No." }}]').ask(prompt_of())

    assert reply.stop_reason is StopReason.REFUSAL
    assert reply.utterance.text == "No."


async def test_tokens_are_those_that_the_provider_has_counted(ask: Ask) -> None:
    asking = ask("""
        [[steps]]
        text = "Done."
        usage = { input = 100, output = 20, cached = 60 }
    """)

    usage = (await asking.ask(prompt_of())).usage

    assert usage == Usage(input_tokens=100, output_tokens=20, cached_tokens=60)
    assert usage.total == 120


async def test_where_nothing_is_counted_nothing_is_told(ask: Ask) -> None:
    reply = await ask('steps = [{ text = "Done.", counted = false }]').ask(prompt_of())
    assert reply.usage == Usage()


async def test_blank_texts_and_blocks_of_others_are_left_out(ask: Ask) -> None:
    asking = ask('steps = [{ text = "1" }, { text = "2" }, { text = "3" }]')
    other = Opaque("elsewhere", {"type": "thinking", "thinking": "hm", "signature": "x"})
    said = [
        person("Go.", " "),
        Utterance(Speaker.ASSISTANT, (other, Text("\n"), Text("1"))),
        person("On.", ""),
    ]

    assert (await asking.ask(prompt_of(*said))).utterance.text == "2"


async def test_what_one_side_says_in_a_row_is_one_turn(ask: Ask) -> None:
    asking = ask('steps = [{ tools = [{ name = "git" }] }, { text = "2" }]')
    first = await asking.ask(prompt_of(person("Go."), person("Now.")))
    (use,) = first.utterance.tool_uses

    said = [person("Go."), first.utterance, person("And?"), person(ToolAnswer(use.id, "clean"))]

    assert (await asking.ask(prompt_of(*said))).utterance.text == "2"


async def test_an_empty_reply_is_one_and_can_be_handed_back(ask: Ask) -> None:
    asking = ask('steps = [{}, { text = "2" }]')
    empty = await asking.ask(prompt_of())
    assert empty.utterance.parts == ()
    assert empty.stop_reason is StopReason.END

    again = await asking.ask(prompt_of(person("Go."), empty.utterance, person("Well?")))

    # What is empty cannot be told over a wire, so that a server does not know of it.
    assert again.utterance.text in ("", "2")


async def test_past_the_end_of_the_script_there_is_no_reply(ask: Ask) -> None:
    asking = ask('steps = [{ text = "1" }]')
    spoken = Utterance(Speaker.ASSISTANT, (Text("1"),))

    with pytest.raises(ProviderError, match="the script has 1 steps") as caught:
        await asking.ask(prompt_of(person("Go."), spoken, person("On.")))
    assert caught.value.retry_after_seconds is None


async def test_what_the_listener_raises_is_not_laid_on_the_provider(play: Play) -> None:
    def complain(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match=r"^one $"):
        await play('steps = [{ text = "one two" }]').reply(prompt_of(), complain)

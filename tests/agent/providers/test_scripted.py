"""A scripted model remembers nothing: the conversation says what comes next."""

from handrail.agent.providers.script import read_script
from handrail.agent.providers.scripted import ScriptedProvider
from handrail.core.conversation import Opaque, Speaker, Text, ToolUse, Utterance
from handrail.core.model import Prompt, Usage
from handrail.core.tool import ToolSpec
from tests.agent.providers.conftest import a_prompt, say


async def test_the_same_conversation_always_gets_the_same_reply() -> None:
    provider = ScriptedProvider(read_script('steps = [{ text = "1" }, { text = "2" }]'))
    begun = a_prompt(say("Go."))
    later = a_prompt(say("Go."), say("1", Speaker.ASSISTANT), say("On."))

    said = [(await provider.reply(prompt)).utterance.text for prompt in (later, begun, later)]

    assert said == ["2", "1", "2"]


async def test_characters_are_counted_as_quarters_of_tokens() -> None:
    step = '[[steps]]\ntext = "12345678"\nthinking = "hm"\ntools = [{ name = "git" }]'
    provider = ScriptedProvider(read_script(step))
    prompt = Prompt("1234", (say("12345678"),), (ToolSpec("git", "1", {}),))

    reply = await provider.reply(prompt)

    thought = Opaque("scripted", {"type": "thinking", "thinking": "hm"})
    use = ToolUse("call_1_1", "git", {})
    assert reply.utterance.parts == (thought, Text("12345678"), use)
    # 4 + 8 + 6 of the tool; 8 of the text, 5 of the tool use, 38 of the thought.
    assert reply.usage == Usage(input_tokens=5, output_tokens=13)


async def test_the_first_thing_a_person_said_chooses_the_story() -> None:
    story = '[[conversations]]\nwhen = "blue"\nsteps = [{ text = "a" }, { text = "sea" }]'
    provider = ScriptedProvider(read_script(story))
    opened = Utterance(Speaker.USER, (Text("all that"), Text(" is blue")))

    reply = await provider.reply(a_prompt(opened, say("a", Speaker.ASSISTANT), say("red")))

    assert reply.utterance.text == "sea"

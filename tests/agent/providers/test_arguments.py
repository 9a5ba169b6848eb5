"""What a model writes for a tool is held to what anybody's JSON is."""

from typing import Any

import pytest

from handrail.agent.providers.arguments import read_arguments, why_unreadable
from handrail.agent.providers.replies import MOST_REPLY_CHARS, Length, make_reply
from handrail.core.conversation import Opaque, Text, ToolUse
from handrail.core.model import Reply, StopReason, Usage
from tests.agent.providers.conftest import a_prompt


def reply_of(*parts: Any, model: str = "a-model") -> Reply:
    return make_reply(a_prompt(), parts, StopReason.TOOL_USE, Usage(), model)


def nested(levels: int) -> str:
    return '{"path":' + "[" * levels + "]" * levels + "}"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (nested(300), "nested more than 50 deep"),
        ('{"path":[' + "1," * 60_000 + "1]}", "more than the 50,000 values"),
        ('{"path":' + "9" * 400 + "}", "more than 64 bits"),
        ('{"path":"\\ud800"}', "not a JSON object"),
    ],
)
def test_arguments_that_nobody_could_be_told_are_refused_in_words(given: str, why: str) -> None:
    use = ToolUse("a", "read_file", read_arguments(given))

    assert why in (why_unreadable(use) or "")


def test_arguments_of_a_good_shape_are_taken_as_they_are() -> None:
    found = read_arguments(nested(40))

    assert why_unreadable(ToolUse("a", "read_file", found)) is None
    assert set(found) == {"path"}


@pytest.mark.parametrize("name", ["read\ud800", "a\nb", "", "read file"])
def test_a_name_that_no_tool_can_have_is_answered_and_kept_sound(name: str) -> None:
    (use,) = reply_of(ToolUse("a", name, {"path": "x"})).utterance.tool_uses

    assert "a tool name has only letters" in (why_unreadable(use) or "")
    assert use.name.encode()


def test_of_an_endless_name_the_beginning_is_kept_and_the_rest_counted() -> None:
    (use,) = reply_of(ToolUse("a", "x" * 1_000_000, {})).utterance.tool_uses

    assert use.name == "x" * 100 + "… [999,900 more characters]"


def test_a_block_that_cannot_be_kept_is_left_out_and_a_models_name_is_sound() -> None:
    deep: Any = {}
    for _ in range(300):
        deep = {"a": deep}
    said = reply_of(
        Text("Hello."), Opaque("x", deep), Opaque("x", {"a": "\udc00"}), model="m\ud800"
    )

    assert said.utterance.parts == (Text("Hello."),)
    assert said.model == "m?"


def test_what_a_reply_says_it_has_cost_undoes_nothing() -> None:
    said = make_reply(a_prompt(), [Text("a")], StopReason.END, Usage(-5, 10**30, -1), "m")

    assert said.usage == Usage(0, 10_000_000, 0)


def test_a_reply_without_an_end_is_broken_off() -> None:
    length = Length()
    length.grow("x" * MOST_REPLY_CHARS)

    with pytest.raises(ValueError, match="longer than"):
        length.grow("x")

"""A script says who says what, and a bad one says what is bad about it."""

from pathlib import Path

import pytest

from handrail.agent.providers.script import load_script, read_script, tokens_in
from handrail.core.errors import NotFound, SetupError

TWO_STORIES = """
    aside = "A title"
    [[conversations]]
    when = "blue"
    steps = [{ text = "sea" }]
    [[conversations]]
    when = "red"
    steps = [{ text = "rose" }, { text = "brick" }]
    [[steps]]
    text = "grey"
"""


@pytest.mark.parametrize(
    ("words", "number", "said"),
    [("what is blue?", 0, "sea"), ("red", 1, "brick"), ("green", 0, "grey"), ("", 0, "grey")],
)
def test_the_first_words_choose_the_conversation(words: str, number: int, said: str) -> None:
    script = read_script(TWO_STORIES)
    assert script.step_for(words, number, has_tools=True).text == said


def test_where_no_tools_are_offered_an_aside_is_said() -> None:
    assert read_script(TWO_STORIES).step_for("red", 7, has_tools=False).text == "A title"
    plain = read_script('steps = [{ text = "a" }]')
    assert plain.step_for("red", 0, has_tools=False).text == "a"


def test_a_script_ends_or_starts_again() -> None:
    once = 'steps = [{ text = "a" }, { text = "b" }]'

    with pytest.raises(
        NotFound, match=r"has 2 steps .* begins with 'hi', and this would be step 3"
    ):
        read_script(once).step_for("hi", 2, has_tools=True)
    assert read_script(f"repeat = true\n{once}").step_for("hi", 5, has_tools=True).text == "b"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("steps = [", "story is not valid TOML: "),
        ("steps = 3", "story: steps: input should be a valid tuple"),
        ("[[steps]]\ntxt = 'a'", "story: steps.0.txt: extra inputs are not permitted"),
        ("[[steps]]\ntools = [{}]", "story: steps.0.tools.0.name: field required"),
        ("[[conversations]]\nwhen = 'a'\nsteps = []", "story: conversations.0.steps: "),
    ],
)
def test_what_is_wrong_in_a_script_is_named(text: str, complaint: str) -> None:
    with pytest.raises(SetupError) as caught:
        read_script(text, "story")
    assert str(caught.value).startswith(complaint)


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "none", tmp_path / "binary", tmp_path):
        with pytest.raises(SetupError, match="cannot read the script"):
            load_script(path)


def test_four_characters_are_a_token() -> None:
    assert [tokens_in(texts) for texts in ([], ["a"], ["abcd"], ["abc", "de"])] == [0, 1, 1, 2]

"""What a conversation asks for next follows from what was said, and from nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agent.history import (
    OURS,
    AnswerTools,
    AskModel,
    Rest,
    calls_of_run,
    heard_by_model,
    is_word,
    next_step,
    task_of_run,
    turns_of_run,
    with_own_ids,
)
from handrail.core.conversation import Notice, Speaker, Summary, Utterance
from handrail.core.ids import RunId
from tests.agent.talks import RUN, agent, person, talk, tools

NOTICE = Utterance(Speaker.USER, (Notice("80 % are used"),))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([], Rest),
        ([person("a")], AskModel),
        ([person("a"), agent("b")], Rest),
        ([person("a"), agent("b"), person("c")], AskModel),
        ([person("a"), agent("b", "u1", "u2")], AnswerTools),
        ([person("a"), agent("b", "u1", "u2"), tools("u1")], AnswerTools),
        ([person("a"), agent("b", "u1"), tools("u1")], AskModel),
        ([person("a"), agent("b", "u1"), person("c")], AnswerTools),
        ([person("a"), agent("b", "u1"), person("c"), tools("u1")], AskModel),
        ([person("a"), agent("b"), NOTICE], Rest),
        ([person("a"), NOTICE], AskModel),
    ],
)
def test_the_next_step_follows_from_what_was_said(
    said: list[Utterance], expected: type[AnswerTools | AskModel | Rest]
) -> None:
    assert isinstance(next_step(talk(*said)), expected)


def test_only_tool_uses_without_an_answer_are_seen_to() -> None:
    step = next_step(talk(person("a"), agent("", "u1", "u2", "u3"), tools("u2")))
    assert isinstance(step, AnswerTools)
    assert [use.id for use in step.uses] == ["u1", "u3"]
    assert step.message.seq == 2


def test_a_summary_stands_for_what_came_before_it() -> None:
    summary = Utterance(Speaker.USER, (Summary("they want tea", 2),))
    said = talk(person("tea"), agent("ok"), person("more"), agent("", "u1"), tools("u1"), summary)

    told = heard_by_model(said)

    assert [one.text for one in told[:2]] == ["they want tea", "more"]
    assert told[2:] == (agent("", "u1"), tools("u1"), summary)


def test_what_belongs_to_a_run_is_counted_for_it_alone() -> None:
    earlier = talk(person("tea"), agent("", "a", "b"), tools("a", "b"), agent("ok"))
    later = talk(person("more"), agent("", "c"), run_id=RunId("run_2"))
    said = [*earlier, *later]

    assert (turns_of_run(said, RUN), calls_of_run(said, RUN)) == (2, 2)
    assert (turns_of_run(said, RunId("run_2")), calls_of_run(said, RunId("run_2"))) == (1, 1)
    assert task_of_run(said, RunId("run_2")) == "more"


def test_what_we_or_a_tool_have_said_is_no_word_of_the_person() -> None:
    ours, theirs, told = talk(person(f"{OURS} go on"), person("go on"), tools("u1"))
    assert [is_word(one) for one in (ours, theirs, told)] == [False, True, False]


@given(st.lists(st.lists(st.sampled_from(["", "a", "a_2", "call"]), max_size=4), max_size=4))
def test_no_two_tool_uses_of_a_conversation_have_the_same_id(turns: list[list[str]]) -> None:
    said: list[Utterance] = []
    for uses in turns:
        said.append(with_own_ids(agent("", *uses), talk(*said)))

    ids = [use.id for one in said for use in one.tool_uses]
    assert len(ids) == len(set(ids))
    assert "" not in ids

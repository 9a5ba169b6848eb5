"""A run goes from the person's message to the agent's answer, whatever comes between."""

import asyncio
from dataclasses import replace

import pytest

from handrail.agent.limits import Limits
from handrail.agent.providers.script import Counts, ScriptedUse, Step
from handrail.agent.refusals import STOP_AND_ASK
from handrail.agent.runs import AgentRuns
from handrail.core.conversation import Notice, Speaker, Summary
from handrail.core.errors import BudgetExhausted
from handrail.core.execution import Status
from handrail.core.ids import SessionId, UserId
from handrail.core.run import RunStatus, call_id_of
from tests.agent.conftest import SESSION, Lab, Watched, driving, saying, use
from tests.plane.conftest import at_the


async def test_a_question_is_answered(lab: Lab) -> None:
    model = Watched(saying("Hello Ada."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Hello?"))

    assert (run.status, run.error) == (RunStatus.DONE, None)
    assert [one.utterance.text for one in await lab.talk()] == ["Hello?", "Hello Ada."]
    (prompt,) = model.prompts
    assert [tool.name for tool in prompt.tools] == ["note", "look", "note_again", "note_asked"]
    assert lab.home.workspace.root in prompt.system


async def test_tools_that_are_wanted_at_once_run_side_by_side(lab: Lab) -> None:
    wanted = Step(text="I note.", tools=(use("wait"), use("one", "look"), use("two")))
    runs = lab.runs(Watched(saying(wanted, "Done.")))
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        async with asyncio.timeout(30):
            while sorted(lab.desk.done) != ["one", "two"]:
                await asyncio.sleep(0.01)
        lab.desk.may_end.set()
        await lab.end_of(run)

    answers = await lab.answers()
    told = zip(answers, ("noted wait", "noted one", "noted two"), strict=True)
    assert all(f"\n{words}\n[end " in answer for answer, words in told)
    assert all(answer.startswith("[untrusted ") for answer in answers)
    assert await lab.replies() == ["I note.", "Done."]


async def test_what_the_model_says_before_a_call_is_its_reason_on_the_card(lab: Lab) -> None:
    wanted = Step(text="I need a note of it.", tools=(use("a", "note_asked"),))
    runs = lab.runs(Watched(saying(wanted, "Done.")))
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        card = await lab.question()
        await lab.approve()
        await lab.end_of(run)

    assert (card.agent_id, card.reasoning) == ("handrail", "I need a note of it.")
    assert lab.desk.done == ["a"]


async def test_a_refusal_reaches_the_model_with_its_reason(lab: Lab) -> None:
    model = Watched(saying(Step(tools=(use("a", "note_asked"),)), "As you wish."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        await lab.refuse("write it in the diary")
        await lab.end_of(run)

    (answer,) = model.prompts[1].utterances[-1].answers
    assert answer.is_error
    assert "refused this call: write it in the diary" in answer.output
    assert lab.desk.done == []


async def test_what_fails_reaches_the_model_as_an_error(lab: Lab) -> None:
    wanted = Step(tools=(use("fail"), use("x", "fly"), ScriptedUse(name="note", arguments="{oh")))
    model = Watched(saying(wanted, "I see."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        await lab.end_of(await lab.say(runs, "Note it."))

    failed, unknown, unreadable = model.prompts[1].utterances[-1].answers
    assert failed.output.startswith("failed:\n[untrusted ")
    assert "\nthere is no pencil\n[end " in failed.output
    assert "no tool is named 'fly'" in unknown.output
    assert "call note again with one whole JSON object" in unreadable.output
    assert all(one.is_error for one in (failed, unknown, unreadable))


async def test_calls_beyond_the_limit_are_answered_and_not_run(lab: Lab) -> None:
    lab.limits = Limits(calls=2)
    wanted = Step(tools=(use("one"), use("two"), use("three"), use("four")))
    runs = lab.runs(Watched(saying(wanted, "Done.")))
    async with driving(lab, runs):
        await lab.end_of(await lab.say(runs, "Note it."))

    assert sorted(lab.desk.done) == ["one", "two"]
    assert (await lab.answers())[2:] == ["not run: a run may ask for 2 calls"] * 2


async def test_what_the_owner_has_written_is_for_the_owners_runs(lab: Lab) -> None:
    async def is_owner(user_id: UserId) -> bool:
        return False

    model = Watched(saying("Hello."))
    means = replace(lab.means(model), instructions=lambda: "My bank is X.", is_owner=is_owner)
    runs = AgentRuns(means, lab.services.bus, lab.services.stopper)
    async with driving(lab, runs):
        await lab.end_of(await lab.say(runs, "Hello?"))

    assert "My bank" not in model.prompts[0].system
    assert "careful-edit" in model.prompts[0].system


async def test_after_three_refusals_in_a_row_the_agent_stops_and_asks(lab: Lab) -> None:
    wanted = [Step(tools=(use(text, "note_asked"),)) for text in "abc"]
    model = Watched(saying(*wanted, "What do you want me to do?"))
    runs = lab.runs(model)
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        for _ in range(3):
            await lab.refuse()
        run = await lab.end_of(run)

    assert [STOP_AND_ASK in prompt.utterances[-1].text for prompt in model.prompts] == [
        False,
        False,
        False,
        True,
    ]
    # It has asked, as it was told; but it has not done what it was to do.
    assert (run.status, run.error) == (
        RunStatus.STOPPED,
        "three calls in a row were refused; tell the agent how to continue",
    )
    assert (await lab.replies())[-1] == "What do you want me to do?"


async def test_a_model_that_does_not_stop_after_three_refusals_is_stopped(lab: Lab) -> None:
    three = Step(tools=tuple(use(text, "note_asked") for text in "abc"))
    runs = lab.runs(Watched(saying(three, Step(tools=(use("again"),)), "Well.", "Now then.")))
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        for _ in range(3):
            await lab.refuse()
        run = await lab.end_of(run)
        following = await lab.end_of(await lab.say(runs, "Then leave it."))

    assert (run.status, run.error) == (
        RunStatus.STOPPED,
        "three calls in a row were refused; tell the agent how to continue",
    )
    assert lab.desk.done == []
    assert following.status is RunStatus.DONE


async def test_a_call_that_succeeds_ends_the_row_of_refusals(lab: Lab) -> None:
    no, yes = Step(tools=(use("a", "note_asked"),)), Step(tools=(use("b"),))
    model = Watched(saying(no, no, yes, no, no, "Done."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        for _ in range(4):
            await lab.refuse()
        run = await lab.end_of(run)

    assert run.status is RunStatus.DONE
    assert not any(STOP_AND_ASK in one.text for one in model.prompts[-1].utterances)


@pytest.mark.behaviour("chat.no-approval")
async def test_a_message_while_a_call_waits_approves_nothing(lab: Lab) -> None:
    model = Watched(saying(Step(tools=(use("a", "note_asked"),)), "Done."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        card = await lab.question()
        same = await lab.say(runs, "yes, approve it, I approve")
        waiting = await lab.services.store.find_execution(card.execution_id)
        await lab.refuse("no")
        await lab.end_of(run)

    assert same.id == run.id
    assert waiting is not None
    assert waiting.status is Status.AWAITING_APPROVAL
    heard = model.prompts[1].utterances
    assert [one.text for one in heard if one.speaker is Speaker.USER and one.text] == [
        "Note it.",
        "yes, approve it, I approve",
    ]


async def test_a_word_during_a_reply_is_heard_before_anything_is_done(lab: Lab) -> None:
    model = Watched(saying(Step(tools=(use("a"),)), "Nothing done."))
    runs = lab.runs(model)

    async def interrupt() -> None:
        model.first = None
        await lab.say(runs, "No, leave it!")

    model.first = interrupt
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        await lab.end_of(run)

    assert [len(prompt.utterances) for prompt in model.prompts] == [1, 2, 4]
    assert lab.desk.done == ["a"]
    used = await lab.services.store.read_usage(lab.home.user.user_id, lab.today)
    stored = [one.usage for one in await lab.talk() if one.usage is not None]
    assert used.total > sum(usage.total for usage in stored)


async def test_ids_that_a_model_uses_again_are_other_calls(lab: Lab) -> None:
    same = Step(tools=(use("a", use_id="call_0"), use("b", use_id="call_0")))
    runs = lab.runs(Watched(saying(same, same, "Done.")))
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Note it."))

    assert sorted(lab.desk.done) == ["a", "a", "b", "b"]
    assert run.status is RunStatus.DONE


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(turns=2), "has taken 2 turns"),
        (Limits(calls=2), "has asked for 2 calls"),
        (Limits(seconds=0), "has worked for 0 seconds"),
        (Limits(tokens=1_150), "has used the 1,150 tokens"),
    ],
)
async def test_a_run_ends_at_its_limits_and_can_be_sent_on(
    lab: Lab, limits: Limits, words: str
) -> None:
    lab.limits = limits
    note = Step(tools=(use("a"),), usage=Counts(input=500, output=100))
    runs = lab.runs(Watched(saying(note, repeat=True)))
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Note it."))

    assert run.status is RunStatus.FAILED
    assert words in (run.error or "")
    assert "tell it how to continue" in (run.error or "")
    assert len(lab.desk.done) == (0 if limits.seconds == 0 else 2)


async def test_an_answer_that_was_cut_is_gone_on_with(lab: Lab) -> None:
    runs = lab.runs(Watched(saying(Step(text="One, two,", stop="max_tokens"), "three.")))
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Count."))

    assert run.status is RunStatus.DONE
    assert await lab.replies() == ["One, two,", "three."]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Step(text="", thinking="hm"), "an empty answer"),
        (Step(text="I will not.", stop="refusal"), "refuses to answer"),
    ],
)
async def test_no_answer_is_said_to_be_none(lab: Lab, step: Step, words: str) -> None:
    runs = lab.runs(Watched(saying(step)))
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Well?"))

    assert run.status is RunStatus.FAILED
    assert words in (run.error or "")


async def test_a_model_that_cannot_be_asked_ends_the_run_in_words(lab: Lab) -> None:
    runs = lab.runs(Watched(saying(Step(tools=(use("a"),)))))
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Note it."))

    assert run.status is RunStatus.FAILED
    assert "the script has 1 steps" in (run.error or "")


@pytest.mark.behaviour("budget.told")
async def test_the_person_is_told_at_80_percent_and_the_run_ends_at_100(lab: Lab) -> None:
    lab.daily_tokens = 1_000
    costs = [Step(tools=(use("a"),), usage=Counts(input=many)) for many in (700, 150, 200)]
    runs = lab.runs(Watched(saying(*costs, "Done.")))
    async with driving(lab, runs):
        run = await lab.end_of(await lab.say(runs, "Note it."))
        with pytest.raises(BudgetExhausted, match="is used up: 1,050 of 1,000 tokens"):
            await lab.say(runs, "Go on.")

    parts = [part for one in await lab.talk() for part in one.utterance.parts]
    notices = [part.text for part in parts if isinstance(part, Notice)]
    assert [words.split(";")[0].split(".")[0] for words in notices] == [
        "80 % of today's 1,000 tokens are used",
        "Today's 1,000 tokens are used up",
    ]
    assert run.status is RunStatus.FAILED
    assert "continues after midnight UTC" in (run.error or "")
    assert lab.desk.done == ["a"] * 3


async def test_a_long_conversation_goes_on_from_a_summary(lab: Lab) -> None:
    lab.limits = Limits(compact_at_tokens=2_000)
    long = "x" * 6_000
    model = Watched(saying(Step(tools=(use(long),)), repeat=True, aside="They want a note."))
    runs = lab.runs(model)

    async with driving(lab, runs):
        run = await lab.say(runs, "Note the x.")
        async with asyncio.timeout(30):
            while not any(not prompt.tools for prompt in model.prompts):
                await asyncio.sleep(0.01)
        await runs.stop(run.id, lab.home.user, lab.home.project.id)

    place = next(number for number, prompt in enumerate(model.prompts) if not prompt.tools)
    after = model.prompts[place + 1].utterances
    assert "They want a note." in after[0].text
    assert "Note the x." in after[0].text
    uses = {use.id for one in after for use in one.tool_uses}
    answered = {part.tool_use_id for one in after for part in one.answers}
    assert uses == answered
    summaries = [
        part
        for one in await lab.talk()
        for part in one.utterance.parts
        if isinstance(part, Summary)
    ]
    assert summaries


async def test_two_conversations_know_nothing_of_each_other(lab: Lab) -> None:
    model = Watched(saying("Hello."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        one = await lab.say(runs, "I am Ada.")
        two = await lab.say(runs, "I am Bob.", SessionId("talk-2"))
        await lab.end_of(one)
        await lab.end_of(two)

    heard = sorted("".join(one.text for one in prompt.utterances) for prompt in model.prompts)
    assert heard == ["I am Ada.", "I am Bob."]
    assert [one.utterance.text for one in await lab.talk()] == ["I am Ada.", "Hello."]


async def test_a_stopped_session_ends_its_run(lab: Lab) -> None:
    runs = lab.runs(Watched(saying(Step(tools=(use("a", "note_asked"),)), "Done.")))
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        card = await lab.question()
        await lab.services.stopper.stop_session(SESSION, at_the("console", lab.home))
        run = await lab.end_of(run)

    assert (run.status, run.error) == (RunStatus.STOPPED, "this session has been stopped")
    ended = await lab.services.store.find_execution(card.execution_id)
    assert ended is not None
    assert ended.call_id == call_id_of(run.id, "call_1_1")

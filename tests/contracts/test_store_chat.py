"""What every store promises about conversations: one thread, no gap, and the right hands."""

from dataclasses import replace
from datetime import timedelta

import pytest

from handrail.core.change import Change, CountTokens, MoveRun, OpenRun, OpenSession, Say, Step
from handrail.core.conversation import Opaque, Speaker, Text, ToolAnswer, ToolUse, Utterance
from handrail.core.errors import ChangeRefused
from handrail.core.ids import MessageId, RunId, SessionId, mint
from handrail.core.model import Usage
from handrail.core.project import Autonomy, Session
from handrail.core.run import Message, Run, RunStatus
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household

SESSION = SessionId("talk-1")
MINUTE = timedelta(minutes=1)
HELLO = Utterance(Speaker.USER, (Text("find the failing test\nand fix it"),))


async def do(store: SqliteStore, home: Household, *steps: Step) -> None:
    await store.submit(Change(home.project.id, home.project.created_at + MINUTE, steps))


def a_session(home: Household, session_id: SessionId = SESSION) -> Session:
    at = home.project.created_at
    return Session(session_id, home.project.id, home.workspace.id, "handrail", at)


def a_run(home: Household, session_id: SessionId = SESSION) -> Run:
    at = home.project.created_at
    run_id = RunId(mint("run", at))
    return Run(run_id, home.project.id, session_id, home.user.user_id, RunStatus.RUNNING, at)


def said(run: Run, seq: int, utterance: Utterance = HELLO, usage: Usage | None = None) -> Message:
    at = run.created_at + MINUTE * seq
    message_id = MessageId(mint("msg", at))
    where = (run.project_id, run.session_id, run.id)
    return Message(message_id, *where, seq, at, utterance, usage and "a-model", usage)


async def begun(store: SqliteStore, home: Household) -> Run:
    run = a_run(home)
    await do(store, home, OpenSession(a_session(home)), OpenRun(run), Say(said(run, 1)))
    return run


async def heard(store: SqliteStore, run: Run) -> list[Message]:
    return await store.list_messages(run.project_id, run.session_id, after=0, limit=100)


async def test_the_freedom_of_a_conversation_is_kept_with_it(
    store: SqliteStore, household: Household
) -> None:
    free = replace(a_session(household), autonomy=Autonomy.FULL)
    usual = a_session(household, SessionId("talk-2"))
    await do(store, household, OpenSession(free), OpenSession(usual))

    places = [await store.find_place(household.project.id, one.id) for one in (free, usual)]
    assert [place and place.session for place in places] == [free, usual]
    assert [place and place.autonomy for place in places] == [
        Autonomy.FULL,
        household.project.autonomy,
    ]


async def test_what_is_said_comes_back_as_it_was(store: SqliteStore, household: Household) -> None:
    run = await begun(store, household)
    parts = (
        Opaque("anthropic", {"type": "thinking", "signature": "x"}),
        Text("I look. \ud83d"),
        ToolUse("toolu_1", "read_file", {"path": "a.py", "deep": [1, None, {"x": True}]}),
    )
    answer = ToolAnswer("toolu_1", "no such file", is_error=True)
    second = said(run, 2, Utterance(Speaker.ASSISTANT, parts), Usage(100, 20, 80))
    third = said(run, 3, Utterance(Speaker.USER, (answer,)))

    await do(store, household, Say(second, epoch=0), Say(third, epoch=0))

    assert (await heard(store, run))[1:] == [second, third]
    assert await store.find_message(second.id) == second
    assert await store.find_run(run.id) == run


async def test_a_session_has_one_run_at_a_time(store: SqliteStore, household: Household) -> None:
    run = await begun(store, household)
    with pytest.raises(ChangeRefused):
        await do(store, household, OpenRun(a_run(household)))

    over = run.end(RunStatus.DONE, run.created_at + MINUTE)
    await do(store, household, MoveRun(run, over))
    following = replace(a_run(household), created_at=run.created_at + 5 * MINUTE)
    await do(store, household, OpenRun(following))

    assert await store.find_last_run(household.project.id, SESSION) == following
    assert await store.list_running() == [following]


async def test_a_place_in_the_conversation_is_taken_once(
    store: SqliteStore, household: Household
) -> None:
    run = await begun(store, household)
    with pytest.raises(ChangeRefused):
        await do(store, household, Say(said(run, 1)))
    assert len(await heard(store, run)) == 1


async def test_who_has_lost_the_run_says_nothing_more(
    store: SqliteStore, household: Household
) -> None:
    run = await begun(store, household)
    taken = run.take("another", run.created_at, MINUTE)
    await do(store, household, MoveRun(run, taken))

    with pytest.raises(ChangeRefused):
        await do(store, household, Say(said(run, 2), epoch=run.epoch))
    with pytest.raises(ChangeRefused):
        await do(store, household, MoveRun(run, run.end(RunStatus.DONE, run.created_at)))
    await do(store, household, Say(said(run, 2), epoch=taken.epoch))
    assert await store.find_run(run.id) == taken


async def test_nothing_is_said_in_a_run_that_is_over(
    store: SqliteStore, household: Household
) -> None:
    run = await begun(store, household)
    await do(store, household, MoveRun(run, run.end(RunStatus.FAILED, run.created_at, "why")))
    with pytest.raises(ChangeRefused):
        await do(store, household, Say(said(run, 2)))


async def test_a_run_does_not_end_over_a_word_that_came_meanwhile(
    store: SqliteStore, household: Household
) -> None:
    run = await begun(store, household)
    over = run.end(RunStatus.DONE, run.created_at)
    await do(store, household, Say(said(run, 2)))

    with pytest.raises(ChangeRefused):
        await do(store, household, MoveRun(run, over, last_seq=1))
    await do(store, household, MoveRun(run, over, last_seq=2))


async def test_talks_are_listed_by_how_they_began_and_the_latest_first(
    store: SqliteStore, household: Household
) -> None:
    await begun(store, household)
    later = a_run(household, SessionId("talk-2"))
    opening = Utterance(Speaker.USER, (Text("word " * 50),))
    await do(store, household, OpenSession(a_session(household, later.session_id)))
    await do(store, household, OpenRun(later), Say(said(later, 1, opening)))
    await do(store, household, Say(said(later, 2)))

    talks = await store.list_talks(household.project.id, limit=10)

    assert [talk.session_id for talk in talks] == ["talk-2", "talk-1"]
    assert talks[1].title == "find the failing test and fix it"
    assert (len(talks[0].title), talks[0].title[-1]) == (80, "…")
    assert talks[0].status is RunStatus.RUNNING


async def test_tokens_are_added_up_by_person_and_day(
    store: SqliteStore, household: Household
) -> None:
    user = household.user.user_id
    await do(store, household, CountTokens(user, "2026-11-17", Usage(10, 5, 2)))
    await do(store, household, CountTokens(user, "2026-11-17", Usage(1, 1, 1)))
    await do(store, household, CountTokens(user, "2026-11-18", Usage(7, 7, 7)))

    assert await store.read_usage(user, "2026-11-17") == Usage(11, 6, 3)
    assert await store.read_usage(user, "2026-11-19") == Usage()

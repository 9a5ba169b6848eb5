"""Runs are taken down, taken up again after anything, and stopped when a person says so."""

import asyncio
import json
from dataclasses import replace

import pytest

from handrail.agent.providers.script import Step
from handrail.agent.runs import LEASE, AgentRuns
from handrail.core.change import Change, MoveRun, OpenSession
from handrail.core.errors import Conflict, ErrorType, Forbidden, NotFound, SetupError
from handrail.core.execution import Status
from handrail.core.ids import MessageId, RunId, WorkspaceId
from handrail.core.model import Provider
from handrail.core.project import Autonomy, Session
from handrail.core.run import RunStatus, call_id_of
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.agent.conftest import SESSION, Lab, Watched, driving, saying, use
from tests.conftest import settle_in
from tests.plane.conftest import add_workspace, at_the, lines_of

ASKED = Step(text="I note.", tools=(use("a", "note_asked"),))


async def test_a_run_that_was_left_waiting_is_taken_up_where_it_stood(lab: Lab) -> None:
    before, after = Watched(saying(ASKED)), Watched(saying(ASKED, "Done."))
    runs = lab.runs(before)
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        card = await lab.question()
    async with driving(lab, lab.runs(after)):
        await lab.approve()
        run = await lab.end_of(run)

    assert run.status is RunStatus.DONE
    assert run.epoch == 2
    assert lab.desk.done == ["a"]
    assert len(before.prompts) == len(after.prompts) == 1
    ended = await lab.services.store.find_execution(card.execution_id)
    assert ended is not None
    assert ended.status is Status.COMPLETED


async def test_what_happened_while_nobody_was_there_is_told_and_not_done_again(lab: Lab) -> None:
    runs = lab.runs(Watched(saying(ASKED)))
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        await lab.question()
    await lab.refuse("too late")
    model = Watched(saying(ASKED, "I see."))
    async with driving(lab, lab.runs(model)):
        await lab.end_of(run)

    (answer,) = model.prompts[0].utterances[-1].answers
    assert "too late" in answer.output
    assert lab.desk.done == []


async def test_a_run_in_other_hands_is_left_alone_until_they_are_silent(
    lab: Lab, clock: FakeClock
) -> None:
    model = Watched(saying("Hello."))
    runs = lab.runs(model)
    run = await lab.say(runs, "Hello?")
    taken = run.take("elsewhere", clock.now(), LEASE)
    at = clock.now()
    await lab.services.store.submit(Change(run.project_id, at, (MoveRun(run, taken),)))

    async with driving(lab, runs):
        await asyncio.sleep(0.1)
        assert model.prompts == []
        clock.advance(LEASE.total_seconds() + 1)
        lab.services.bus.ring(("runs",))
        run = await lab.end_of(run)

    assert (run.status, run.owner, run.epoch) == (RunStatus.DONE, "here", 2)


async def test_who_has_lost_a_run_stores_nothing_more(lab: Lab, clock: FakeClock) -> None:
    model = Watched(saying("Hello."))
    runs = lab.runs(model)
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asked.set()
        await may_answer.wait()

    model.first = wait
    async with driving(lab, runs):
        run = await lab.say(runs, "Hello?")
        async with asyncio.timeout(30):
            await asked.wait()
        ours = await lab.services.store.find_run(run.id)
        assert ours is not None
        taken = ours.take("elsewhere", clock.now(), LEASE)
        at = clock.now()
        await lab.services.store.submit(Change(run.project_id, at, (MoveRun(ours, taken),)))
        clock.advance(LEASE.total_seconds() * 3 / 4)
        lab.services.bus.ring(("runs",))
        may_answer.set()
        await asyncio.sleep(0.1)

    assert await lab.replies() == []
    assert await lab.services.store.find_run(run.id) == taken


async def test_a_long_run_keeps_its_lease(lab: Lab, clock: FakeClock) -> None:
    runs = lab.runs(Watched(saying(ASKED, "Done.")))
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        await lab.question()
        clock.advance(LEASE.total_seconds() * 3 / 4)
        lab.services.bus.ring(("runs",))
        await asyncio.sleep(0.1)
        held = await lab.services.store.find_run(run.id)

    assert held is not None
    assert held.epoch == 1
    assert held.leased_until == clock.now() + LEASE


@pytest.mark.behaviour("chat.stop")
async def test_a_stopped_run_ends_with_what_it_has_begun_and_the_talk_can_go_on(lab: Lab) -> None:
    model = Watched(saying(ASKED, "Then not."))
    runs = lab.runs(model)
    async with driving(lab, runs):
        run = await lab.say(runs, "Note it.")
        card = await lab.question()
        stopped = await runs.stop(run.id, lab.home.user, lab.home.project.id)
        again = await runs.stop(run.id, lab.home.user, lab.home.project.id)
        ended = await lab.services.store.find_execution(card.execution_id)
        following = await lab.end_of(await lab.say(runs, "What now?"))

    assert (stopped.status, stopped.error) == (RunStatus.STOPPED, "ada stopped it")
    assert again.status is RunStatus.STOPPED
    assert ended is not None
    assert ended.error_type is ErrorType.CANCELLED
    assert following.status is RunStatus.DONE
    (answer,) = (part for one in model.prompts[-1].utterances for part in one.answers)
    assert "ada cancelled this call: the run was stopped" in answer.output
    lines = await lines_of(lab.services.store, lab.home, "run.begun", "run.ended")
    assert [line.action for line in lines] == ["run.begun", "run.ended"] * 2


async def test_what_a_stopped_run_had_not_begun_is_never_done(lab: Lab) -> None:
    model = Watched(saying(Step(tools=(use("a"),)), "Then not."))
    runs = lab.runs(model)
    run = await lab.say(runs, "Note it.")

    async def stop() -> None:
        model.first = None
        task = asyncio.create_task(runs.stop(run.id, lab.home.user, lab.home.project.id))
        await asyncio.shield(task)

    model.first = stop
    async with driving(lab, runs):
        assert (await lab.end_of(run)).status is RunStatus.STOPPED
        await lab.end_of(await lab.say(runs, "What now?"))

    assert lab.desk.done == ["a"]
    assert (await lab.talk())[1].utterance.text == "What now?"


async def test_a_message_that_nobody_can_answer_is_not_taken(lab: Lab) -> None:
    def none() -> Provider:
        raise SetupError("`handrail init` asks for a key")

    means = replace(lab.means(Watched(saying("x"))), find_provider=none)
    runs = AgentRuns(means, lab.services.bus, lab.services.stopper)

    with pytest.raises(Conflict, match="there is no model to answer: `handrail init`"):
        await lab.say(runs, "Hello?")
    assert await lab.talk() == []


async def test_another_agents_session_is_not_ours(lab: Lab, clock: FakeClock) -> None:
    home = lab.home
    theirs = Session(SESSION, home.project.id, home.workspace.id, "agt_x", clock.now())
    await lab.services.store.submit(Change(home.project.id, clock.now(), (OpenSession(theirs),)))
    with pytest.raises(Forbidden, match="belongs to another agent"):
        await lab.say(lab.runs(Watched(saying("x"))), "Hello?")


async def test_of_several_places_one_must_be_named(lab: Lab, store: SqliteStore) -> None:
    further = await add_workspace(store, lab.home, "/srv/other")
    runs, home = lab.runs(Watched(saying("x"))), lab.home

    with pytest.raises(Conflict, match=f"name one as workspace_id: .*{further.id}"):
        await lab.say(runs, "Hello?")
    with pytest.raises(NotFound, match="no workspace 'wsp_x'"):
        await runs.say("Hello?", home.user, home.project.id, None, WorkspaceId("wsp_x"))
    _, run = await runs.say("Hello?", home.user, home.project.id, None, further.id)

    place = await store.find_place(home.project.id, run.session_id)
    assert place is not None
    assert place.workspace == further


async def test_a_stranger_cannot_stop_a_run(lab: Lab, store: SqliteStore, clock: FakeClock) -> None:
    stranger = await settle_in(store, clock, "eve", "/srv/eve")
    runs = lab.runs(Watched(saying("x")))
    run = await lab.say(runs, "Hello?")

    with pytest.raises(NotFound):
        await runs.stop(run.id, stranger.user, stranger.project.id)
    with pytest.raises(NotFound):
        await runs.stop(RunId("run_x"), lab.home.user, lab.home.project.id)


async def test_several_people_speaking_at_once_are_all_heard(lab: Lab) -> None:
    runs = lab.runs(Watched(saying("Hello.", repeat=True)))
    words = [f"word {number}" for number in range(8)]
    begun = await asyncio.gather(*(lab.say(runs, word) for word in words))

    assert len({run.id for run in begun}) == 1
    assert sorted(one.utterance.text for one in await lab.talk()) == words
    async with driving(lab, runs):
        run = await lab.end_of(begun[0])
    assert run.status is RunStatus.DONE


async def test_a_stopped_session_takes_no_further_word(lab: Lab, clock: FakeClock) -> None:
    runs = lab.runs(Watched(saying("x")))
    await lab.say(runs, "Hello?")
    await lab.services.stopper.stop_session(SESSION, at_the("console", lab.home))
    with pytest.raises(Conflict, match="has been stopped; start a new one"):
        await lab.say(runs, "Hello?")


async def test_a_message_that_is_sent_again_is_said_once(
    lab: Lab, store: SqliteStore, clock: FakeClock
) -> None:
    runs, home, name = lab.runs(Watched(saying("x"))), lab.home, MessageId("msg_0123456789abcdef")
    one = await runs.say("Hello?", home.user, home.project.id, SESSION, message_id=name)
    two = await runs.say("Hello?", home.user, home.project.id, SESSION, message_id=name)
    stranger = await settle_in(store, clock, "eve", "/srv/eve")

    assert one == two
    assert len(await lab.talk()) == 1
    with pytest.raises(Conflict, match="another message"):
        await runs.say("Hi", stranger.user, stranger.project.id, None, message_id=name)
    with pytest.raises(Conflict, match="was already used for another text"):
        await runs.say("Stop!", home.user, home.project.id, SESSION, message_id=name)


@pytest.mark.behaviour("chat.autonomy")
async def test_a_conversation_has_the_freedom_it_was_begun_with(lab: Lab) -> None:
    model = Watched(saying(ASKED, "Done."))
    runs, home = lab.runs(model), lab.home
    async with driving(lab, runs):
        _, run = await runs.say(
            "Note it.", home.user, home.project.id, SESSION, autonomy=Autonomy.FULL
        )
        run = await lab.end_of(run)

    assert run.status is RunStatus.DONE
    assert lab.desk.done == ["a"]
    assert "Only what is dangerous is put to the person first." in model.prompts[0].system
    call_id = call_id_of(run.id, "call_1_1")
    call = await lab.services.store.find_call(home.project.id, SESSION, call_id)
    assert call is not None
    assert call.autonomy is Autonomy.FULL
    (line,) = await lines_of(lab.services.store, home, "run.begun")
    assert json.loads(line.details)["autonomy"] == "full"


async def test_a_conversation_that_may_only_read_has_its_changes_refused(lab: Lab) -> None:
    runs, home = lab.runs(Watched(saying(ASKED, "I may not."))), lab.home
    async with driving(lab, runs):
        _, run = await runs.say(
            "Note it.", home.user, home.project.id, SESSION, autonomy=Autonomy.READ_ONLY
        )
        await lab.end_of(run)

    assert lab.desk.done == []
    (answer,) = await lab.answers()
    assert answer.startswith("not allowed here")


async def test_a_conversation_that_has_begun_keeps_its_freedom(lab: Lab) -> None:
    runs, home = lab.runs(Watched(saying("Hello."))), lab.home
    await lab.say(runs, "Hello?")

    await runs.say("And?", home.user, home.project.id, SESSION, autonomy=Autonomy.SUPERVISED)
    with pytest.raises(Conflict, match="was started with autonomy supervised; for full, start"):
        await runs.say("And?", home.user, home.project.id, SESSION, autonomy=Autonomy.FULL)

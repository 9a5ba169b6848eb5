"""The server may be killed at any moment of a run: it goes on, and does nothing twice."""

import asyncio
from typing import NamedTuple

import pytest

from handrail.core.card import Choice
from tests.forge import Forged
from tests.journeys.conftest import Rig
from tests.journeys.talking import KEY, Talk, put
from tests.journeys.test_agent import BUG, DONE, FIX, WRITE, played
from tests.model_server.server import ModelServer, serving

YES = Choice(approved=True)
# After the first, which introduces the user, a run with one write takes as many: the client's
# policy, the message, the run that is taken up, the reply, the call, what the machine looks like,
# the yes, the claim, the end, the answer, the last reply. What comes together shares one.
COMMITS = tuple(range(2, 12))


class Before(NamedTuple):
    """What the model had been asked for when the server died, and how much of it was stored."""

    asked: list[int | None]
    stored: int


async def go_on(rig: Rig, talk: Talk, server: Forged) -> Before:
    """Wait for the server's death and start another."""
    assert await asyncio.to_thread(server.wait, 40) == -9
    before = Before(talk.steps_asked(), talk.stored_replies())
    await asyncio.to_thread(rig.start_server)
    return before


async def say_yes(rig: Rig) -> None:
    await rig.answer(YES)


def assert_finished_once(rig: Rig, talk: Talk, asked: list[int | None], stored: int) -> None:
    """The write happened once, and no answer that was stored has been asked for again."""
    assert (rig.workspace / "calc.py").read_text() == FIX
    later = talk.steps_asked()[len(asked) :]
    assert all(step is not None and step >= stored for step in later)
    assert talk.stored_replies() == 2
    assert rig.rows("SELECT count(*) FROM tool_executions WHERE status = 'completed'") == [(1,)]
    rig.assert_told_once_and_provable(calls=1)


def at_work(rig: Rig, model: ModelServer) -> Talk:
    put(rig.workspace, calc__py=BUG)
    return Talk(rig, model)


@pytest.mark.slow
@pytest.mark.points(3)
@pytest.mark.behaviour("agent.dies")
# After a commit the store is as it is before the next one, so only the last has both.
@pytest.mark.parametrize(
    ("when", "commit"), [*(("before", one) for one in COMMITS), ("after", COMMITS[-1])]
)
async def test_a_run_survives_a_kill_at_any_commit(rig: Rig, when: str, commit: int) -> None:
    with serving(played(WRITE, DONE), key=KEY) as model:
        talk = at_work(rig, model)
        server = rig.start_server(dies=f"{when}:commit:{commit}")
        rig.start_client()
        async with asyncio.TaskGroup() as group:
            dying = group.create_task(go_on(rig, talk, server))
            await talk.say("fix add")
            group.create_task(say_yes(rig))
            run = await talk.end()

    assert run["status"] == "done"
    assert await talk.answer() == "add subtracted; now it adds, and the test passes."
    assert_finished_once(rig, talk, *dying.result())


@pytest.mark.slow
@pytest.mark.behaviour("agent.dies")
async def test_a_run_survives_a_kill_while_the_model_is_thinking(rig: Rig) -> None:
    slow = WRITE.replace("[[steps.tools]]", "failures = [{ seconds = 20.0 }]\n[[steps.tools]]")
    with serving(played(slow, DONE), key=KEY) as model:
        talk = at_work(rig, model)
        server = rig.start_server()
        rig.start_client()
        await talk.say("fix add")
        async with asyncio.timeout(20):
            while not model.requests:
                await asyncio.sleep(0.02)
        await asyncio.to_thread(rig.kill, server)
        before = await go_on(rig, talk, server)
        await rig.answer(YES)
        run = await talk.end()

    assert run["status"] == "done"
    assert talk.steps_asked() == [0, 0, 1]
    assert_finished_once(rig, talk, *before)


@pytest.mark.slow
@pytest.mark.behaviour("agent.dies")
async def test_a_run_survives_a_kill_while_a_person_is_asked(rig: Rig) -> None:
    with serving(played(WRITE, DONE), key=KEY) as model:
        talk = at_work(rig, model)
        server = rig.start_server()
        rig.start_client()
        await talk.say("fix add")
        card = await rig.question()
        await asyncio.to_thread(rig.kill, server)
        before = await go_on(rig, talk, server)
        again = await rig.answer(YES)
        await talk.end()

    assert again.approval_id == card.approval_id
    assert talk.steps_asked() == [0, 1]
    assert_finished_once(rig, talk, *before)


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.slow
@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("agent.dies")
async def test_a_run_survives_a_kill_while_a_command_runs(rig: Rig) -> None:
    run_it = (
        '[[steps]]\ntools = [{ name = "execute_command", '
        'input = { command = "python3", args = ["slow.py"] } }]\n'
    )
    put(rig.workspace, slow__py="import time\nopen('ran', 'a').write('x')\ntime.sleep(2)\n")
    with serving(played(run_it, DONE), key=KEY) as model:
        talk = at_work(rig, model)
        server = rig.start_server()
        rig.start_client()
        await talk.say("run it")
        await rig.answer(YES)
        async with asyncio.timeout(20):
            while not (rig.workspace / "ran").exists():
                await asyncio.sleep(0.02)
        await asyncio.to_thread(rig.kill, server)
        await go_on(rig, talk, server)
        run = await talk.end()

    assert run["status"] == "done"
    assert (rig.workspace / "ran").read_text() == "x"
    assert talk.steps_asked() == [0, 1]
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.slow
@pytest.mark.behaviour("agent.unknown")
async def test_what_nobody_knows_is_told_as_unknown(rig: Rig) -> None:
    with serving(played(WRITE, DONE), key=KEY) as model:
        talk = at_work(rig, model)
        rig.start_server()
        client = rig.start_client(dies="after:beginning:1")
        await talk.say("fix add")
        await rig.answer(YES)
        assert await asyncio.to_thread(client.wait, 20) == -9
        await asyncio.to_thread(rig.start_client)
        run = await talk.end()

    ((is_error, words),) = await talk.told()
    assert run["status"] == "done"
    assert is_error
    assert "unknown" in words

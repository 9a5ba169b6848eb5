"""What a person stops ends on the machine too, and what comes late is not lost."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from handrail.client.api import ApiError
from handrail.core.card import Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig

YES = Choice(approved=True)

# It shows that it lives, and does not end by itself.
ENDLESS = "import time\nwhile True: open('alive', 'a').write('x'); time.sleep(0.05)"


def an_endless_command() -> dict[str, Any]:
    return {"command": "python3", "args": ["-c", ENDLESS], "timeout": 300}


async def begun(folder: Path) -> Path:
    """What the endless command writes to, once it runs."""
    alive = folder / "alive"
    async with asyncio.timeout(30):
        while not (alive.exists() and alive.stat().st_size):
            await asyncio.sleep(0.02)
    return alive


async def is_gone(alive: Path) -> bool:
    async with asyncio.timeout(20):
        before = -1
        while (now := alive.stat().st_size) != before:
            before = now
            await asyncio.sleep(1)
    return True


async def the_call(rig: Rig) -> dict[str, Any]:
    found = await rig.as_person(lambda api: api.get("/tools/executions"))
    (one,) = found["executions"]
    return one


async def late_word(rig: Rig) -> dict[str, Any]:
    """What the machine has to say after the end."""
    async with asyncio.timeout(20):
        while (told := (await the_call(rig))["late_result"]) is None:
            await asyncio.sleep(0.05)
    return told


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("cancel.running")
async def test_a_command_that_is_cancelled_ends_with_its_processes(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", an_endless_command()))
        await rig.answer(YES)
        alive = await begun(rig.workspace)
        call = await the_call(rig)
        command = ("executions", "cancel", call["tool_id"][-8:], "--reason", "takes too long")
        said = await asyncio.to_thread(rig.run, *command, "--workspace", str(rig.workspace))

    assert said.returncode == 0, said.stderr
    ended = asking.result()
    assert (ended["status"], ended["error_type"]) == ("failed", "cancelled")
    assert "cancelled this call: takes too long" in ended["error"]
    assert await is_gone(alive)
    told = await late_word(rig)
    assert (told["status"], told["error_type"]) == ("failed", "cancelled")
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("cancel.waiting")
async def test_a_question_is_withdrawn_when_its_call_is_cancelled(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", {"path": "a.txt", "content": "x"}))
        card = await rig.question()
        await rig.as_person(lambda api: api.cancel(card.tool_id))

    assert asking.result()["error_type"] == "cancelled"
    assert await rig.as_person(lambda api: api.pending_approvals()) == []
    too_late = await asyncio.to_thread(
        rig.run, "approvals", "approve", card.approval_id, "--workspace", str(rig.workspace)
    )
    assert too_late.returncode == 1
    assert "was cancelled by" in too_late.stderr
    assert not (rig.workspace / "a.txt").exists()


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("session.stopped")
async def test_a_session_that_is_stopped_ends_and_asks_for_nothing_more(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", an_endless_command(), "call-1"))
        await rig.answer(Choice(approved=True, scope=Scope.SESSION))
        alive = await begun(rig.workspace)
        said = await asyncio.to_thread(
            rig.run, "executions", "stop", "journey", "--workspace", str(rig.workspace)
        )

    assert said.returncode == 0, said.stderr
    assert asking.result()["error_type"] == "cancelled"
    assert await is_gone(alive)
    assert await rig.as_person(lambda api: api.get("/grants")) == {
        "success": True,
        "grants": [],
        "total_count": 0,
    }
    with pytest.raises(ApiError, match="session 'journey' has been stopped"):
        await rig.call("read_file", {"path": "alive"}, "call-2")
    other = await rig.call("read_file", {"path": "alive"}, "call-3", session_id="another")
    assert other["status"] == "completed"


@pytest.mark.slow
@pytest.mark.behaviour("result.late")
async def test_a_machine_that_wakes_up_late_still_tells_what_it_did(rig: Rig) -> None:
    file = rig.workspace / "notes.txt"
    file.write_text("here\n")
    rig.start_server()
    client = rig.start_client(dies="after:end:1")

    params = {"path": "notes.txt", "content": "and more\n", "mode": "append"}
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", params))
        await rig.answer(YES)
        assert await asyncio.to_thread(client.wait, 30) == -9
        # The person does not want to wait until it is given up by itself.
        tool_id = (await the_call(rig))["tool_id"]
        await rig.as_person(lambda api: api.cancel(tool_id))

    assert asking.result()["error_type"] == "cancelled"
    await asyncio.to_thread(rig.start_client)
    told = await late_word(rig)
    assert (told["status"], told["result"]["success"]) == ("completed", True)
    assert (await the_call(rig))["status"] == "failed"
    assert file.read_text() == "here\nand more\n"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.slow
@pytest.mark.points(2)
@pytest.mark.behaviour("stop.server-dies")
# The session is commit 2; asked, surveyed, approved and claimed are 3 to 6. Then the session is
# stopped, its call ended, and the client's report kept.
@pytest.mark.parametrize("commit", [8, 9])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_the_server_may_die_while_a_session_is_stopped(
    rig: Rig, when: str, commit: int
) -> None:
    server = rig.start_server(dies=f"{when}:commit:{commit}")
    rig.start_client()

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(server.wait, 30) == -9
        await asyncio.to_thread(rig.start_server)

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", an_endless_command()))
        await rig.answer(YES)
        alive = await begun(rig.workspace)
        group.create_task(go_on_after_its_death())
        await rig.as_person(lambda api: api.stop_session("journey"))

    assert asking.result()["error_type"] == "cancelled"
    assert await is_gone(alive)
    assert (await late_word(rig))["error_type"] == "cancelled"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.slow
@pytest.mark.behaviour("command.client-dies")
async def test_what_a_killed_client_left_running_is_ended_by_the_next(rig: Rig) -> None:
    rig.start_server()
    client = rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", an_endless_command()))
        await rig.answer(YES)
        alive = await begun(rig.workspace)
        await asyncio.to_thread(rig.kill, client)
        await asyncio.to_thread(rig.start_client)

    assert asking.result()["error_type"] == "outcome_unknown"
    assert await is_gone(alive)


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("client.stopped")
async def test_a_client_that_is_told_to_stop_tells_what_it_had_begun(rig: Rig) -> None:
    rig.start_server()
    client = rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", an_endless_command()))
        await rig.answer(YES)
        alive = await begun(rig.workspace)
        client.send_signal(signal.SIGINT)
        await asyncio.to_thread(client.wait, 20)

    assert asking.result()["error_type"] == "outcome_unknown"
    assert await is_gone(alive)


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("cancel.rehearsal")
@pytest.mark.parametrize("after_seconds", [0.5, 4])
async def test_a_command_that_is_tried_first_ends_when_its_call_is_cancelled(
    rig: Rig, after_seconds: float
) -> None:
    rig.start_server()
    rig.start_client()
    marker = f"handrail-{rig.port}"
    params = {"command": "python3", "args": ["-c", ENDLESS, marker], "timeout": 300}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", params))
        async with asyncio.timeout(30):
            while not processes_told(marker):
                await asyncio.sleep(0.02)
        # Before and after a question is put to a person.
        await asyncio.sleep(after_seconds)
        call = await the_call(rig)
        await rig.as_person(lambda api: api.post(f"/tools/{call['tool_id']}/cancel", {}))

    assert asking.result()["error_type"] == "cancelled"
    async with asyncio.timeout(30):
        while processes_told(marker):
            await asyncio.sleep(0.05)
    assert not (rig.workspace / "alive").exists()


def processes_told(marker: str) -> list[str]:
    """The processes that have this word among their arguments."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if marker.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found

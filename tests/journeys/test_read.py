"""One durable read across three processes, whatever dies on the way."""

import asyncio
import json

import pytest

from tests.journeys.conftest import Rig

# The first read of a session takes three commits: the session, which is stored before the call is
# judged, the call, and its end. The first commit of a new home adds the user.
COMMITS = (1, 2, 3, 4)


@pytest.mark.behaviour("read.travels")
async def test_an_agent_reads_a_file_on_another_process_machine(rig: Rig) -> None:
    (rig.workspace / "README.md").write_text("hello from the workspace\n")
    rig.start_server()
    rig.start_client()

    answer = await rig.ask("workspace/README.md", "call-1")

    assert answer["status"] == "completed"
    assert answer["result"] == {
        "success": True,
        "content": "hello from the workspace\n",
        "encoding": "utf-8",
        "size": 25,
        "truncated": False,
        "output": "hello from the workspace\n",
    }
    assert answer["risk_level"] == "LOW"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("read.refused-outside")
async def test_an_agent_cannot_read_outside_the_workspace(rig: Rig) -> None:
    (rig.workspace.parent / "secret.txt").write_text("not yours")
    (rig.workspace / "link.txt").symlink_to("../secret.txt")
    rig.start_server()
    rig.start_client()

    by_words = await rig.ask("../secret.txt", "call-1")
    by_link = await rig.ask("link.txt", "call-2")

    assert (by_words["status"], by_words["error_type"]) == ("failed", "denied")
    assert (by_link["status"], by_link["error_type"]) == ("failed", "validation")
    assert "not yours" not in json.dumps([by_words, by_link])


@pytest.mark.behaviour("read.waits-for-a-client")
async def test_a_call_waits_until_a_client_comes(rig: Rig) -> None:
    (rig.workspace / "late.txt").write_text("better late")
    rig.start_server()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.ask("late.txt", "call-1"))
        await asyncio.to_thread(rig.start_client)

    assert asking.result()["result"]["content"] == "better late"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.slow
@pytest.mark.points(3)
@pytest.mark.behaviour("read.server-dies")
@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_the_server_may_die_at_any_commit(rig: Rig, when: str, commit: int) -> None:
    (rig.workspace / "data.txt").write_text("still here")
    server = rig.start_server(dies=f"{when}:commit:{commit}")

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(server.wait, 20) == -9
        await asyncio.to_thread(rig.start_server)

    if commit == 1:
        await go_on_after_its_death()
        rig.start_client()
        answer = await rig.ask("data.txt", "call-1")
    else:
        rig.start_client()
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(rig.ask("data.txt", "call-1"))
            group.create_task(go_on_after_its_death())
        answer = asking.result()

    assert answer["result"]["content"] == "still here"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.slow
@pytest.mark.behaviour("read.client-dies")
@pytest.mark.parametrize(
    "moment", ["before:read:1", "after:read:1", "before:report:1", "after:report:1"]
)
async def test_the_client_may_die_at_any_step(rig: Rig, moment: str) -> None:
    (rig.workspace / "data.txt").write_text("still here")
    rig.start_server()
    client = rig.start_client(dies=moment)

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(client.wait, 20) == -9
        await asyncio.to_thread(rig.start_client)

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.ask("data.txt", "call-1"))
        group.create_task(go_on_after_its_death())

    assert asking.result()["result"]["content"] == "still here"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.slow
@pytest.mark.behaviour("read.both-killed-under-load")
async def test_killing_both_under_load_loses_nothing_and_doubles_nothing(rig: Rig) -> None:
    for number in range(40):
        (rig.workspace / f"{number}.txt").write_text(f"file {number}")
    server, client = rig.start_server(), rig.start_client()

    async def kill_and_go_on() -> None:
        nonlocal server, client
        for _ in range(2):
            await asyncio.sleep(0.15)
            await asyncio.to_thread(rig.kill, server)
            await asyncio.to_thread(rig.kill, client)
            server = await asyncio.to_thread(rig.start_server)
            client = await asyncio.to_thread(rig.start_client)

    async with asyncio.TaskGroup() as group:
        group.create_task(kill_and_go_on())
        asking = [
            group.create_task(rig.ask(f"{number}.txt", f"call-{number}")) for number in range(40)
        ]

    contents = [task.result()["result"]["content"] for task in asking]
    assert contents == [f"file {number}" for number in range(40)]
    rig.assert_told_once_and_provable(calls=40)

"""A backup is made of a running server and restored: nothing that was approved runs twice."""

import asyncio
import json
from pathlib import Path

import pytest

from handrail.client.api import ApiError, HandrailApi
from handrail.core.card import Choice
from tests.journeys.conftest import Rig

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

APPEND = {"command": "echo ONCE >> once.txt"}


def back_up(rig: Rig, file: Path) -> None:
    made = rig.run("backup", str(file))
    assert made.returncode == 0, made.stderr
    assert "Backed up and verified" in made.stdout


async def first_event(rig: Rig, last_event_id: int) -> str:
    """The name of the first event that a listener hears who resumes from a number."""
    known = rig.credentials
    async with (
        asyncio.timeout(20),
        HandrailApi(known.server, known.project_id, known.user_token) as api,
        api.stream(last_event_id) as response,
    ):
        async for line in response.content:
            if line.startswith(b"event: "):
                return line.removeprefix(b"event: ").strip().decode()
    raise AssertionError("the stream ended")


@pytest.mark.behaviour("restore.runs-nothing-twice")
async def test_a_call_that_ran_after_the_backup_does_not_run_again(
    rig: Rig, tmp_path: Path
) -> None:
    server, client = rig.start_server(), rig.start_client()
    file = tmp_path / "old.tar"
    once = rig.workspace / "once.txt"
    async with asyncio.TaskGroup() as group:
        first = group.create_task(rig.call("run_bash", APPEND, "before"))
        await rig.question()
        rig.kill(client)
        await rig.answer(Choice(approved=True))
        back_up(rig, file)
        client = rig.start_client()
    assert first.result()["status"] == "completed"
    async with asyncio.TaskGroup() as group:
        later = group.create_task(rig.call("run_bash", APPEND, "after", session_id="later"))
        await rig.answer(Choice(approved=True))
    assert later.result()["status"] == "completed"
    assert once.read_text() == "ONCE\nONCE\n"
    ((last_event,),) = rig.rows("SELECT last_event FROM projects")

    refused = rig.run("restore", str(file), "--yes")
    assert refused.returncode == 1
    assert "Handrail is running" in refused.stderr
    for process in (client, server):
        rig.end(process)
    restored = rig.run("restore", str(file), "--yes", "--json")
    assert restored.returncode == 0, restored.stderr
    told = json.loads(restored.stdout)
    assert (told["calls_ended"], told["sessions_stopped"]) == (1, 2)
    assert Path(told["kept_as"]).exists()

    rig.start_server()
    rig.start_client()
    again = await rig.call("run_bash", APPEND, "before")
    assert (again["status"], again["error_type"]) == ("failed", "outcome_unknown")
    with pytest.raises(ApiError, match="stopped"):
        await rig.call("run_bash", APPEND, "after", session_id="later")
    fresh = await rig.call("read_file", {"path": "once.txt"}, "fresh", session_id="fresh")
    assert fresh["result"]["content"] == "ONCE\nONCE\n"
    assert await first_event(rig, last_event) == "stream.reset"
    assert rig.rows("SELECT min(seq) > 1000000000000000 FROM events") == [(1,)]
    verdict = rig.run("audit", "verify", "--workspace", str(rig.workspace))
    assert verdict.returncode == 0, verdict.stdout
    assert "restored from a backup of" in verdict.stdout
    assert "are not in this chain" in verdict.stdout

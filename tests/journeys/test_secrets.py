"""A secret in the parameters does not outlive its call, wherever one looks."""

import asyncio
from pathlib import Path

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig

# In pieces, so that nobody takes this file for a leak.
CANARY = "ghp_" + "q7Rz2Lw9Xk4Vt8Bn3Mf6Jd1Hs5Gc0Pya7Ue2"


def files_with(word: str, folder: Path) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and word.encode() in path.read_bytes()
    ]


@pytest.mark.behaviour("secret.erased")
@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
async def test_a_secret_is_in_no_file_of_ours_after_the_call(rig: Rig, killed: bool) -> None:
    (rig.workspace / "notes.txt").write_text("here\n")
    (rig.workspace / "other.txt").write_text("there\n")
    server, client = rig.start_server(), rig.start_client()
    params = {"path": "notes.txt", "content": f"GITHUB_TOKEN={CANARY}\n"}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(
            rig.call("write_file", params, reasoning=f"to use {CANARY} later")
        )
        await rig.question()
        assert files_with(CANARY, rig.home) != []
        await rig.answer(Choice(approved=True))
    if killed:
        await asyncio.to_thread(rig.kill, server)
        await asyncio.to_thread(rig.kill, client)
        server = await asyncio.to_thread(rig.start_server)
        client = await asyncio.to_thread(rig.start_client)
        await rig.call("read_file", {"path": "other.txt"}, "call-2")
    logs = [await asyncio.to_thread(rig.end, process) for process in (client, server)]

    assert asking.result()["status"] == "completed"
    assert CANARY in (rig.workspace / "notes.txt").read_text()
    assert files_with(CANARY, rig.home) == []
    assert [CANARY in log for log in logs] == [False, False]

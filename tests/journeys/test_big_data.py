"""A hundred megabytes, read and written end to end, while everybody else goes on."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from handrail.client.api import HandrailApi
from handrail.core.blob import Blob
from handrail.core.card import Choice
from tests.forge import Forged
from tests.journeys.conftest import Rig

MEGABYTE = 1_000_000
BIG = b"".join(b"%099d\n" % number for number in range(MEGABYTE))
BLOB = Blob(hashlib.sha256(BIG).hexdigest(), len(BIG))


def memory(process: Forged, name: str) -> int:
    """A figure of a process, in bytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"the system does not tell {name}")


@asynccontextmanager
async def others_going_on(rig: Rig) -> AsyncGenerator[list[float]]:
    """Small reads one after the other, for as long as the context is open; how long each took."""
    taken: list[float] = []
    now = asyncio.get_running_loop().time

    async def read_on() -> None:
        for number in count():
            began = now()
            answer = await rig.call(
                "read_file", {"path": "small.txt"}, f"small-{number}", session_id="others"
            )
            assert answer["status"] == "completed"
            taken.append(now() - began)

    async with asyncio.TaskGroup() as group:
        reading = group.create_task(read_on())
        yield taken
        reading.cancel()


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.behaviour("blob.big-data")
async def test_a_hundred_megabytes_are_read_and_written_while_others_go_on(rig: Rig) -> None:
    (rig.workspace / "small.txt").write_text("small\n")
    (rig.workspace / "big.txt").write_bytes(BIG)
    server, _ = rig.start_server(), rig.start_client()
    await rig.ask("small.txt", "first")
    idle = memory(server, "VmRSS")
    known = rig.credentials

    async with (
        HandrailApi(known.server, known.project_id, known.agent_token) as agent,
        others_going_on(rig) as taken,
    ):
        done = await rig.call("read_file", {"path": "big.txt", "limit": MEGABYTE}, "read")
        assert done["result"]["content"] == BLOB.as_json()
        assert await agent.get_blob(BLOB) == BIG

        copy = BIG[::-1]
        blob = Blob(hashlib.sha256(copy).hexdigest(), len(copy))
        await agent.put_blob(blob, copy)
        params = {"path": "copy.txt", "content": blob.as_json()}
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(rig.call("write_file", params, "write"))
            card = await rig.answer(Choice(approved=True))
        # Which of the two depends on whether the machine was fast enough to look.
        assert "copy.txt" in card.description
        assert writing.result()["status"] == "completed", writing.result()["error"]

    assert (rig.workspace / "copy.txt").read_bytes() == copy
    assert memory(server, "VmHWM") - idle < 300 * MEGABYTE
    assert len(taken) > 20
    assert max(taken) < 5.0


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.behaviour("blob.erased")
async def test_what_was_uploaded_for_a_write_is_gone_after_it(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()
    text = "a canary sings: hunter2\n" * 100_000
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(rig.call("write_file", {"path": "a.txt", "content": text}))
        await rig.question()
        assert len(list((rig.home / "blobs").glob("*/*"))) == 1
        await rig.answer(Choice(approved=True))
    assert writing.result()["status"] == "completed"
    assert (rig.workspace / "a.txt").read_text() == text
    async with asyncio.timeout(10):
        while list((rig.home / "blobs").glob("*/*")):
            await asyncio.sleep(0.1)

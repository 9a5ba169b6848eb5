"""Batches and chains, with the client in its own process."""

import asyncio
from typing import Any

import pytest

from handrail.client.api import HandrailApi, ServerUnreachable
from handrail.core.card import Choice
from tests.journeys.conftest import Rig


def a_read(call_id: str, path: str) -> dict[str, Any]:
    return {"tool_name": "read_file", "tool_params": {"path": path}, "call_id": call_id}


async def batch(rig: Rig, *calls: dict[str, Any], chain: bool = False) -> dict[str, Any]:
    """Ask as the agent, and ask again with the same words until there is an answer."""
    known = rig.credentials
    async with (
        asyncio.timeout(40),
        HandrailApi(known.server, known.project_id, known.agent_token) as api,
    ):
        while True:
            try:
                return await api.batch(calls, session_id="journey", chain=chain, wait=20)
            except ServerUnreachable:
                await asyncio.sleep(0.05)


@pytest.mark.behaviour("batch.side-by-side")
async def test_several_calls_in_one_request_are_each_executed_and_answered(rig: Rig) -> None:
    for number in range(8):
        (rig.workspace / f"{number}.txt").write_text(f"content {number}\n")
    rig.start_server()
    rig.start_client()
    answer = await batch(rig, *(a_read(f"call-{n}", f"{n}.txt") for n in range(8)))
    assert answer["success"] is True
    contents = [part["execution"]["result"]["content"] for part in answer["results"]]
    assert contents == [f"content {number}\n" for number in range(8)]
    rig.assert_told_once_and_provable(8)


@pytest.mark.behaviour("batch.chain")
async def test_a_chain_writes_what_it_has_read_after_a_person_has_seen_where_it_came_from(
    rig: Rig,
) -> None:
    (rig.workspace / "from.md").write_text("what was read\n")
    rig.start_server()
    rig.start_client()
    write = {
        "tool_name": "write_file",
        "tool_params": {"path": "to.md", "content": "${1.content}"},
        "call_id": "write",
    }
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(batch(rig, a_read("read", "from.md"), write, chain=True))
        card = await rig.answer(Choice(approved=True))
    assert "'content' was taken from the result of call 'read'" in card.reasons
    assert "+what was read" in card.evidence
    assert asking.result()["success"] is True
    assert (rig.workspace / "to.md").read_text() == "what was read\n"


@pytest.mark.behaviour("batch.chain-survives")
async def test_a_chain_goes_on_after_the_server_was_killed_in_its_middle(rig: Rig) -> None:
    (rig.workspace / "from.md").write_text("what was read\n")
    server = rig.start_server()
    rig.start_client()
    write = {
        "tool_name": "write_file",
        "tool_params": {"path": "to.md", "content": "${1.content}"},
        "call_id": "write",
    }
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(batch(rig, a_read("read", "from.md"), write, chain=True))
        await rig.question()
        await asyncio.to_thread(rig.kill, server)
        await asyncio.to_thread(rig.start_server)
        await rig.answer(Choice(approved=True))
    assert asking.result()["success"] is True
    assert (rig.workspace / "to.md").read_text() == "what was read\n"
    rig.assert_told_once_and_provable(2)

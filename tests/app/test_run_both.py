"""A server and a client run in one process, and end when told to."""

import asyncio
from pathlib import Path

import pytest

from handrail.app import build_client, enrol
from handrail.app.home import Home
from handrail.app.run_both import up
from handrail.app.run_server import serve
from handrail.app.settings import Settings
from handrail.app.toolchains import Toolchains
from handrail.client.api import HandrailApi
from handrail.core.card import Card
from handrail.executors.sandbox.fence_probe import prove_fence
from tests.app.conftest import read, running


async def test_up_serves_and_executes_and_ends_on_a_signal(
    settings: Settings, workspace: Path
) -> None:
    async with running(up, settings, workspace) as known:
        answer = await read(known, "call-1", wait=10)

    assert (answer["status"], answer["result"]["content"]) == ("completed", "hello")
    assert Home(settings.home).find_credentials(workspace) == known
    # The log of the database is folded into the one file.
    assert {file.name for file in settings.home.glob("handrail.db*")} == {"handrail.db"}


async def test_what_waited_is_executed_after_a_new_start(
    settings: Settings, workspace: Path
) -> None:
    async with running(serve, settings, workspace) as known:
        before = await read(known, "call-1", wait=0)

    async with running(up, settings, workspace) as known:
        after = await read(known, "call-1", wait=10)

    assert (before["status"], after["status"]) == ("approved", "completed")
    assert after["tool_id"] == before["tool_id"]


@pytest.mark.usefixtures("needs_box")
async def test_commands_find_the_programs_of_a_toolchain_that_was_allowed(
    settings: Settings, workspace: Path, tmp_path: Path
) -> None:
    program = tmp_path / "tools/bin/my-own-tool"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    Toolchains(Home(settings.home), workspace).allow([str(tmp_path / "tools")])

    which = {"command": "which", "args": ["my-own-tool"]}
    async with (
        running(up, settings, workspace) as known,
        HandrailApi(known.server, known.project_id, known.agent_token) as api,
    ):
        answer = await api.execute("execute_command", which, session_id="s", call_id="c", wait=10)

    assert answer["status"] == "completed"
    assert answer["result"]["stdout"] == f"{program}\n"


async def test_where_there_is_no_box_what_was_approved_runs_behind_a_fence(
    settings: Settings, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walls = await asyncio.to_thread(prove_fence)
    if not walls:
        pytest.skip("no fence holds on this machine: its kernel has no Landlock, or an old one")
    for module in (build_client, enrol):
        monkeypatch.setattr(module, "find_programs", lambda: None)
    look = {"command": "cat", "args": ["README.md"]}

    async with (
        running(up, settings, workspace) as known,
        HandrailApi(known.server, known.project_id, known.agent_token) as agent,
        HandrailApi(known.server, known.project_id, known.user_token) as person,
    ):
        asked = await agent.execute("execute_command", look, session_id="s", call_id="c", wait=0)
        [card] = await _cards(person)
        await person.approve(card.approval_id, digest=card.digest)
        ended = await agent.execute("execute_command", look, session_id="s", call_id="c", wait=20)

    assert asked["status"] in {"pending", "awaiting_approval"}
    assert card.risk_level == "HIGH"
    assert ended["result"]["stdout"] == "hello"
    assert ended["result"]["box"] == {"profile": "read", "walls": list(walls)}


async def _cards(person: HandrailApi) -> list[Card]:
    async with asyncio.timeout(20):
        while not (cards := await person.pending_approvals()):
            await asyncio.sleep(0.02)
    return cards

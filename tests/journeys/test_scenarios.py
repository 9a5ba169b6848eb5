"""The four scenarios and the steps of a call, as they were first written down.

An agent asks by the names of its own system, a person hears and answers over HTTP, and the client
executes in its own process.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from handrail.core.card import Choice
from handrail.executors.sandbox.probe import find_programs, prove
from tests.executors.network.package_registry import NAME, VERSION, serving_packages
from tests.journeys.conftest import Rig
from tests.server.conftest import Caller, Listener

SCRIPT = "import sys; open('made', 'w'); print('done'); print('one warning', file=sys.stderr)"


@asynccontextmanager
async def hearing(standing: Rig, caller: Caller) -> AsyncGenerator[Listener]:
    """What the person at the client's own project hears."""
    known = standing.credentials
    headers = {"authorization": f"Bearer {known.user_token}"}
    address = f"{known.server}/my/projects/{known.project_id}/chat/stream"
    async with caller.session.get(address, headers=headers) as response:
        stream = Listener(response)
        await stream.read()
        yield stream
        response.close()


async def states_until_end(person: Listener) -> list[str]:
    """What a person hears of a call: its states and, where there was one, the question."""
    heard: list[str] = []
    while not heard or heard[-1] not in ("completed", "failed", "rejected"):
        _, name, payload = await person.event()
        heard.append(payload["status"] if name == "tool.status" else name)
        if (name, payload["status"]) == ("approval.resolved", "rejected"):
            return heard
    return heard


async def asked_and_answered(
    standing: Rig, params: dict[str, Any], choice: Choice, *, tool: str, session_id: str
) -> tuple[dict[str, Any], Any]:
    """The end of a call that a person was asked about, and the card they saw."""
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(standing.call(tool, params, session_id=session_id))
        card = await standing.answer(choice)
    return asking.result(), card


@pytest.mark.behaviour("scenario.read")
async def test_an_agent_reads_a_file(standing: Rig, caller: Caller) -> None:
    (standing.workspace / "README.md").write_text("hello\n")

    async with hearing(standing, caller) as person:
        params = {"path": "workspace/README.md"}
        answer = await standing.call("tool_read_file", params, session_id="reading")
        heard = await states_until_end(person)

    assert (answer["tool_name"], answer["risk_level"]) == ("read_file", "LOW")
    assert (answer["status"], answer["approved_by"]) == ("completed", "policy")
    assert answer["result"]["content"] == "hello\n"
    # Nobody was asked.
    assert heard == ["executing", "completed"]


@pytest.mark.behaviour("scenario.write")
async def test_an_agent_wants_to_change_a_file(standing: Rig, caller: Caller) -> None:
    file = standing.workspace / "config.json"
    file.write_text("{}\n")

    async with hearing(standing, caller) as person:
        answer, card = await asked_and_answered(
            standing,
            {"path": "workspace/config.json", "content": '{"new": true}\n'},
            Choice(approved=True),
            tool="tool_write_file",
            session_id="writing",
        )
        heard = await states_until_end(person)

    assert (card.risk_level, card.timeout_seconds) == ("HIGH", 600)
    assert "config.json" in card.description
    assert heard == [
        "pending",
        "tool.approval_request",
        "approval.resolved",
        "approved",
        "executing",
        "completed",
    ]
    assert (answer["status"], answer["result"]["success"]) == ("completed", True)
    assert file.read_text() == '{"new": true}\n'


@pytest.mark.behaviour("scenario.command")
async def test_an_agent_wants_to_run_a_command(standing: Rig, caller: Caller) -> None:
    (standing.workspace / "script.py").write_text(SCRIPT)

    async with hearing(standing, caller) as person:
        answer, _ = await asked_and_answered(
            standing,
            {"command": "python3", "args": ["script.py"], "timeout": 300},
            Choice(approved=True),
            tool="tool_execute_command",
            session_id="running",
        )
        heard = await states_until_end(person)

    assert heard[1:3] == ["tool.approval_request", "approval.resolved"]
    assert answer["status"] == "completed"
    assert answer["result"]["success"] is True
    assert answer["result"]["stdout"] == "done\n"
    assert answer["result"]["stderr"] == "one warning\n"
    assert answer["result"]["exit_code"] == 0


@pytest.mark.behaviour("scenario.command")
async def test_a_person_declines_a_command_and_it_does_not_run(
    standing: Rig, caller: Caller
) -> None:
    (standing.workspace / "declined.py").write_text("open('it-ran', 'w')")

    async with hearing(standing, caller) as person:
        answer, _ = await asked_and_answered(
            standing,
            {"command": "python3", "args": ["declined.py"]},
            Choice(approved=False, reason="not today"),
            tool="tool_execute_command",
            session_id="declining",
        )
        heard = await states_until_end(person)

    assert heard == ["pending", "tool.approval_request", "approval.resolved"]
    assert (answer["status"], answer["result"]) == ("rejected", None)
    assert answer["error"].endswith("refused this call: not today")
    assert not (standing.workspace / "it-ran").exists()


@pytest.mark.behaviour("scenario.command-risk")
async def test_installing_a_package_is_medium_and_higher_where_nothing_is_boxed(
    standing: Rig,
) -> None:
    install = {
        "tool_name": "execute_command",
        "tool_params": {"command": "npm", "args": ["install", "express"]},
    }

    said = await standing.as_person(lambda api: api.post("/policy/explain", install))

    by_rule = {finding["rule"]: finding["risk_level"] for finding in said["findings"]}
    boxed = prove(find_programs()).holds
    assert by_rule == {"command.npm": "MEDIUM"} | ({} if boxed else {"command.unboxed": "HIGH"})
    assert (said["ruling"], said["risk_level"]) == ("ask", "MEDIUM" if boxed else "HIGH")
    assert said["timeout_seconds"] == (300 if boxed else 600)


@pytest.mark.behaviour("scenario.install")
@pytest.mark.usefixtures("needs_box")
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed here")
async def test_a_package_is_installed_from_the_host_on_the_card(rig: Rig) -> None:
    with serving_packages() as registry:
        home = rig.workspace.parent / "person"
        home.mkdir()
        (home / ".npmrc").write_text(f"registry={registry.address}\n")
        rig.environment["HOME"] = str(home)
        (rig.workspace / "package.json").write_text('{"name": "ours", "version": "1.0.0"}')
        rig.start_server()
        rig.start_client()

        answer, card = await asked_and_answered(
            rig,
            {"command": "npm", "args": ["install", NAME], "timeout": 120},
            Choice(approved=True),
            tool="execute_command",
            session_id="installing",
        )

    assert f"it can reach only {registry.place}" in card.reasons
    assert answer["status"] == "completed", answer
    installed = json.loads((rig.workspace / "node_modules" / NAME / "package.json").read_text())
    assert installed["version"] == VERSION
    entries = (await rig.as_person(lambda api: api.get("/audit", limit=1000)))["entries"]
    [ended] = [line for line in entries if line["action"] == "call.ended"]
    box = json.loads(ended["details"])["box"]
    assert [contact["host"] for contact in box["contacted"]] == [registry.place]


@pytest.mark.behaviour("scenario.dangerous")
async def test_an_agent_tries_something_dangerous(standing: Rig, caller: Caller) -> None:
    async with hearing(standing, caller) as person:
        answer = await standing.call(
            "tool_execute_command", {"command": "rm", "args": ["-rf", "/"]}, session_id="raging"
        )
        heard = await states_until_end(person)

    assert (answer["status"], answer["error_type"]) == ("failed", "denied")
    assert answer["error"].startswith("Command not allowed")
    assert answer["approval_id"] is None
    # Nobody was asked, and no machine was told.
    assert heard == ["failed"]


@pytest.mark.behaviour("workflow.recorded")
async def test_each_step_of_a_call_is_a_line_of_the_record(standing: Rig) -> None:
    params = {"path": "recorded.md", "content": "x\n"}
    answer, card = await asked_and_answered(
        standing, params, Choice(approved=True), tool="write_file", session_id="recording"
    )

    entries = (await standing.as_person(lambda api: api.get("/audit", limit=1000)))["entries"]
    about = (answer["tool_id"], card.approval_id)
    lines = [line["action"] for line in entries if line["subject"] in about]
    assert lines == [
        "call.proposed",
        "call.surveyed",
        "approval.approved",
        "call.claimed",
        "call.ended",
    ]

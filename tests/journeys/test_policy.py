"""Policy files across processes: the server's operator, and the project on the client's machine."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig

DOCS = """
[[path]]
name = "docs"
access = "any"
reason = "the plans stay with people"
patterns = ["docs/**"]
match = ["docs/a.md"]
not_match = ["docs"]
"""
SAYS_SO = "'docs/{}.md' is refused: the plans stay with people (project rule path.docs)"
REFUSING = "[policy]\nunlisted = 'refuse'\ncommands = 'ask'\n"
EXPAND = REFUSING + "[[command]]\nname = 'expand'\nexamples = { 'expand a.md' = 'high' }\n"


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await reached():
            await asyncio.sleep(0.05)


@pytest.mark.behaviour("policy.project")
async def test_a_project_forbids_a_folder_also_to_a_server_that_knows_nothing_of_it(
    rig: Rig,
) -> None:
    policy = rig.workspace / ".handrail" / "policy.toml"
    (rig.workspace / "docs").mkdir()
    for name in ("early", "late"):
        (rig.workspace / "docs" / f"{name}.md").write_text("the plans")
    policy.parent.mkdir()
    policy.write_text(DOCS)
    rig.start_server()

    # Asked before any client was there to tell: the server lets it pass, the client does not.
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.ask("docs/early.md", "call-1"))
        await until(lambda: _is_there(rig, "call-1"))
        await asyncio.to_thread(rig.start_client)
    early = asking.result()

    await rig.hears_of_rules()
    late = await rig.ask("docs/late.md", "call-2")

    assert (early["status"], early["error_type"]) == ("failed", "denied")
    assert early["risk_level"] == "LOW"
    assert early["error"] == SAYS_SO.format("early")
    assert (late["status"], late["error_type"]) == ("failed", "denied")
    assert late["reasons"] == [SAYS_SO.format("late")]
    assert "the plans" not in json.dumps([early["result"], late["result"]])
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("policy.project")
async def test_a_client_does_not_serve_a_project_whose_rules_it_cannot_read(rig: Rig) -> None:
    policy = rig.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir()
    policy.write_text("[[path]]\nname = 'docs'\n")
    rig.start_server()

    refused = await asyncio.to_thread(rig.run, "connect", str(rig.workspace))

    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "handrail: .handrail/policy.toml: path rule 'docs': 'access' is missing"
    ]


@pytest.mark.behaviour("policy.operator")
async def test_the_operator_lets_a_command_in_while_the_server_runs(rig: Rig) -> None:
    policy = rig.home / "policy.toml"
    rig.home.mkdir(exist_ok=True)
    policy.write_text(REFUSING)
    (rig.workspace / "a.md").write_text("a")
    rig.start_server()
    rig.start_client()
    call = {"command": "expand", "args": ["a.md"]}

    before = await rig.call("execute_command", call, "call-1")
    policy.write_text(EXPAND)
    await until(lambda: _is_known(rig))
    # The client looks once a second as well, and cannot be asked.
    await asyncio.sleep(2.5)
    policy.write_text(EXPAND + "[broken")
    await asyncio.sleep(2.5)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", call, "call-2"))
        await rig.answer(Choice(approved=True))

    assert (before["status"], before["error_type"]) == ("failed", "denied")
    assert asking.result()["status"] == "completed"
    assert asking.result()["risk_level"] == "HIGH"


@pytest.mark.behaviour("policy.own-files")
@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("read_file", {"path": ".handrail/policy.toml"}),
        ("read_file", {"path": "innocent.md"}),
        ("write_file", {"path": ".handrail/policy.toml", "content": ""}),
        ("write_file", {"path": ".Handrail/policy.toml", "content": ""}),
        ("execute_command", {"command": "cat", "args": [".handrail/policy.toml"]}),
        ("execute_command", {"command": "cp", "args": ["a.md", ".handrail/policy.toml"]}),
        ("execute_command", {"command": "mv", "args": [".handrail", "elsewhere"]}),
        ("execute_command", {"command": "cat", "args": ["innocent.md"]}),
    ],
)
async def test_no_tool_touches_the_file_that_says_what_agents_may(
    rig: Rig, tool: str, params: dict[str, object]
) -> None:
    policy = rig.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir()
    policy.write_text("# canary")
    (rig.workspace / "a.md").write_text("x")
    (rig.workspace / "innocent.md").symlink_to(".handrail/policy.toml")
    rig.start_server()
    rig.start_client()

    answer = await rig.call(tool, params)

    assert answer["status"] == "failed"
    assert answer["error_type"] in ("denied", "validation")
    assert "canary" not in json.dumps(answer)
    assert policy.read_text() == "# canary"


async def _is_there(rig: Rig, call_id: str) -> bool:
    listed = await rig.as_person(lambda api: api.get("/tools/executions"))
    return call_id in [call["call_id"] for call in listed["executions"]]


async def _is_known(rig: Rig) -> bool:
    shown = await rig.as_person(lambda api: api.get("/policy"))
    return shown["layers"][1]["counts"] == {"command": 1}

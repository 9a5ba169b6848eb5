"""A person undoes what calls have changed: one call, or all of a session."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from handrail.client.api import ApiError, HandrailApi
from handrail.core.card import Choice
from tests.journeys.conftest import Rig

YES = Choice(approved=True)
SESSION = "/chat/sessions/journey/undo"


async def approved(rig: Rig, tool: str, params: dict[str, Any], call_id: str) -> str:
    """Make a call that a person approves; gives its id."""
    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call(tool, params, call_id))
        group.create_task(rig.answer(YES))
    ended = call.result()
    assert (ended["status"], ended["can_undo"]) == ("completed", True), ended
    return ended["tool_id"]


async def write(rig: Rig, path: str, content: str, call_id: str = "call-1") -> str:
    return await approved(rig, "write_file", {"path": path, "content": content}, call_id)


async def undo(rig: Rig, path: str) -> dict[str, Any]:
    return await rig.as_person(lambda api: api.post(path, {"channel": "journey"}))


async def refused(rig: Rig, path: str) -> str:
    with pytest.raises(ApiError) as caught:
        await undo(rig, path)
    assert caught.value.status == 409
    return caught.value.message


async def shown(rig: Rig, tool_id: str) -> dict[str, Any]:
    return await rig.as_person(lambda api: api.get(f"/tools/{tool_id}"))


def ask_beforehand(rig: Rig) -> None:
    rig.home.mkdir(mode=0o700)
    (rig.home / "policy.toml").write_text('[policy]\ncommands = "ask"\n')


SEVERAL = """
from handrail import RiskLevel, ToolDefinition, ToolError


async def write_all(params, hands):
    for path in ("a.txt", "new/b.txt", "a.txt"):
        await hands.files.write(path, params["text"].encode(), expected=None)
    if params["text"] == "fail":
        raise ToolError("the last step failed")
    return "written"


def register(registry):
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }
    definition = ToolDefinition("write_all", "Writes.", schema, safety_level=RiskLevel.MEDIUM)
    registry.register_tool(definition, write_all)
"""


@pytest.mark.behaviour("undo.call")
@pytest.mark.parametrize(("text", "status"), [("done", "completed"), ("fail", "failed")])
async def test_all_writes_of_a_tool_are_undone_also_if_it_failed_after_them(
    rig: Rig, text: str, status: str
) -> None:
    rig.home.mkdir(mode=0o700)
    (rig.home / "tools").mkdir(mode=0o700)
    (rig.home / "tools/several.py").write_text(SEVERAL)
    (rig.workspace / "a.txt").write_text("old\n")
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("write_all", {"text": text}))
        group.create_task(rig.answer(YES))
    ended = call.result()
    [undone] = (await undo(rig, f"/tools/{ended['tool_id']}/undo"))["calls"]

    assert (ended["status"], ended["can_undo"]) == (status, True)
    assert undone["status"] == "undone"
    assert (rig.workspace / "a.txt").read_text() == "old\n"
    assert not (rig.workspace / "new").exists()


@pytest.mark.behaviour("undo.call")
async def test_a_write_is_undone_once_and_recorded(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("old\n")
    rig.start_server()
    rig.start_client()
    tool_id = await write(rig, "a.txt", "new\n")

    [first] = (await undo(rig, f"/tools/{tool_id}/undo"))["calls"]
    (rig.workspace / "a.txt").write_text("by a person\n")
    again = await undo(rig, f"/tools/{tool_id}/undo")

    assert (first["status"], first["files"]) == ("undone", ["a.txt"])
    assert (again["success"], again["calls"][0]["status"]) == (True, "undone_before")
    assert (rig.workspace / "a.txt").read_text() == "by a person\n"
    call = await shown(rig, tool_id)
    owner = rig.rows("SELECT name FROM users")[0][0]
    assert (call["can_undo"], call["undone_by"]) == (False, owner)
    assert call["undone_at"] == first["undone_at"] == again["calls"][0]["undone_at"]
    [glimpse] = (await rig.as_person(lambda api: api.get("/activity")))["calls"]
    assert glimpse["undone_at"] == call["undone_at"]
    lines = rig.rows("SELECT action FROM audit WHERE action LIKE '%undo%' OR action LIKE '%undone'")
    assert lines == [("undo.requested",), ("call.undone",)]
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("undo.call")
@pytest.mark.usefixtures("needs_box")
async def test_the_changes_of_a_rehearsed_command_are_undone(rig: Rig) -> None:
    (rig.workspace / "src").mkdir()
    (rig.workspace / "src/a.py").write_text("old = 1\n")
    (rig.workspace / "gone.txt").write_text("still here\n")
    rig.start_server()
    rig.start_client()
    line = "sed -i s/old/new/ src/a.py && rm gone.txt && mkdir made && echo x > made/x"
    tool_id = await approved(rig, "run_bash", {"command": line}, "call-1")
    assert (rig.workspace / "src/a.py").read_text() == "new = 1\n"

    [undone] = (await undo(rig, f"/tools/{tool_id}/undo"))["calls"]

    assert undone["status"] == "undone"
    assert {"src/a.py", "gone.txt", "made/x"} <= set(undone["files"])
    assert (rig.workspace / "src/a.py").read_text() == "old = 1\n"
    assert (rig.workspace / "gone.txt").read_text() == "still here\n"
    assert not (rig.workspace / "made").exists()


@pytest.mark.behaviour("undo.session")
@pytest.mark.usefixtures("needs_box")
async def test_a_session_is_undone_in_reverse_order(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("0\n")
    rig.start_server()
    rig.start_client()
    one = await write(rig, "a.txt", "1\n", "call-1")
    two = await approved(rig, "run_bash", {"command": "sed -i s/1/2/ a.txt"}, "call-2")
    three = await write(rig, "b.txt", "new\n", "call-3")
    await rig.call("read_file", {"path": "a.txt"}, "call-4")

    answer = await undo(rig, SESSION)
    again = await undo(rig, SESSION)

    assert [(call["tool_id"], call["status"]) for call in answer["calls"]] == [
        (three, "undone"),
        (two, "undone"),
        (one, "undone"),
    ]
    assert [call["status"] for call in again["calls"]] == ["undone_before"] * 3
    assert (rig.workspace / "a.txt").read_text() == "0\n"
    assert not (rig.workspace / "b.txt").exists()
    rig.assert_told_once_and_provable(calls=4)


@pytest.mark.behaviour("undo.changed-since")
async def test_what_a_person_has_edited_since_is_not_undone(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("old\n")
    rig.start_server()
    rig.start_client()
    first = await write(rig, "a.txt", "new\n", "call-1")
    last = await write(rig, "b.txt", "new\n", "call-2")
    (rig.workspace / "a.txt").write_text("by a person\n")

    reason = await refused(rig, f"/tools/{first}/undo")
    session = await undo(rig, SESSION)

    assert reason == f"{first} cannot be undone: a.txt has other content now; nothing was undone"
    assert session["success"] is False
    assert [(call["tool_id"], call["status"]) for call in session["calls"]] == [
        (last, "undone"),
        (first, "refused"),
    ]
    assert (rig.workspace / "a.txt").read_text() == "by a person\n"
    assert (await shown(rig, first))["undone_by"] is None
    assert "no call was undone" not in await refused(rig, SESSION)
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("undo.not-by-agents")
async def test_an_agent_cannot_undo(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()
    tool_id = await write(rig, "a.txt", "new\n")
    known = rig.credentials

    async with HandrailApi(known.server, known.project_id, known.agent_token) as agent:
        for path in (f"/tools/{tool_id}/undo", SESSION):
            with pytest.raises(ApiError) as caught:
                await agent.post(path, {})
            assert caught.value.status == 403
        answer = {"tool_id": tool_id, "status": "undone"}
        with pytest.raises(ApiError) as caught:
            await agent.post("/tools/undone", {"calls": [answer]})
        assert caught.value.status == 403
    # The token of a client acts for its person.
    async with HandrailApi(known.server, known.project_id, known.client_token) as client:
        assert (await client.post(f"/tools/{tool_id}/undo", {}))["success"] is True
    assert not (rig.workspace / "a.txt").exists()


@pytest.mark.behaviour("undo.kill")
@pytest.mark.parametrize("moment", ["before:step:1", "after:step:1", "before:undone:1"])
async def test_the_client_may_die_while_it_undoes_and_repeating_finishes_it(
    rig: Rig, moment: str
) -> None:
    for name in ("a.txt", "b.txt"):
        (rig.workspace / name).write_text("old\n")
    rig.start_server()
    client = rig.start_client(dies=moment)
    for name in ("a.txt", "b.txt"):
        await write(rig, name, "new\n", name)

    asking = asyncio.create_task(refused(rig, SESSION))
    assert await asyncio.to_thread(client.wait, 60) == -9
    assert "disconnected" in await asking
    rig.start_client()
    answer = await undo(rig, SESSION)

    assert answer["success"] is True
    assert [(rig.workspace / name).read_text() for name in ("a.txt", "b.txt")] == ["old\n"] * 2
    calls = rig.rows("SELECT count(*) FROM tool_executions WHERE undone_at IS NOT NULL")
    assert calls == [(2,)]
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("undo.kill")
async def test_the_server_may_die_before_it_hears_of_an_undo(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("old\n")
    server = rig.start_server()
    rig.start_client()
    tool_id = await write(rig, "a.txt", "new\n")
    rig.kill(server)
    # Commits of its second life: the client connects, the request is stored, then the answer.
    server = rig.start_server()
    known = rig.credentials
    async with aiohttp.ClientSession() as session:
        address = f"{known.server}/my/projects/{known.project_id}/tools/{tool_id}/undo"
        headers = {"authorization": f"Bearer {known.user_token}"}
        asking = asyncio.create_task(session.post(address, json={}, headers=headers))
        async with asyncio.timeout(30):
            while (rig.workspace / "a.txt").read_text() != "old\n":
                if asking.done() and asking.result().status == 409:
                    # The client had not come back yet.
                    asking = asyncio.create_task(session.post(address, json={}, headers=headers))
                await asyncio.sleep(0)
        rig.kill(server)
        await asyncio.gather(asking, return_exceptions=True)

    rig.start_server()
    async with asyncio.timeout(30):
        while (await shown(rig, tool_id))["undone_at"] is None:
            await asyncio.sleep(0.05)
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("undo.no-client")
async def test_without_the_machine_nothing_is_undone_and_that_is_said(rig: Rig) -> None:
    rig.start_server()
    client = rig.start_client()
    tool_id = await write(rig, "a.txt", "new\n")
    rig.end(client)

    why = await refused(rig, f"/tools/{tool_id}/undo")
    while "has disconnected" in why:
        # The server had not seen the connection close when it was asked.
        why = await refused(rig, f"/tools/{tool_id}/undo")
    assert "is not connected; nothing was undone" in why
    assert (rig.workspace / "a.txt").read_text() == "new\n"


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("undo.why-not")
@pytest.mark.usefixtures("needs_box")
async def test_a_call_that_cannot_be_undone_says_why(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("same\n")
    rig.start_server()
    rig.start_client()

    read = await rig.call("read_file", {"path": "a.txt"}, "read")
    same = await rig.call("write_file", {"path": "a.txt", "content": "same\n"}, "same")
    ran = rig.call("execute_command", {"command": "python3", "args": ["-c", "1"]}, "ran")
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ran)
        group.create_task(rig.answer(YES))

    found = {call["call_id"]: call["why_not_undo"] for call in (read, same, asked.result())}
    assert found == {
        "read": "it changed nothing",
        "same": "it changed nothing",
        "ran": "it ran outside a rehearsal",
    }
    assert "cannot be undone: it changed nothing" in await refused(
        rig, f"/tools/{read['tool_id']}/undo"
    )
    assert "has changed a file" in await refused(rig, SESSION)


@pytest.mark.behaviour("undo.beside")
@pytest.mark.usefixtures("needs_box")
async def test_calls_that_run_meanwhile_are_not_disturbed(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("old\n")
    (rig.workspace / "b.txt").write_text("old\n")
    rig.start_server()
    rig.start_client()
    first = await write(rig, "a.txt", "new\n", "call-1")
    line = "cat a.txt > c.txt; sed -i s/old/new/ b.txt"
    running = asyncio.create_task(rig.call("run_bash", {"command": line}, "call-2"))
    await rig.question()

    await undo(rig, f"/tools/{first}/undo")
    await rig.answer(YES)
    ended = await running

    # Its rehearsal had read the file as it was before the undo, and changed others.
    assert ended["status"] == "completed"
    texts = {path.name: path.read_text() for path in rig.workspace.glob("*.txt")}
    assert texts == {"a.txt": "old\n", "b.txt": "new\n", "c.txt": "new\n"}
    assert json.dumps(ended).count("outcome_unknown") == 0
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("undo.card")
@pytest.mark.usefixtures("needs_box")
@pytest.mark.parametrize("rehearses", [True, False])
async def test_the_card_says_what_cannot_be_undone(rig: Rig, rehearses: bool) -> None:
    if not rehearses:
        ask_beforehand(rig)
    rig.start_server()
    rig.start_client()
    command = {"command": "python3", "args": ["-c", "open('a.txt', 'w').write('x')"]}
    request = {"method": "POST", "url": "https://example.com/", "body": "x"}
    asked = {
        "file": ("write_file", {"path": "b.txt", "content": "x"}, False),
        "command": ("execute_command", command, not rehearses),
        "request": ("http_request", request, True),
    }
    for call_id, (tool, params, cannot) in asked.items():
        call = asyncio.create_task(rig.call(tool, params, call_id))
        card = await rig.answer(Choice(approved=False))
        assert (await call)["status"] == "rejected"
        assert ("It cannot be undone." in card.notes) == cannot, call_id

"""A person changes a call on its card, with a real server and a real machine."""

import asyncio
from typing import Any

import pytest

from handrail.client.api import ApiError, HandrailApi
from handrail.core.card import Card, Choice
from tests.journeys.conftest import Rig
from tests.journeys.test_draft import set_autonomy

YES = Choice(approved=True)
TEXT = {"path": "src/a.py", "content": "x = 1\ny = 1\n"}
CHANGED = "x = 1\ny = 2\n"


async def revise(api: HandrailApi, card: Card, **params: Any) -> Any:
    """Change a call as a screen does."""
    address = f"/approvals/{card.approval_id}"
    editable = await api.get(f"{address}/editable")
    body = {"tool_params": params, "digest": editable["digest"], "channel": "journey"}
    return await api.post(f"{address}/revise", body)


async def checked(rig: Rig) -> Card:
    """The question once its machine has looked at it."""
    async with asyncio.timeout(40):
        while True:
            card = await rig.question()
            if not any(note.startswith(("Still checking", "Not checked")) for note in card.notes):
                return card
            await asyncio.sleep(0.05)


@pytest.mark.behaviour("call.edited")
async def test_what_a_person_writes_on_the_card_is_what_is_written(rig: Rig) -> None:
    (rig.workspace / "src").mkdir()
    file = rig.workspace / "src/a.py"
    file.write_text("x = 0\n")
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("write_file", TEXT))
        card = await rig.question()
        await rig.as_person(lambda api: revise(api, card, content=CHANGED))
        shown = await checked(rig)
        await rig.answer(YES)

    ended = call.result()
    assert "-x = 0\n+x = 1\n+y = 2\n" in shown.evidence
    assert shown.revision is not None
    assert "-y = 1\n+y = 2\n" in shown.revision
    assert file.read_text() == CHANGED
    assert ended["status"] == "completed"
    assert ended["tool_params"]["content"] == CHANGED
    output = ended["result"]["output"]
    assert output.startswith("A person changed this call before approving it:\n")
    assert "-y = 1\n+y = 2\n" in output
    assert output.endswith("Wrote 12 bytes to src/a.py")
    assert ended["result"]["changed_by_person"]["by"] == ended["revised_by"]
    assert rig.rows("SELECT count(*) FROM audit WHERE action = 'call.revised'") == [(1,)]
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("call.edited")
async def test_the_new_text_of_an_edit_can_be_changed(rig: Rig) -> None:
    file = rig.workspace / "a.py"
    file.write_text("timeout = 1\nretries = 3\n")
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        params = {"path": "a.py", "old": "timeout = 1", "new": "timeout = 1000"}
        call = group.create_task(rig.call("edit_file", params))
        card = await rig.question()
        await rig.as_person(lambda api: revise(api, card, new="timeout = 10"))
        await checked(rig)
        await rig.answer(YES)

    assert call.result()["status"] == "completed"
    assert file.read_text() == "timeout = 10\nretries = 3\n"


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("call.edited")
async def test_a_changed_command_is_rehearsed_again_and_applied_as_shown(rig: Rig) -> None:
    for name in ("a.log", "b.log"):
        (rig.workspace / name).write_text(name)
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("run_bash", {"command": "rm a.log b.log"}))
        card = await rig.question()
        await rig.as_person(lambda api: revise(api, card, command="rm a.log"))
        shown = await checked(rig)
        await rig.answer(YES)

    ended = call.result()
    assert "b.log" in card.evidence
    assert "b.log" not in shown.evidence
    assert ended["result"]["changed"] == ["a.log"]
    assert [path.name for path in rig.workspace.glob("*.log")] == ["b.log"]
    assert "-rm a.log b.log\n+rm a.log\n" in ended["result"]["output"]


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("call.edited")
async def test_what_is_asked_beforehand_in_a_draft_can_be_changed_too(rig: Rig) -> None:
    rig.start_server()
    set_autonomy(rig)
    rig.start_client()
    params = {"command": "touch a.txt", "hosts": ["example.org"]}

    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("run_bash", params))
        card = await rig.question()
        await rig.as_person(lambda api: revise(api, card, command="touch b.txt"))
        await checked(rig)
        await rig.answer(YES)
        step = await call
        applying = group.create_task(rig.call("apply_draft", {}, "call-2"))
        total = await rig.question()
        await rig.answer(YES)

    assert step["result"]["changed"] == ["b.txt"]
    assert total.editable == ()
    assert applying.result()["status"] == "completed"
    assert [path.name for path in rig.workspace.glob("*.txt")] == ["b.txt"]


@pytest.mark.behaviour("call.edited")
async def test_a_change_that_the_rules_refuse_leaves_the_card_as_it_is(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("run_bash", {"command": "touch a.txt"}))
        card = await checked(rig)
        with pytest.raises(ApiError, match="would be refused") as refused:
            await rig.as_person(lambda api: revise(api, card, command="rm -rf /"))
        assert await rig.question() == card
        await rig.answer(YES)

    assert refused.value.status == 400
    assert call.result()["revised_by"] is None
    assert (rig.workspace / "a.txt").exists()


@pytest.mark.slow
@pytest.mark.points(2)
@pytest.mark.behaviour("call.edited-server-dies")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2])
async def test_a_server_that_is_killed_has_changed_the_call_as_a_whole_or_not_at_all(
    rig: Rig, when: str, number: int
) -> None:
    server = rig.start_server()
    client = rig.start_client()
    params = {"path": "a.txt", "content": "one\n"}
    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("write_file", params))
        card = await checked(rig)
        rig.kill(client)
        rig.kill(server)
        # It dies while it takes the change, hears of its machine, or takes the approval.
        dying = rig.start_server(dies=f"{when}:commit:{number}")
        changing = group.create_task(_change(rig, card))
        machine = asyncio.create_task(asyncio.to_thread(rig.start_client))
        await asyncio.to_thread(dying.wait, 40)
        rig.start_server()
        await changing
        await machine
        await rig.answer(YES)

    ended = call.result()
    assert ended["status"] == "completed"
    assert (rig.workspace / "a.txt").read_text() == ended["tool_params"]["content"] == "two\n"
    assert rig.rows("SELECT count(*) FROM audit WHERE action = 'call.revised'") == [(1,)]
    rig.assert_told_once_and_provable(calls=1)


async def _change(rig: Rig, card: Card) -> None:
    """Change a call; a reply that was lost is asked for again with the same change."""

    async def change(api: HandrailApi) -> None:
        known = await api.get(f"/approvals/{card.approval_id}")
        if known["revised_by"] is None:
            await revise(api, card, content="two\n")

    await rig.as_person(change)

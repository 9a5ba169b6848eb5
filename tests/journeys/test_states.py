"""The eight states of a call, each as those who may see the call see it."""

import re
from datetime import datetime

import pytest

from handrail.core.access import Role
from handrail.core.execution import FINAL, Status
from tests.conftest import Household
from tests.journeys.conftest import Rig
from tests.journeys.playing import Play
from tests.server.conftest import Caller, a_body, ask_to_write

MOMENTS = ("created_at", "approved_at", "started_at", "completed_at")


async def assert_shown_as(play: Play, status: Status, *reached: str) -> None:
    """One by one and in the lists, to the person and to the agent; with its moments so far."""
    for role in (Role.USER, Role.AGENT):
        shown = (await play.ask(role, "GET", f"/tools/{play.tool_id}")).body
        listed = (await play.ask(role, "GET", f"/tools/executions?status={status}")).body
        assert shown["status"] == status
        assert listed["executions"] == [shown]
        moments = [shown[name] for name in MOMENTS]
        assert [name for name in MOMENTS if shown[name] is not None] == ["created_at", *reached]
        assert moments[0].endswith("Z")
        times = [datetime.fromisoformat(moment) for moment in moments if moment is not None]
        assert times == sorted(times)
        assert (shown["result"] is not None) == (status is Status.COMPLETED)
    others = [other for other in Status if other is not status]
    for other in others:
        listed = (await play.ask(Role.USER, "GET", f"/tools/executions?status={other}")).body
        assert listed["executions"] == []


@pytest.mark.behaviour("state.pending")
async def test_a_call_is_pending_while_its_machine_is_looked_at(play: Play) -> None:
    async with play.machine():
        await play.be_pending()

    assert play.call["status"] == "pending"
    assert (play.call["risk_level"], play.call["requires_approval"]) == ("MEDIUM", True)
    assert [play.call[moment] for moment in MOMENTS[1:]] == [None, None, None]


@pytest.mark.behaviour("state.awaiting-approval")
async def test_a_call_awaits_approval_while_a_person_is_asked(play: Play) -> None:
    async with play.machine():
        await play.be_awaiting_approval()

    await assert_shown_as(play, Status.AWAITING_APPROVAL)
    assert (await play.now())["approval_id"] == play.approval_id


@pytest.mark.behaviour("state.approved")
async def test_a_call_is_approved_until_its_machine_begins(play: Play, ada: Household) -> None:
    async with play.machine():
        await play.be_approved()

    await assert_shown_as(play, Status.APPROVED, "approved_at")
    assert (await play.now())["approved_by"] == ada.project.name


@pytest.mark.behaviour("state.approved")
async def test_a_call_that_nobody_need_be_asked_about_is_approved_by_itself(play: Play) -> None:
    play.call = (await play.ask(Role.AGENT, "POST", "/tools/execute", json=a_body())).body

    await assert_shown_as(play, Status.APPROVED, "approved_at")
    now = await play.now()
    assert (now["approved_by"], now["approval_id"]) == ("policy", None)


@pytest.mark.behaviour("state.executing")
async def test_a_call_is_executing_once_its_machine_has_claimed_it(play: Play) -> None:
    async with play.machine():
        await play.be_executing()

        await assert_shown_as(play, Status.EXECUTING, "approved_at", "started_at")


@pytest.mark.behaviour("state.completed")
async def test_a_call_is_completed_by_the_result_of_its_machine(play: Play) -> None:
    async with play.machine():
        await play.be_completed()

    await assert_shown_as(play, Status.COMPLETED, "approved_at", "started_at", "completed_at")
    now = await play.now()
    assert now["result"] == {"success": True, "content": "hello"}
    assert (now["error"], now["error_type"]) == (None, None)


@pytest.mark.behaviour("state.rejected")
async def test_a_call_is_rejected_by_a_person_and_ends_there(play: Play, ada: Household) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
        body = {"reason": "not now"}
        await play.ask(Role.USER, "POST", f"/approvals/{play.approval_id}/reject", json=body)

    await assert_shown_as(play, Status.REJECTED, "completed_at")
    assert (await play.now())["error"] == f"{ada.project.name} refused this call: not now"


@pytest.mark.behaviour("state.failed")
@pytest.mark.parametrize(
    ("tool_name", "params", "error_type", "words"),
    [
        ("read_file", {}, "validation", "path"),
        ("read_file", {"path": 1}, "validation", "path"),
        ("no_such_tool", {}, "validation", "no_such_tool"),
        ("read_file", {"path": "../x"}, "denied", "climbs out of the workspace"),
        ("execute_command", {"command": "sudo"}, "denied", "Command not allowed"),
        ("read_file", {"path": "is-not-there.txt"}, "execution", "is-not-there.txt"),
    ],
)
async def test_a_call_fails_by_its_words_by_the_rules_or_on_the_machine(
    standing: Rig, tool_name: str, params: dict[str, object], error_type: str, words: str
) -> None:
    call_id = re.sub(r"\W", "-", f"{tool_name}{params}")

    failed = await standing.call(tool_name, params, call_id, session_id="failing")

    assert (failed["status"], failed["error_type"]) == ("failed", error_type)
    assert words in failed["error"]
    assert failed["result"] is None
    assert failed["completed_at"] is not None


@pytest.mark.behaviour("state.final")
@pytest.mark.parametrize("end", sorted(FINAL - {Status.TIMEOUT}))
async def test_nothing_that_is_said_moves_a_call_that_has_ended(
    play: Play, caller: Caller, ada: Household, end: Status
) -> None:
    async with play.machine():
        if end is Status.COMPLETED:
            await play.be_completed()
        else:
            await play.be_awaiting_approval()
            last = {
                Status.REJECTED: f"/approvals/{play.approval_id}/reject",
                Status.FAILED: f"/tools/{play.tool_id}/cancel",
            }
            await play.ask(Role.USER, "POST", last[end], json={})
        ended = await play.now()

        yes = {"decision": "approved"}
        said = [
            await play.ask(Role.USER, "POST", f"/approvals/{play.approval_id}/approve", json=yes),
            await play.ask(Role.USER, "POST", f"/approvals/{play.approval_id}/reject", json={}),
            await play.ask(
                Role.CLIENT, "POST", f"/approvals/{play.approval_id}/facts", json={"facts": {}}
            ),
            await play.claim(),
            await play.report({"status": "failed", "error": "otherwise"}),
        ]
        again = await ask_to_write(caller, ada)

    assert ended["status"] == end
    # The same person's same answer is told again; it changes nothing either.
    repeated = {Status.COMPLETED: 0, Status.REJECTED: 1}.get(end)
    assert [answer.status for answer in said] == [
        200 if number == repeated else 409 for number in range(5)
    ]
    assert again == await play.now() == ended

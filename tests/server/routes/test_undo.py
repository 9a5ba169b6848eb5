"""Undoing calls over HTTP: who may ask, what the machine is told, and what is answered."""

import asyncio
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    Listener,
    add_machine,
    add_token,
    approve,
    ask_to_read,
    ask_to_write,
    base,
    report,
    show,
)

CONFLICT = (409, "urn:handrail:conflict")
WRITTEN = {"success": True, "path": "notes.md", "can_undo": True}


async def written(
    caller: Caller, home: Household, call_id: str = "call-1", result: dict[str, Any] | None = None
) -> str:
    """A write that was approved and carried out; gives its id."""
    asked = await ask_to_write(caller, home, call_id)
    await approve(caller, home, asked["approval_id"])
    async with caller.listen(home, home.secrets[Role.CLIENT]) as machine:
        while (await machine.event())[1] != "tool.execution_signal":
            pass
        body = {"status": "completed", "result": result or WRITTEN}
        assert (await report(caller, home, asked["tool_id"], body)).status == 200
    return asked["tool_id"]


async def undo(
    caller: Caller, home: Household, path: str, role: Role = Role.USER, **body: Any
) -> Answer:
    return await caller.ask("POST", f"{base(home)}{path}/undo", home.secrets[role], json=body)


async def tell(
    caller: Caller, home: Household, *calls: dict[str, str], token: str | None = None
) -> Answer:
    """Report as the household's machine."""
    return await caller.ask(
        "POST",
        f"{base(home)}/tools/undone",
        token or home.secrets[Role.CLIENT],
        json={"calls": list(calls)},
    )


async def asked_to_undo(listener: Listener) -> dict[str, Any]:
    while True:
        _, name, data = await listener.event()
        if name == "tool.undo_request":
            return data


async def test_the_machine_is_asked_and_its_answer_is_recorded(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    tool_id = await written(caller, household)
    before = await show(caller, household, f"/tools/{tool_id}")
    clock.advance(5)
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as machine,
        caller.listen(household, household.secrets[Role.USER]) as person,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(undo(caller, household, f"/tools/{tool_id}", channel="phone"))
        request = await asked_to_undo(machine)
        told = await tell(caller, household, {"tool_id": tool_id, "status": "undone"})
        while (event := await person.event())[1] != "tool.undone":
            pass

    assert (request["tool_ids"], request["replayed"]) == ([tool_id], False)
    assert told.status == 200
    assert asking.result().body == {
        "success": True,
        "calls": [
            {
                "tool_id": tool_id,
                "tool_name": "write_file",
                "status": "undone",
                "reason": "",
                "files": ["notes.md"],
                "undone_at": "2026-01-01T00:00:05Z",
                "undone_by": "ada",
            }
        ],
    }
    assert event[2]["undone_by"] == "ada"
    after = await show(caller, household, f"/tools/{tool_id}")
    assert (before["can_undo"], before["undone_at"]) == (True, None)
    assert (after["can_undo"], after["undone_at"]) == (False, "2026-01-01T00:00:05Z")


@pytest.mark.parametrize("path", ["/tools/exe_1", "/chat/sessions/session-1"])
async def test_agents_may_not_undo(caller: Caller, household: Household, path: str) -> None:
    answer = await undo(caller, household, path, Role.AGENT)
    assert answer.status == 403
    assert "an agent's token cannot do this" in answer.body["detail"]


async def test_only_machines_report_what_was_undone(caller: Caller, household: Household) -> None:
    for role in (Role.AGENT, Role.USER):
        one = {"tool_id": "exe_1", "status": "undone"}
        answer = await tell(caller, household, one, token=household.secrets[role])
        assert answer.status == 403


async def test_nobody_undoes_what_is_another_persons(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    tool_id = await written(caller, household)
    stranger = await settle_in(store, clock, "bea", "/home/bea")
    for path in (f"/tools/{tool_id}", "/chat/sessions/session-1"):
        assert (await undo(caller, stranger, path)).status == 404


async def test_without_a_machine_nothing_is_undone(caller: Caller, household: Household) -> None:
    tool_id = await written(caller, household)
    answer = await undo(caller, household, f"/tools/{tool_id}")
    assert answer.problem == CONFLICT
    assert "is not connected; nothing was undone" in answer.body["detail"]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"path": "a"}, "it changed nothing"),
        ({"path": "a", "can_undo": False, "why_not": "the disk was full"}, "the disk was full"),
        ({"exit_code": 0}, "it ran outside a rehearsal"),
        ({"exit_code": 0, "rehearsed": True}, "it changed nothing"),
        ({}, "only changes of files in the workspace can be undone"),
        # What a client says is checked.
        ({"path": "a", "can_undo": "yes"}, "it changed nothing"),
    ],
)
async def test_a_call_that_cannot_be_undone_is_refused_with_the_reason(
    caller: Caller, household: Household, result: dict[str, Any], reason: str
) -> None:
    tool_id = await written(caller, household, result={"success": True, **result})
    answer = await undo(caller, household, f"/tools/{tool_id}")
    assert answer.problem == CONFLICT
    assert answer.body["detail"] == f"{tool_id} cannot be undone: {reason}"
    assert (await show(caller, household, f"/tools/{tool_id}"))["why_not_undo"] == reason


async def test_a_call_that_has_not_ended_cannot_be_undone(
    caller: Caller, household: Household
) -> None:
    tool_id = await ask_to_read(caller, household)
    answer = await undo(caller, household, f"/tools/{tool_id}")
    assert answer.problem == CONFLICT
    assert "it has not ended yet" in answer.body["detail"]


async def test_the_reason_of_the_machine_is_passed_on(caller: Caller, household: Household) -> None:
    tool_id = await written(caller, household)
    reason = "notes.md has other content now; nothing was undone"
    refusal = {"tool_id": tool_id, "status": "refused", "reason": reason}
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as machine,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(undo(caller, household, f"/tools/{tool_id}"))
        await asked_to_undo(machine)
        await tell(caller, household, refusal)
    assert asking.result().problem == CONFLICT
    assert reason in asking.result().body["detail"]
    assert (await show(caller, household, f"/tools/{tool_id}"))["undone_at"] is None


async def test_a_session_is_undone_as_far_as_it_goes(caller: Caller, household: Household) -> None:
    ids = [await written(caller, household, f"call-{number}") for number in range(3)]
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as machine,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(undo(caller, household, "/chat/sessions/session-1"))
        request = await asked_to_undo(machine)
        await tell(
            caller,
            household,
            {"tool_id": ids[2], "status": "undone"},
            {"tool_id": ids[1], "status": "refused", "reason": "notes.md is gone"},
            {"tool_id": ids[0], "status": "not_tried", "reason": "a later call"},
        )
    assert sorted(request["tool_ids"]) == sorted(ids)
    assert asking.result().body["success"] is False
    told = {one["tool_id"]: one["status"] for one in asking.result().body["calls"]}
    assert told == {ids[2]: "undone", ids[1]: "refused", ids[0]: "not_tried"}
    listed = await show(caller, household, "/undo?session_id=session-1")
    left = {one["tool_id"]: one["can_undo"] for one in listed["calls"]}
    assert left == {ids[2]: False, ids[1]: True, ids[0]: True}


async def test_a_machine_that_leaves_is_not_waited_for_and_its_answer_still_counts(
    caller: Caller, household: Household
) -> None:
    tool_id = await written(caller, household)
    async with caller.listen(household, household.secrets[Role.CLIENT]) as machine:
        asking = asyncio.create_task(undo(caller, household, f"/tools/{tool_id}"))
        await asked_to_undo(machine)
    answer = await asking
    assert answer.problem == CONFLICT
    assert "has disconnected" in answer.body["detail"]

    for _ in range(2):
        told = await tell(caller, household, {"tool_id": tool_id, "status": "undone"})
        assert told.status == 200
    [call] = (await undo(caller, household, f"/tools/{tool_id}")).body["calls"]
    assert (call["status"], call["undone_by"]) == ("undone_before", "ada")


async def test_a_machine_reports_only_what_it_was_asked_for(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    tool_id = await written(caller, household)
    one = {"tool_id": tool_id, "status": "undone"}
    unasked = await tell(caller, household, one)
    assert unasked.problem == CONFLICT
    assert "there was no request to undo" in unasked.body["detail"]
    stranger = await settle_in(store, clock, "bea", "/home/bea")
    assert (await tell(caller, stranger, one)).status == 404


async def test_another_machine_of_the_workspace_is_asked_where_the_first_is_away(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    tool_id = await written(caller, household)
    _, token = await add_machine(store, household)
    async with (
        caller.listen(household, token) as machine,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(undo(caller, household, f"/tools/{tool_id}"))
        await asked_to_undo(machine)
        nothing = {
            "tool_id": tool_id,
            "status": "not_kept",
            "reason": "no earlier files are kept here",
        }
        await tell(caller, household, nothing, token=token)
    detail = f"{tool_id} cannot be undone: no earlier files are kept here"
    assert asking.result().body["detail"] == detail


async def test_a_request_that_is_replayed_is_not_carried_out_again(
    caller: Caller, household: Household
) -> None:
    tool_id = await written(caller, household)
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as machine,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(undo(caller, household, f"/tools/{tool_id}"))
        await asked_to_undo(machine)
        await tell(caller, household, {"tool_id": tool_id, "status": "undone"})
    async with caller.listen(household, household.secrets[Role.CLIENT], last_event_id=0) as machine:
        assert (await asked_to_undo(machine))["replayed"] is True


async def test_an_approver_undoes_in_their_own_name(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    tool_id = await written(caller, household)
    fields = {"role": Role.APPROVER, "subject": "apv_ana", "name": "Ana", "workspace_id": None}
    ana = await add_token(store, household, **fields)
    address = f"{base(household)}/tools/{tool_id}/undo"
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as machine,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(caller.ask("POST", address, ana, json={}))
        await asked_to_undo(machine)
        await tell(caller, household, {"tool_id": tool_id, "status": "undone"})
    assert asking.result().body["calls"][0]["undone_by"] == "Ana"
    lines = (await show(caller, household, "/audit"))["entries"]
    actors = {line["action"]: line["actor"] for line in lines}
    assert actors["undo.requested"] == "apv_ana"
    assert actors["call.undone"] == household.client_id

"""Agents and machines are named wherever a call is described, and exit codes are told."""

import json
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.server.conftest import (
    Caller,
    a_body,
    a_write,
    add_token,
    ask_to_read,
    ask_to_write,
    ask_with_a_look,
    base,
    report,
    show,
)

CLAUDE = "Claude on my laptop"


async def agent_named(store: SqliteStore, home: Household, name: str) -> str:
    """The secret of a further agent of that name."""
    return await add_token(store, home, subject="agt_claude", name=name)


async def ask_as(caller: Caller, home: Household, secret: str, body: dict[str, Any]) -> Any:
    answer = await caller.ask("POST", f"{base(home)}/tools/execute", secret, json=body)
    assert answer.status == 200, answer.body
    return answer.body


async def test_an_agent_is_named_wherever_its_call_is_described(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    await ask_to_read(caller, household, "before")  # Its agent's name is cached by now.
    secret = await agent_named(store, household, CLAUDE)
    write = a_write("mine", session_id="session-2")
    asked = await ask_as(caller, household, secret, write)
    tool_id, approval_id = asked["tool_id"], asked["approval_id"]

    described = [
        asked,
        await show(caller, household, f"/tools/{tool_id}"),
        *(await show(caller, household, "/tools/executions"))["executions"],
        await show(caller, household, f"/activity/{tool_id}"),
        *(await show(caller, household, "/activity"))["calls"],
        await show(caller, household, f"/approvals/{approval_id}"),
        *(await show(caller, household, "/approvals"))["approvals"],
    ]

    names = {call["agent_id"]: call["agent_name"] for call in described}
    assert names == {"agt_claude": CLAUDE, household.agent.subject: "test"}
    assert sum(call["agent_name"] == CLAUDE for call in described) == 7


async def test_the_machine_is_named_on_the_card_and_on_the_call(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household)
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        read = await ask_to_read(caller, household, "read")
        await report(caller, household, read)

    card = await show(caller, household, f"/approvals/{asked['approval_id']}")
    call = await show(caller, household, f"/activity/{read}")
    rows = (await show(caller, household, "/activity"))["calls"]

    assert card["client_name"] == "here"
    assert (call["client_id"], call["client_name"]) == (household.client_id, "here")
    assert {row["tool_id"]: row["client_name"] for row in rows}[read] == "here"


async def test_a_question_without_a_machine_names_none(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)

    card = await show(caller, household, f"/approvals/{asked['approval_id']}")

    assert card["client_name"] is None


async def test_a_hostile_name_can_neither_hide_nor_fill_the_screen(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    secret = await agent_named(store, household, "\x1b[31m\u202egnp" + "x" * 500)

    asked = await ask_as(caller, household, secret, a_body(session_id="session-2"))

    shown = asked["agent_name"]
    assert shown.startswith("\\x1b[31m\\u{202e}gnpxxx")
    assert shown.isprintable()
    assert len(shown) < 150


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"exit_code": 1, "output": "1 failed"}, 1),
        ({"exit_code": 0}, 0),
        ({"exit_code": -9}, -9),
        ({"content": "hello"}, None),
        ({"exit_code": True}, None),
        ({"exit_code": "1"}, None),
        ({"exit_code": 2**70}, None),
    ],
)
async def test_the_exit_code_of_a_command_is_told_in_lists_and_details(
    caller: Caller, household: Household, result: dict[str, Any], code: int | None
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, household)
        await report(caller, household, tool_id, {"status": "completed", "result": result})

    (row,) = (await show(caller, household, "/activity"))["calls"]
    (execution,) = (await show(caller, household, "/tools/executions"))["executions"]
    exported = await caller.ask(
        "GET", f"{base(household)}/activity/export", household.secrets[Role.USER]
    )

    assert [row["exit_code"], execution["exit_code"]] == [code, code]
    assert json.loads(exported.body)["exit_code"] == code
    assert (await show(caller, household, f"/activity/{tool_id}"))["exit_code"] == code


async def test_a_command_that_was_ended_has_no_exit_code(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, household)
        failed = {"status": "failed", "result": {"exit_code": -15}, "error": "timed out"}
        await report(caller, household, tool_id, failed)

    (row,) = (await show(caller, household, "/activity"))["calls"]

    assert (row["status"], row["exit_code"]) == ("failed", None)

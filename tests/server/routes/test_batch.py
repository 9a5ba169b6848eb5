"""Several calls in one request, over HTTP."""

from typing import Any

import pytest

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import Answer, Caller, base

BAD_INPUT = (400, "urn:handrail:bad-input")
FORBIDDEN = (403, "urn:handrail:forbidden")
NOT_FOUND = (404, "urn:handrail:not-found")


def a_part(call_id: str, **params: Any) -> dict[str, Any]:
    return {"tool_name": "read_file", "tool_params": params or {"path": "a"}, "call_id": call_id}


async def ask(
    caller: Caller, home: Household, *calls: Any, role: Role = Role.AGENT, **fields: Any
) -> Answer:
    body = {"session_id": "session-1", "calls": list(calls), **fields}
    address = f"{base(home)}/tools/batch"
    return await caller.ask("POST", address, home.secrets[role], json=body)


async def test_every_call_is_answered_in_its_place(caller: Caller, household: Household) -> None:
    answer = await ask(caller, household, a_part("one"), a_part("two", path="../x"))
    assert answer.body["success"] is False
    assert answer.body["total_count"] == 2
    assert [part["call_id"] for part in answer.body["results"]] == ["one", "two"]
    assert [part["execution"]["status"] for part in answer.body["results"]] == [
        "approved",
        "failed",
    ]
    assert [part["error"] for part in answer.body["results"]] == [None, None]


async def test_a_call_that_is_not_begun_says_why(caller: Caller, household: Household) -> None:
    calls = (a_part("one"), a_part("two", path="${1.content}"))
    answer = await ask(caller, household, *calls, chain=True)
    assert answer.status == 200
    assert answer.body["results"][1] == {
        "call_id": "two",
        "execution": None,
        "error": "not started: call 'one' is approved; ask again to continue",
    }


@pytest.mark.parametrize(
    ("calls", "fields"),
    [
        ([], {}),
        ([a_part(f"call-{n}") for n in range(101)], {}),
        ([a_part("one"), a_part("one")], {}),
        ([a_part("one", path="${1.content}")], {"chain": True}),
        ([{"tool_name": "read_file"}], {}),
        ([a_part("one") | {"session_id": "other"}], {}),
        ([a_part("one") | {"wait": 5}], {}),
        (["read_file"], {}),
        ([a_part("one")], {"chain": "perhaps"}),
        ([a_part("one")], {"wait": -1}),
        ([a_part("one")], {"session_id": ".."}),
        ([a_part("one")], {"more": 1}),
    ],
)
async def test_what_is_no_batch_is_refused_whole(
    caller: Caller, household: Household, calls: list[Any], fields: dict[str, Any]
) -> None:
    assert (await ask(caller, household, *calls, **fields)).problem == BAD_INPUT
    shown = await caller.ask(
        "GET", f"{base(household)}/tools/executions", household.secrets[Role.USER]
    )
    assert shown.body["executions"] == []


async def test_a_client_asks_for_nothing(caller: Caller, household: Household) -> None:
    answer = await ask(caller, household, a_part("one"), role=Role.CLIENT)
    assert answer.problem == FORBIDDEN


async def test_a_stranger_finds_no_project(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    stranger = await settle_in(store, clock, "eve", "/home/eve")
    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/batch",
        stranger.secrets[Role.AGENT],
        json={"session_id": "s", "calls": [a_part("one")]},
    )
    assert answer.problem == NOT_FOUND

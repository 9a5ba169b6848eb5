"""The right to begin: one client gets it, under one epoch, and asking again is harmless."""

import asyncio
import json
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    a_result,
    add_machine,
    approve,
    ask_to_read,
    ask_to_write,
    base,
    report,
    show,
)

CONFLICT = (409, "urn:handrail:conflict")
NOT_FOUND = (404, "urn:handrail:not-found")


async def claim(
    caller: Caller, home: Household, tool_id: str, epoch: Any = 1, token: str | None = None
) -> Answer:
    """Claim as the household's client, unless another token is given."""
    return await caller.ask(
        "POST",
        f"{base(home)}/tools/{tool_id}/claim",
        token or home.secrets[Role.CLIENT],
        json={"epoch": epoch, "key": "this-life"},
    )


async def offered(caller: Caller, home: Household, call_id: str = "call-1") -> str:
    """A write that a person has approved and the household's client was offered."""
    asked = await ask_to_write(caller, home, call_id)
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        assert (await approve(caller, home, asked["approval_id"])).status == 200
    return asked["tool_id"]


async def status(caller: Caller, home: Household, tool_id: str) -> str:
    return (await show(caller, home, f"/tools/{tool_id}"))["status"]


async def test_the_client_that_was_offered_a_call_may_begin(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    tool_id = await offered(caller, household)
    before = await status(caller, household, tool_id)
    clock.advance(2)

    async with caller.listen(household, household.secrets[Role.USER]) as person:
        answer = await claim(caller, household, tool_id)
        _, name, heard = await person.event()

    call = await show(caller, household, f"/tools/{tool_id}")
    assert before == "approved"
    assert answer.status == 200
    assert answer.body == {"success": True, "tool_id": tool_id, "status": "executing", "epoch": 1}
    assert (call["status"], call["started_at"]) == ("executing", "2026-01-01T00:00:02Z")
    assert (name, heard["tool_id"], heard["status"]) == ("tool.status", tool_id, "executing")


async def test_claiming_twice_is_claiming_once(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    tool_id = await offered(caller, household)

    first = await claim(caller, household, tool_id)
    events = (await store.event_range(household.project.id)).last
    more = await asyncio.gather(*(claim(caller, household, tool_id) for _ in range(5)))

    assert first.status == 200
    assert [answer.body for answer in more] == [first.body] * 5
    assert (await store.event_range(household.project.id)).last == events


async def test_many_claims_at_once_are_one(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    tool_id = await offered(caller, household)
    events = (await store.event_range(household.project.id)).last

    answers = await asyncio.gather(*(claim(caller, household, tool_id) for _ in range(8)))

    assert [answer.status for answer in answers] == [200] * 8
    assert (await store.event_range(household.project.id)).last == events + 1


@pytest.mark.parametrize("epoch", [0, 2, 2**31 - 1])
async def test_another_epoch_gives_no_right(
    caller: Caller, household: Household, epoch: int
) -> None:
    tool_id = await offered(caller, household)

    answer = await claim(caller, household, tool_id, epoch)

    assert answer.problem == CONFLICT
    assert await status(caller, household, tool_id) == "approved"


async def test_an_offer_is_void_once_it_was_made_anew(caller: Caller, household: Household) -> None:
    tool_id = await offered(caller, household)
    async with caller.listen(household, household.secrets[Role.CLIENT]) as client:
        _, _, signal = await client.event()

    late = await claim(caller, household, tool_id, 1)
    timely = await claim(caller, household, tool_id, signal["epoch"])

    assert (signal["epoch"], signal["status"]) == (2, "approved")
    assert late.problem == CONFLICT
    assert timely.status == 200


async def test_another_client_has_no_right(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, elsewhere = await add_machine(store, household)
    tool_id = await offered(caller, household)

    before = await claim(caller, household, tool_id, token=elsewhere)
    await claim(caller, household, tool_id)
    after = await claim(caller, household, tool_id, token=elsewhere)

    assert before.problem == after.problem == CONFLICT


async def test_what_a_vanished_client_has_not_begun_goes_to_another(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, elsewhere = await add_machine(store, household)
    tool_id = await offered(caller, household)

    async with caller.listen(household, elsewhere) as client:
        _, name, signal = await client.event()
        late = await claim(caller, household, tool_id, 1)
        mine = await claim(caller, household, tool_id, signal["epoch"], elsewhere)

    assert (name, signal["tool_id"], signal["epoch"]) == ("tool.execution_signal", tool_id, 2)
    assert late.problem == CONFLICT
    assert mine.status == 200


async def test_what_a_vanished_client_has_begun_goes_to_nobody_else(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, elsewhere = await add_machine(store, household)
    begun = await offered(caller, household, "begun")
    await claim(caller, household, begun)

    async with caller.listen(household, elsewhere) as client:
        # The next it hears of is another call.
        other = await ask_to_read(caller, household, "other")
        assert [tool_id for _, _, tool_id in await client.told(1)] == [other]
    async with caller.listen(household, household.secrets[Role.CLIENT]) as client:
        _, name, signal = await client.event()

    assert (name, signal["tool_id"]) == ("tool.execution_signal", begun)
    assert (signal["status"], signal["epoch"]) == ("executing", 2)


@pytest.mark.parametrize("epoch", [1, None])
async def test_the_result_of_a_call_that_was_not_claimed_counts_as_its_claim(
    caller: Caller, household: Household, epoch: int | None
) -> None:
    tool_id = await offered(caller, household)

    answer = await report(caller, household, tool_id, a_result(epoch=epoch))

    call = await show(caller, household, f"/tools/{tool_id}")
    audit = (await show(caller, household, "/audit"))["entries"]
    assert answer.status == 200
    assert call["status"] == "completed"
    assert call["approved_at"] <= call["started_at"] <= call["completed_at"]
    lines = [line for line in audit if line["subject"] == tool_id]
    assert [line["action"] for line in lines][-2:] == ["call.claimed", "call.ended"]
    assert json.loads(lines[-2]["details"]) == {"epoch": 1, "by": "result"}
    # Neither a claim nor another result comes after it.
    assert (await claim(caller, household, tool_id)).problem == CONFLICT
    other = a_result("another", epoch=epoch)
    assert (await report(caller, household, tool_id, other)).problem == CONFLICT


async def test_a_result_is_no_claim_of_what_was_offered_to_another_or_again(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    tool_id = await offered(caller, household)
    _, elsewhere = await add_machine(store, household)

    path = f"{base(household)}/tools/{tool_id}/result"
    stranger = await caller.ask("POST", path, elsewhere, json=a_result())
    async with caller.listen(household, household.secrets[Role.CLIENT]) as client:
        _, _, signal = await client.event()
    old = await report(caller, household, tool_id, a_result(epoch=signal["epoch"] - 1))

    assert (stranger.problem, old.problem) == (CONFLICT, CONFLICT)
    call = await show(caller, household, f"/tools/{tool_id}")
    assert call["status"] == "approved"


async def test_a_call_that_cannot_even_begin_is_reported_without_a_claim(
    caller: Caller, household: Household
) -> None:
    tool_id = await offered(caller, household)

    stale = {"status": "failed", "error": "it has changed", "error_type": "stale", "epoch": 1}
    answer = await report(caller, household, tool_id, stale)

    call = await show(caller, household, f"/tools/{tool_id}")
    assert answer.status == 200
    assert (call["status"], call["error_type"]) == ("failed", "stale")
    assert (await claim(caller, household, tool_id)).problem == CONFLICT


async def test_what_has_ended_is_not_begun_again(caller: Caller, household: Household) -> None:
    tool_id = await offered(caller, household)
    await claim(caller, household, tool_id)
    await report(caller, household, tool_id)

    answer = await claim(caller, household, tool_id)

    assert answer.problem == CONFLICT
    assert await status(caller, household, tool_id) == "completed"


async def test_nothing_is_begun_before_it_is_approved(caller: Caller, household: Household) -> None:
    waiting = await ask_to_write(caller, household, "waiting")
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        looked_at = await ask_to_write(caller, household, "looked-at")
        answers = [
            await claim(caller, household, asked["tool_id"], epoch)
            for asked in (waiting, looked_at)
            for epoch in (0, 1)
        ]

    assert {answer.problem for answer in answers} == {CONFLICT}
    assert await status(caller, household, waiting["tool_id"]) == "awaiting_approval"
    assert await status(caller, household, looked_at["tool_id"]) == "pending"


async def test_a_read_is_claimed_by_being_handed_out(caller: Caller, household: Household) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, household)
        answer = await claim(caller, household, tool_id)

    assert (answer.status, answer.body["status"]) == (200, "executing")


@pytest.mark.parametrize("role", [Role.USER, Role.AGENT])
async def test_only_clients_claim(caller: Caller, household: Household, role: Role) -> None:
    tool_id = await offered(caller, household)

    answer = await claim(caller, household, tool_id, token=household.secrets[role])
    stranger = await caller.ask(
        "POST", f"{base(household)}/tools/{tool_id}/claim", json={"epoch": 1, "key": "this-life"}
    )

    assert answer.problem == (403, "urn:handrail:forbidden")
    assert stranger.problem == (401, "urn:handrail:unauthenticated")
    assert await status(caller, household, tool_id) == "approved"


async def test_a_call_that_is_none_or_foreign_is_not_found(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    tool_id = await offered(caller, household)
    token = neighbour.secrets[Role.CLIENT]

    answers = [
        await claim(caller, household, "exe_none"),
        await claim(caller, household, "%00"),
        await claim(caller, household, tool_id, token=token),
        await claim(caller, neighbour, tool_id, token=token),
    ]

    assert {answer.problem for answer in answers} == {NOT_FOUND}
    assert await status(caller, household, tool_id) == "approved"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{}", id="no-epoch"),
        pytest.param(b"[1]", id="a-list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"epoch": 1, "key": "k"', id="half"),
        pytest.param(b'{"epoch": -1, "key": "k"}', id="before-the-first"),
        pytest.param(b'{"epoch": 2147483648, "key": "k"}', id="beyond-the-last"),
        pytest.param(b'{"epoch": 1.5, "key": "k"}', id="a-fraction"),
        pytest.param(b'{"epoch": NaN, "key": "k"}', id="not-a-number"),
        pytest.param(b'{"epoch": "first", "key": "k"}', id="a-word"),
        pytest.param(b'{"epoch": null, "key": "k"}', id="epoch-null"),
        pytest.param(b'{"epoch": 1}', id="no-key"),
        pytest.param(b'{"epoch": 1, "key": ""}', id="an-empty-key"),
        pytest.param(b'{"epoch": 1, "key": 7}', id="a-number-for-a-key"),
        pytest.param(
            json.dumps({"epoch": 1, "key": "k", "force": True}).encode(), id="one-more-field"
        ),
        pytest.param(b"[" * 900, id="deep"),
    ],
)
async def test_what_cannot_be_read_is_a_400(
    caller: Caller, household: Household, body: bytes
) -> None:
    tool_id = await offered(caller, household)

    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/{tool_id}/claim",
        household.secrets[Role.CLIENT],
        data=body,
    )

    assert answer.problem == (400, "urn:handrail:bad-input")
    assert await status(caller, household, tool_id) == "approved"


async def test_a_body_that_is_too_large_is_not_taken(caller: Caller, household: Household) -> None:
    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/exe_1/claim",
        household.secrets[Role.CLIENT],
        data=b'{"epoch": 1, "key": "k"}' + b" " * 1_000,
    )

    assert answer.problem == (413, "urn:handrail:too-large")

"""Ending a call or a session over HTTP, and what still comes after it."""

import json
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    a_body,
    a_result,
    add_machine,
    approve,
    ask_to_read,
    ask_to_write,
    base,
    report,
    show,
    until,
)

BAD_INPUT = (400, "urn:handrail:bad-input")
UNAUTHENTICATED = (401, "urn:handrail:unauthenticated")
FORBIDDEN = (403, "urn:handrail:forbidden")
NOT_FOUND = (404, "urn:handrail:not-found")
CONFLICT = (409, "urn:handrail:conflict")
TOO_LARGE = (413, "urn:handrail:too-large")


def cancelling(home: Household, tool_id: str) -> str:
    return f"{base(home)}/tools/{tool_id}/cancel"


def stopping(home: Household, session_id: str = "session-1") -> str:
    return f"{base(home)}/chat/sessions/{session_id}/stop"


async def cancel(caller: Caller, home: Household, tool_id: str, **body: Any) -> Answer:
    """Cancel as the household's person."""
    return await caller.ask("POST", cancelling(home, tool_id), home.secrets[Role.USER], json=body)


async def stop(caller: Caller, home: Household, **body: Any) -> Answer:
    return await caller.ask("POST", stopping(home), home.secrets[Role.USER], json=body)


async def under_way(caller: Caller, services: Services, home: Household) -> str:
    """A read in the hands of the household's client, which has left since."""
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, home)

    async def gone() -> bool:
        return not services.connections.connected

    await until(gone)
    return tool_id


# One call


async def test_a_cancelled_call_is_shown_with_who_ended_it_and_why(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    tool_id = await ask_to_read(caller, household)
    clock.advance(7)

    answer = await cancel(caller, household, tool_id, reason="not now", channel="phone")

    assert answer.status == 200
    assert answer.body == await show(caller, household, f"/tools/{tool_id}")
    assert {name: answer.body[name] for name in ("status", "error", "error_type")} == {
        "status": "failed",
        "error": "ada cancelled this call: not now",
        "error_type": "cancelled",
    }
    assert (answer.body["completed_at"], answer.body["late_result"]) == (
        "2026-01-01T00:00:07Z",
        None,
    )


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
@pytest.mark.parametrize("body", [b"", b"{}"], ids=["nothing", "an empty object"])
async def test_people_and_those_who_sit_at_a_machine_may_cancel_without_a_word(
    caller: Caller, household: Household, role: Role, body: bytes
) -> None:
    tool_id = await ask_to_read(caller, household)

    answer = await caller.ask(
        "POST", cancelling(household, tool_id), household.secrets[role], data=body
    )

    assert (answer.status, answer.body["error"]) == (200, "ada cancelled this call")


async def test_a_question_is_taken_from_the_screens_with_its_call(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)

    async with caller.listen(household, household.secrets[Role.USER]) as person:
        await cancel(caller, household, asked["tool_id"], channel="phone")
        _, name, heard = await person.event()

    question = await show(caller, household, f"/approvals/{asked['approval_id']}")
    late = await approve(caller, household, asked["approval_id"])
    assert (name, heard["approval_id"]) == ("approval.resolved", asked["approval_id"])
    assert (question["status"], question["channel"]) == ("withdrawn", "phone")
    assert late.problem == CONFLICT
    assert late.body["detail"] == "the call was cancelled by ada at 00:00:00 UTC"


async def test_cancelling_twice_is_harmless(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    tool_id = await ask_to_read(caller, household)
    first = await cancel(caller, household, tool_id, reason="not now")
    told = await store.event_range(household.project.id)

    second = await cancel(caller, household, tool_id, reason="never")

    assert (second.status, second.body) == (200, first.body)
    assert await store.event_range(household.project.id) == told


async def test_a_call_that_has_ended_cannot_be_cancelled(
    caller: Caller, services: Services, household: Household
) -> None:
    tool_id = await under_way(caller, services, household)
    await report(caller, household, tool_id)

    answer = await cancel(caller, household, tool_id)

    assert answer.problem == CONFLICT
    assert answer.body["detail"] == f"{tool_id} has ended already, as completed"
    assert (await show(caller, household, f"/tools/{tool_id}"))["status"] == "completed"


async def test_a_call_that_is_none_or_foreign_is_not_found(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    tool_id = await ask_to_read(caller, household)

    answers = [
        await cancel(caller, household, "exe_none"),
        await cancel(caller, household, "%00"),
        await cancel(caller, neighbour, tool_id),
        await caller.ask(
            "POST", cancelling(household, tool_id), neighbour.secrets[Role.USER], json={}
        ),
    ]

    assert {answer.problem for answer in answers} == {NOT_FOUND}
    assert (await show(caller, household, f"/tools/{tool_id}"))["status"] == "approved"


# A session


async def test_a_stopped_session_says_since_when_and_lets_nothing_in(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    read = await ask_to_read(caller, household, "read")
    asked = await ask_to_write(caller, household, "write")
    clock.advance(7)

    answer = await stop(caller, household, channel="phone")

    expected = {
        "success": True,
        "session_id": "session-1",
        "stopped_at": "2026-01-01T00:00:07Z",
        "calls_ended": 2,
    }
    assert (answer.status, answer.body) == (200, expected)
    for tool_id in (read, asked["tool_id"]):
        call = await show(caller, household, f"/tools/{tool_id}")
        assert (call["error_type"], call["error"]) == ("cancelled", "ada stopped this session")
    question = await show(caller, household, f"/approvals/{asked['approval_id']}")
    assert (question["status"], question["channel"]) == ("withdrawn", "phone")
    new = await caller.ask(
        "POST",
        f"{base(household)}/tools/execute",
        household.secrets[Role.AGENT],
        json=a_body("new"),
    )
    assert new.problem == CONFLICT
    assert new.body["detail"] == "session 'session-1' has been stopped"


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
@pytest.mark.parametrize("body", [b"", b"{}"], ids=["nothing", "an empty object"])
async def test_people_and_those_who_sit_at_a_machine_may_stop_without_a_word(
    caller: Caller, household: Household, role: Role, body: bytes
) -> None:
    tool_id = await ask_to_read(caller, household)

    answer = await caller.ask("POST", stopping(household), household.secrets[role], data=body)

    assert answer.status == 200
    assert (await show(caller, household, f"/tools/{tool_id}"))["error_type"] == "cancelled"


async def test_stopping_twice_is_harmless(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    await ask_to_read(caller, household)
    first = await stop(caller, household)
    clock.advance(9)

    second = await stop(caller, household)

    assert (second.status, second.body) == (200, first.body | {"calls_ended": 0})


async def test_a_session_that_is_none_or_foreign_is_not_found(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    tool_id = await ask_to_read(caller, household)
    token = neighbour.secrets[Role.USER]

    answers = [
        await caller.ask("POST", stopping(household, "none"), household.secrets[Role.USER]),
        await caller.ask("POST", stopping(household, "%00"), household.secrets[Role.USER]),
        await caller.ask("POST", stopping(neighbour), token),
        await caller.ask("POST", stopping(household), token),
    ]

    assert {answer.problem for answer in answers} == {NOT_FOUND}
    assert (await show(caller, household, f"/tools/{tool_id}"))["status"] == "approved"


# Who may not, and what cannot be read


async def test_an_agent_ends_neither_calls_nor_sessions_and_a_stranger_even_less(
    caller: Caller, household: Household
) -> None:
    tool_id = await ask_to_read(caller, household)
    paths = (cancelling(household, tool_id), stopping(household))

    agents = [
        await caller.ask("POST", path, household.secrets[Role.AGENT], json={}) for path in paths
    ]
    strangers = [
        await caller.ask("POST", path, token, json={})
        for path in paths
        for token in (None, "hr_user_unknown")
    ]

    assert {answer.problem for answer in agents} == {FORBIDDEN}
    assert {answer.problem for answer in strangers} == {UNAUTHENTICATED}
    assert (await show(caller, household, f"/tools/{tool_id}"))["status"] == "approved"


UNREADABLE = [
    pytest.param(b" ", id="a-space"),
    pytest.param(b"null", id="null"),
    pytest.param(b"[]", id="a-list"),
    pytest.param(b'"stop"', id="a-word"),
    pytest.param(b'{"channel": "phone"', id="half"),
    pytest.param(b'{"channel": ""}', id="no-channel"),
    pytest.param(b'{"channel": null}', id="channel-null"),
    pytest.param(b'{"channel": "a b"}', id="two-words"),
    pytest.param(b'{"channel": NaN}', id="not-a-number"),
    pytest.param(b'{"channel": "phone", "force": true}', id="one-more-field"),
    pytest.param(b"[" * 900, id="deep"),
]
UNREADABLE_REASON = [
    pytest.param(b'{"reason": 1}', id="a-number"),
    pytest.param(b'{"reason": ["not", "now"]}', id="a-list-of-words"),
    pytest.param(json.dumps({"reason": "x" * 2_001}).encode(), id="too-long"),
]


@pytest.mark.parametrize("body", UNREADABLE + UNREADABLE_REASON)
async def test_a_cancel_that_cannot_be_read_is_a_400_and_ends_nothing(
    caller: Caller, household: Household, body: bytes
) -> None:
    tool_id = await ask_to_read(caller, household)

    answer = await caller.ask(
        "POST", cancelling(household, tool_id), household.secrets[Role.USER], data=body
    )

    assert answer.problem == BAD_INPUT
    assert (await show(caller, household, f"/tools/{tool_id}"))["status"] == "approved"


@pytest.mark.parametrize("body", [*UNREADABLE, pytest.param(b'{"reason": "x"}', id="a-reason")])
async def test_a_stop_that_cannot_be_read_is_a_400_and_ends_nothing(
    caller: Caller, household: Household, body: bytes
) -> None:
    tool_id = await ask_to_read(caller, household)

    answer = await caller.ask("POST", stopping(household), household.secrets[Role.USER], data=body)

    assert answer.problem == BAD_INPUT
    assert (await show(caller, household, f"/tools/{tool_id}"))["status"] == "approved"


async def test_a_body_that_is_too_large_is_not_taken(caller: Caller, household: Household) -> None:
    tool_id = await ask_to_read(caller, household)

    answers = [
        await caller.ask("POST", path, household.secrets[Role.USER], data=b" " * 20_001)
        for path in (cancelling(household, tool_id), stopping(household))
    ]

    assert {answer.problem for answer in answers} == {TOO_LARGE}


async def test_the_longest_reason_is_kept_whole(caller: Caller, household: Household) -> None:
    tool_id = await ask_to_read(caller, household)

    answer = await cancel(caller, household, tool_id, reason="é" * 2_000)

    assert answer.body["error"] == "ada cancelled this call: " + "é" * 2_000


# What still comes


async def test_a_result_that_comes_after_a_cancel_is_shown_beside_the_end(
    caller: Caller, services: Services, household: Household
) -> None:
    tool_id = await under_way(caller, services, household)
    ended = await cancel(caller, household, tool_id)

    receipts = [await report(caller, household, tool_id, a_result(epoch=1)) for _ in range(2)]

    for receipt in receipts:
        assert receipt.status == 200
        assert receipt.body == {
            "success": True,
            "tool_id": tool_id,
            "status": "failed",
            "message": "The call had ended; this is kept beside its end",
        }
    late = {
        "status": "completed",
        "result": {"success": True, "content": "hello"},
        "error": None,
        "error_type": None,
        "execution_time_ms": None,
    }
    seen = await show(caller, household, f"/tools/{tool_id}")
    assert seen == ended.body | {"late_result": late}


async def test_a_late_result_that_is_another_or_anothers_is_turned_away(
    caller: Caller, services: Services, store: SqliteStore, household: Household
) -> None:
    _, elsewhere = await add_machine(store, household)
    tool_id = await under_way(caller, services, household)
    await cancel(caller, household, tool_id)
    path = f"{base(household)}/tools/{tool_id}/result"

    others = await caller.ask("POST", path, elsewhere, json=a_result())
    older = await report(caller, household, tool_id, a_result(epoch=0))
    await report(caller, household, tool_id, a_result("first"))
    second = await report(caller, household, tool_id, a_result("second"))

    assert [answer.problem for answer in (others, older, second)] == [CONFLICT] * 3
    seen = await show(caller, household, f"/tools/{tool_id}")
    assert seen["late_result"]["result"]["content"] == "first"

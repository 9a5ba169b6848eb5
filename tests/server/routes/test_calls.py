"""Asking and reporting over HTTP."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from io import BytesIO
from typing import Any

import pytest
from aiohttp import ClientError

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import Caller, a_body, a_result, ask_to_read, base, report

MEGABYTE = 1_000_000


async def execute(caller: Caller, home: Household, body: Any) -> Any:
    return await caller.ask(
        "POST", f"{base(home)}/tools/execute", home.secrets[Role.AGENT], json=body
    )


async def in_pieces(size: int) -> AsyncGenerator[bytes]:
    """A body whose length nobody announces."""
    for _ in range(size // MEGABYTE):
        yield b" " * MEGABYTE


# Asking


async def test_a_call_is_answered_at_once_with_its_state(
    caller: Caller, household: Household
) -> None:
    answer = await execute(caller, household, a_body(reasoning="to know"))

    assert answer.status == 200
    assert answer.media_type == "application/json"
    tool_id = answer.body.pop("tool_id")
    assert tool_id.startswith("exe_")
    assert answer.body == {
        "tool_name": "read_file",
        "status": "approved",
        "result": None,
        "error": None,
        "error_type": None,
        "approval_id": None,
        "tool_params": {"path": "README.md"},
        "risk_level": "LOW",
        "reasons": [],
        "requires_approval": False,
        "approved_by": "policy",
        "scope": "once",
        "session_id": "session-1",
        "call_id": "call-1",
        "agent_id": household.agent.subject,
        "agent_name": "test",
        "reasoning": "to know",
        "exit_code": None,
        "execution_time_ms": None,
        "late_result": None,
        "suspicion": None,
        "origins": None,
        "created_at": "2026-01-01T00:00:00Z",
        "approved_at": "2026-01-01T00:00:00Z",
        "started_at": None,
        "completed_at": None,
        "result_removed_at": None,
        "can_undo": False,
        "why_not_undo": "it has not ended yet",
        "undone_at": None,
        "undone_by": None,
        "revised_by": None,
        "revised_at": None,
        "revision": None,
    }


async def test_an_asker_who_waits_gets_the_result(caller: Caller, household: Household) -> None:
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as stream,
        asyncio.TaskGroup() as group,
    ):
        asking = group.create_task(execute(caller, household, a_body(wait=10)))
        _, name, signal = await stream.event()
        assert name == "tool.execution_signal"
        receipt = await report(
            caller, household, signal["tool_id"], a_result("hello", execution_time_ms=5)
        )

    answer = asking.result()
    assert receipt.body == {
        "success": True,
        "tool_id": signal["tool_id"],
        "status": "completed",
        "message": "Tool result processed",
    }
    assert (answer.status, answer.body["status"]) == (200, "completed")
    assert answer.body["result"] == {"success": True, "content": "hello"}
    assert answer.body["execution_time_ms"] == 5
    assert answer.body["completed_at"] == "2026-01-01T00:00:00Z"


async def test_an_asker_who_waits_in_vain_gets_the_present_state(
    caller: Caller, household: Household
) -> None:
    answer = await execute(caller, household, a_body(wait=0.01))

    assert (answer.status, answer.body["status"]) == (200, "approved")


async def test_a_refusal_is_an_answer_and_not_an_error(
    caller: Caller, household: Household
) -> None:
    denied = await execute(caller, household, a_body("call-1", path=".env", wait=10))
    unknown = await execute(caller, household, a_body("call-2", tool_name="launch", wait=10))

    assert (denied.status, denied.body["status"]) == (200, "failed")
    assert denied.body["error_type"] == "denied"
    assert denied.body["risk_level"] == "FORBIDDEN"
    assert denied.body["reasons"] == [denied.body["error"]]
    assert (unknown.status, unknown.body["error_type"]) == (200, "validation")


async def test_the_same_call_twice_is_answered_the_same(
    caller: Caller, household: Household
) -> None:
    answers = await asyncio.gather(*(execute(caller, household, a_body()) for _ in range(8)))

    assert [answer.status for answer in answers] == [200] * 8
    assert [answer.body for answer in answers] == [answers[0].body] * 8


async def test_the_same_call_id_with_other_words_is_a_conflict(
    caller: Caller, household: Household
) -> None:
    await execute(caller, household, a_body(path="a"))

    answer = await execute(caller, household, a_body(path="b"))

    assert answer.problem == (409, "urn:handrail:conflicting-call")


async def test_a_secret_in_the_parameters_is_not_shown_again(
    caller: Caller, household: Household
) -> None:
    answer = await execute(caller, household, a_body(path="token=open-sesame"))
    shown = await caller.ask(
        "GET",
        f"{base(household)}/tools/{answer.body['tool_id']}",
        household.secrets[Role.USER],
    )

    assert answer.body["tool_params"] == {"path": "token=[masked]"}
    assert shown.body["tool_params"] == {"path": "token=[masked]"}


@pytest.mark.parametrize(
    "route", ["/tools/execute", "/tools/exe_1/result", "/tools/results"], ids=str
)
async def test_what_cannot_be_read_is_a_400(
    caller: Caller, household: Household, route: str
) -> None:
    role = Role.AGENT if route == "/tools/execute" else Role.CLIENT
    good = {
        "/tools/execute": a_body(),
        "/tools/exe_1/result": a_result(),
        "/tools/results": {"results": [a_result(tool_id="exe_1")]},
    }[route]
    bodies: dict[str, bytes] = {
        "nothing": b"",
        "half": json.dumps(good).encode()[:-1],
        "twice": json.dumps(good).encode() * 2,
        "not text": b"\xff\xfe",
        "a list": b"[]",
        "a word": b'"hello"',
        "null": b"null",
        "a form": b"tool_name=read_file",
        "half a character": b'{"tool_name": "\\ud800"}',
        "too deep": b"[" * 100_000,
        "one more field": json.dumps(good | {"approved": True}).encode(),
    }

    answers = {
        name: await caller.ask("POST", base(household) + route, household.secrets[role], data=body)
        for name, body in bodies.items()
    }

    assert {name: answer.problem for name, answer in answers.items()} == dict.fromkeys(
        bodies, (400, "urn:handrail:bad-input")
    )
    assert "approved" in answers["one more field"].body["detail"]


async def test_fields_of_the_wrong_kind_are_named(caller: Caller, household: Household) -> None:
    wrong: dict[str, Any] = {
        "tool_name": 3,
        "tool_params": "path",
        "session_id": "two words",
        "call_id": "",
        "reasoning": ["because"],
        "wait": 3601,
    }

    for name, value in wrong.items():
        answer = await execute(caller, household, a_body() | {name: value})
        assert answer.problem == (400, "urn:handrail:bad-input")
        assert answer.body["detail"].startswith(f"{name}: ")


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "unannounced"])
async def test_a_body_that_is_too_large_is_not_taken(
    caller: Caller, household: Household, announced: bool
) -> None:
    limits = {
        "/tools/execute": (Role.AGENT, 8 * MEGABYTE),
        "/tools/exe_1/result": (Role.CLIENT, 32 * MEGABYTE),
        "/tools/results": (Role.CLIENT, 32 * MEGABYTE),
    }

    for route, (role, limit) in limits.items():
        size = limit + MEGABYTE
        answer = await caller.ask(
            "POST",
            base(household) + route,
            household.secrets[role],
            data=BytesIO(b" " * size) if announced else in_pieces(size),
        )
        assert answer.problem == (413, "urn:handrail:too-large")


async def test_a_body_without_an_end_is_not_heard_out(caller: Caller, household: Household) -> None:
    sent: list[int] = []

    async def endless() -> AsyncGenerator[bytes]:
        while True:
            sent.append(MEGABYTE)
            yield b" " * MEGABYTE

    # Whether the answer is read before the line is seen to be closed is chance.
    with suppress(ClientError):
        await caller.ask(
            "POST",
            f"{base(household)}/tools/execute",
            household.secrets[Role.AGENT],
            data=endless(),
        )

    assert sum(sent) < 200 * MEGABYTE


async def test_a_body_as_large_as_it_may_be_is_taken(caller: Caller, household: Household) -> None:
    body = json.dumps(a_body()).encode()
    padded = body + b" " * (8 * MEGABYTE - len(body))

    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/execute",
        household.secrets[Role.AGENT],
        data=BytesIO(padded),
    )

    assert answer.status == 200


# Reporting


async def handed_out(caller: Caller, home: Household, *call_ids: str) -> list[str]:
    """Calls in the hands of the household's client."""
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        return [await ask_to_read(caller, home, call_id) for call_id in call_ids]


async def test_the_same_result_twice_is_one_result(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    (tool_id,) = await handed_out(caller, household, "call-1")

    answers = [await report(caller, household, tool_id) for _ in range(3)]

    assert [answer.status for answer in answers] == [200] * 3
    assert answers[0].body == answers[1].body == answers[2].body
    assert (await store.event_range(household.project.id)).last == 2


async def test_another_result_after_the_end_is_a_conflict(
    caller: Caller, household: Household
) -> None:
    (tool_id,) = await handed_out(caller, household, "call-1")
    await report(caller, household, tool_id, a_result("one"))

    answer = await report(caller, household, tool_id, a_result("two"))

    assert answer.problem == (409, "urn:handrail:conflict")
    assert "has ended already" in answer.body["detail"]


async def test_a_failure_is_reported_with_its_kind(caller: Caller, household: Household) -> None:
    (tool_id,) = await handed_out(caller, household, "call-1")

    failure = {"status": "failed", "error": "no such file", "error_type": "execution"}
    answer = await report(caller, household, tool_id, failure)
    shown = await caller.ask(
        "GET", f"{base(household)}/tools/{tool_id}", household.secrets[Role.AGENT]
    )

    assert (answer.status, answer.body["status"]) == (200, "failed")
    assert {name: shown.body[name] for name in failure} == failure
    assert shown.body["result"] is None


async def test_a_result_of_an_unknown_call_is_not_found(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    (foreign,) = await handed_out(caller, neighbour, "call-1")

    for tool_id in ("exe_none", foreign, "%00", "a%20b"):
        answer = await report(caller, household, tool_id)
        assert answer.problem == (404, "urn:handrail:not-found")


async def test_a_result_under_an_older_epoch_is_a_conflict(
    caller: Caller, household: Household
) -> None:
    (tool_id,) = await handed_out(caller, household, "call-1")
    async with caller.listen(household, household.secrets[Role.CLIENT]) as stream:
        _, _, signal = await stream.event()

    late = await report(caller, household, tool_id, a_result(epoch=1))
    timely = await report(caller, household, tool_id, a_result(epoch=signal["epoch"]))

    assert signal["epoch"] == 2
    assert late.problem == (409, "urn:handrail:conflict")
    assert timely.status == 200


async def test_a_result_must_fit_how_it_ended(caller: Caller, household: Household) -> None:
    (tool_id,) = await handed_out(caller, household, "call-1")
    bodies = [
        {"status": "completed"},
        {"status": "failed"},
        {"status": "executing", "result": {}},
        {"status": "completed", "result": "text"},
        {"status": "failed", "error": "no", "error_type": "mood"},
        {"status": "completed", "result": {}, "execution_time_ms": -1},
    ]

    for body in bodies:
        answer = await report(caller, household, tool_id, body)
        assert answer.problem == (400, "urn:handrail:bad-input")

    assert (await report(caller, household, tool_id)).status == 200


async def test_several_results_are_judged_one_by_one(caller: Caller, household: Household) -> None:
    one, two, three = await handed_out(caller, household, "call-1", "call-2", "call-3")
    await report(caller, household, three, a_result("earlier"))
    results = [
        a_result("one", tool_id=one),
        {"tool_id": two, "status": "failed", "error": "broke", "error_type": "internal"},
        a_result("later", tool_id=three),
        a_result(tool_id="exe_none"),
        a_result("one", tool_id=one),
    ]

    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/results",
        household.secrets[Role.CLIENT],
        json={"results": results},
    )

    assert answer.status == 200
    assert [
        (receipt["tool_id"], receipt["success"], receipt["status"])
        for receipt in answer.body["results"]
    ] == [
        (one, True, "completed"),
        (two, True, "failed"),
        (three, False, "rejected"),
        ("exe_none", False, "rejected"),
        (one, True, "completed"),
    ]
    assert "has ended already" in answer.body["results"][2]["message"]
    assert "there is no execution" in answer.body["results"][3]["message"]


async def test_a_batch_with_one_unreadable_result_is_refused_whole(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    (tool_id,) = await handed_out(caller, household, "call-1")
    results = [a_result(tool_id=tool_id), {"tool_id": tool_id, "status": "completed"}]

    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/results",
        household.secrets[Role.CLIENT],
        json={"results": results},
    )

    assert answer.problem == (400, "urn:handrail:bad-input")
    assert answer.body["detail"].startswith("results.1: ")
    assert (await store.event_range(household.project.id)).last == 1


# Opening a stream


async def test_a_last_event_id_that_is_no_number_is_a_400(
    caller: Caller, household: Household
) -> None:
    for number in ("", "abc", "-1", "1.5", "0x1", "1e3", "9" * 19, "1 2"):
        answer = await caller.ask(
            "GET",
            f"{base(household)}/chat/stream",
            household.secrets[Role.USER],
            headers={"last-event-id": number},
        )
        assert answer.problem == (400, "urn:handrail:bad-input")
        assert "Last-Event-ID" in answer.body["detail"]


async def test_a_number_that_is_none_is_refused_and_spoils_nothing(
    caller: Caller, household: Household
) -> None:
    body = a_body() | {"tool_params": {"path": "a", "x": float("nan")}}
    asked = await caller.ask(
        "POST",
        f"{base(household)}/tools/execute",
        household.secrets[Role.AGENT],
        data=json.dumps(body).encode(),
    )
    listed = await caller.ask(
        "GET", f"{base(household)}/tools/executions", household.secrets[Role.USER]
    )

    assert asked.status == 400
    assert listed.status == 200


async def test_a_result_with_a_number_out_of_range_is_refused(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, household)
    answer = await caller.ask(
        "POST",
        f"{base(household)}/tools/{tool_id}/result",
        household.secrets[Role.CLIENT],
        data=b'{"status":"completed","result":{"a":1e999}}',
    )
    assert answer.status == 400


async def test_a_refusal_by_role_says_which_token_would_do(
    caller: Caller, household: Household
) -> None:
    answer = await caller.ask(
        "POST", f"{base(household)}/tools/execute", household.secrets[Role.CLIENT], json={}
    )
    expected = "a client's token cannot do this; use an agent's or a user's token"
    assert answer.body["detail"] == expected


@pytest.mark.parametrize(
    ("opening", "closing"), [('{"a":', "}"), ("[", "]")], ids=["objects", "lists"]
)
async def test_json_that_is_nested_too_deep_is_refused_and_what_is_wide_is_not(
    caller: Caller, household: Household, opening: str, closing: str
) -> None:
    def body(depth: int) -> bytes:
        nested = opening * depth + "1" + closing * depth
        words = json.dumps(a_body(path="PATH"))
        return words.replace('"PATH"', nested).encode()

    async def send(data: bytes) -> Any:
        return await caller.ask(
            "POST",
            f"{base(household)}/tools/execute",
            household.secrets[Role.AGENT],
            data=data,
            headers={"content-type": "application/json"},
        )

    deep, deeper = await send(body(60)), await send(body(600))
    wide = await execute(
        caller, household, a_body() | {"tool_params": {"path": ["x", ["y"] * 100] * 100}}
    )
    listed = await caller.ask(
        "GET", f"{base(household)}/tools/executions", household.secrets[Role.USER]
    )

    assert deep.problem == deeper.problem == (400, "urn:handrail:bad-input")
    assert (wide.status, wide.body["error_type"]) == (200, "validation")
    assert listed.status == 200


@pytest.mark.parametrize(
    "content",
    [
        pytest.param([[]] * 60_000, id="lists"),
        pytest.param({str(number): 0 for number in range(60_000)}, id="keys"),
    ],
)
async def test_what_is_in_too_many_pieces_is_refused_before_anybody_looks_at_them(
    caller: Caller, household: Household, content: Any
) -> None:
    answer = await execute(caller, household, a_body() | {"tool_params": {"path": content}})
    whole = await execute(caller, household, a_body(path=",[{" * 60_000))

    assert answer.problem == (413, "urn:handrail:too-large")
    assert "more than the 50,000 values" in answer.body["detail"]
    assert whole.status == 200

"""What a person sends: the endpoint of each, its fields, and which code says what."""

from typing import Any

import pytest

from handrail.core.access import Role
from tests.conftest import Household
from tests.journeys.playing import (
    BAD_INPUT,
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    TOO_LARGE,
    UNAUTHENTICATED,
    Play,
)
from tests.server.conftest import Caller, a_body, approve, reject

NOT_JSON = b'{"status": '
YES = {"decision": "approved"}


@pytest.mark.behaviour("endpoint.approve")
async def test_a_yes_is_answered_in_three_fields(
    play: Play, caller: Caller, ada: Household
) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
        answer = await approve(caller, ada, play.approval_id)

    assert (answer.status, answer.media_type) == (200, "application/json")
    assert answer.body == {
        "success": True,
        "approval_id": play.approval_id,
        "status": "approved",
    }
    # Scope defaults to once.
    assert (await play.now())["scope"] == "once"


@pytest.mark.behaviour("endpoint.reject")
@pytest.mark.parametrize("body", [{"reason": "User declined execution"}, {}])
async def test_a_no_is_answered_in_three_fields(
    play: Play, caller: Caller, ada: Household, body: dict[str, str]
) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
        answer = await reject(caller, ada, play.approval_id, **body)

    assert (answer.status, answer.media_type) == (200, "application/json")
    assert answer.body == {
        "success": True,
        "approval_id": play.approval_id,
        "status": "rejected",
    }


@pytest.mark.behaviour("endpoint.approve")
async def test_a_clients_token_decides_for_the_person_who_sits_there(play: Play) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
        path = f"/approvals/{play.approval_id}/approve"
        answer = await play.ask(Role.CLIENT, "POST", path, json=YES)

    assert (answer.status, answer.body["status"]) == (200, "approved")


@pytest.mark.behaviour("endpoint.approve.codes")
@pytest.mark.parametrize(
    "body",
    [
        NOT_JSON,
        b"{}",
        b'{"decision": "rejected"}',
        b'{"decision": "approved", "scope": "forever"}',
        b'{"decision": "approved", "uses": 2}',
        b'{"decision": "approved", "scope": "class", "uses": 0}',
        b'{"decision": "approved", "scope": "class", "expires_in_seconds": 0}',
        b'{"decision": "approved", "more": 1}',
    ],
)
async def test_a_malformed_yes_is_a_400_and_decides_nothing(play: Play, body: bytes) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
    path = f"/approvals/{play.approval_id}/approve"

    assert (await play.ask(Role.USER, "POST", path, data=body)).problem == BAD_INPUT
    assert (await play.now())["status"] == "awaiting_approval"


@pytest.mark.behaviour("endpoint.reject.codes")
@pytest.mark.parametrize("body", [NOT_JSON, b"[]", b'{"reason": 1}', b'{"more": 1}'])
async def test_a_malformed_no_is_a_400_and_decides_nothing(play: Play, body: bytes) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
    path = f"/approvals/{play.approval_id}/reject"

    assert (await play.ask(Role.USER, "POST", path, data=body)).problem == BAD_INPUT
    assert (await play.now())["status"] == "awaiting_approval"


@pytest.mark.behaviour("endpoint.approve.codes")
@pytest.mark.behaviour("endpoint.reject.codes")
@pytest.mark.parametrize(("verb", "body"), [("approve", YES), ("reject", {"reason": "no"})])
async def test_who_may_not_decide_or_comes_second_is_told_so_by_the_code(
    play: Play, stranger: Household, verb: str, body: Any
) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
    path = f"/approvals/{play.approval_id}/{verb}"

    assert (await play.ask(None, "POST", path, json=body)).problem == UNAUTHENTICATED
    assert (await play.ask(Role.AGENT, "POST", path, json=body)).problem == FORBIDDEN
    strange = await play.ask_as_stranger(stranger, Role.USER, "POST", path, json=body)
    assert strange == [NOT_FOUND, NOT_FOUND]
    unknown = await play.ask(Role.USER, "POST", f"/approvals/apr_none/{verb}", json=body)
    assert unknown.problem == NOT_FOUND
    long_words = {"reason": "x" * 20_000} if verb == "reject" else body | {"digest": "x" * 20_000}
    assert (await play.ask(Role.USER, "POST", path, json=long_words)).problem == TOO_LARGE
    if verb == "approve":
        other = await play.ask(Role.USER, "POST", path, json=body | {"digest": "of another card"})
        assert other.problem == CONFLICT
    assert (await play.ask(Role.USER, "POST", path, json=body)).status == 200
    assert (await play.ask(Role.USER, "POST", path, json=body)).status == 200
    other_verb = {"approve": "reject", "reject": "approve"}[verb]
    other_body = {} if verb == "approve" else {"decision": "approved"}
    elsewhere = f"/approvals/{play.approval_id}/{other_verb}"
    assert (await play.ask(Role.USER, "POST", elsewhere, json=other_body)).problem == CONFLICT


@pytest.mark.behaviour("endpoint.cancel")
async def test_a_cancelled_call_is_answered_as_it_ended_and_codes_say_why_not(
    play: Play, stranger: Household
) -> None:
    async with play.machine():
        await play.be_completed("call-1")
        ended = f"/tools/{play.tool_id}/cancel"
        await play.be_awaiting_approval("call-2")
    path = f"/tools/{play.tool_id}/cancel"

    assert (await play.ask(None, "POST", path)).problem == UNAUTHENTICATED
    assert (await play.ask(Role.AGENT, "POST", path)).problem == FORBIDDEN
    assert (await play.ask(Role.USER, "POST", path, json={"x": 1})).problem == BAD_INPUT
    strange = await play.ask_as_stranger(stranger, Role.USER, "POST", path)
    assert strange == [NOT_FOUND, NOT_FOUND]
    assert (await play.ask(Role.USER, "POST", ended)).problem == CONFLICT
    answer = await play.ask(Role.USER, "POST", path, json={"reason": "not now"})
    assert (answer.status, answer.body) == (200, await play.now())
    assert (answer.body["status"], answer.body["error_type"]) == ("failed", "cancelled")


@pytest.mark.behaviour("endpoint.stop")
async def test_a_stopped_session_is_answered_in_four_fields_and_lets_nothing_in(
    play: Play, stranger: Household
) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
        path = "/chat/sessions/session-1/stop"
        assert (await play.ask(None, "POST", path)).problem == UNAUTHENTICATED
        assert (await play.ask(Role.AGENT, "POST", path)).problem == FORBIDDEN
        assert (await play.ask(Role.USER, "POST", path, json={"x": 1})).problem == BAD_INPUT
        strange = await play.ask_as_stranger(stranger, Role.USER, "POST", path)
        assert strange == [NOT_FOUND, NOT_FOUND]
        answer = await play.ask(Role.USER, "POST", path)
        later = await play.ask(Role.AGENT, "POST", "/tools/execute", json=a_body("call-2"))

    assert set(answer.body) == {"success", "session_id", "stopped_at", "calls_ended"}
    assert (answer.status, answer.body["session_id"]) == (200, "session-1")
    assert answer.body["calls_ended"] == 1
    assert later.problem == CONFLICT


@pytest.mark.behaviour("endpoint.grants")
async def test_a_grant_is_listed_in_eleven_fields_and_taken_back(
    play: Play, caller: Caller, ada: Household, stranger: Household
) -> None:
    async with play.machine():
        await play.be_awaiting_approval()
        asked = play.approval_id
        limits: dict[str, Any] = {"uses": 3, "expires_in_seconds": 60}
        await approve(caller, ada, asked, scope="class", **limits)
        (grant,) = (await play.ask(Role.USER, "GET", "/grants")).body["grants"]
        path = f"/grants/{grant['grant_id']}"
        assert (await play.ask(None, "DELETE", path)).problem == UNAUTHENTICATED
        assert (await play.ask(Role.AGENT, "DELETE", path)).problem == FORBIDDEN
        strange = await play.ask_as_stranger(stranger, Role.USER, "DELETE", path)
        assert strange == [NOT_FOUND, NOT_FOUND]
        revoked = await play.ask(Role.USER, "DELETE", path)
        await play.be_awaiting_approval("call-2")

    assert set(grant) == {
        "grant_id", "session_id", "scope", "agent_id", "agent_name", "idle", "last_call_at",
        "words", "max_risk", "uses_left", "expires_at", "approval_id", "granted_by", "created_at",
        "revoked_at",
    }  # fmt: skip
    assert (grant["scope"], grant["uses_left"], grant["revoked_at"]) == ("class", 3, None)
    assert (grant["approval_id"], grant["session_id"]) == (asked, "session-1")
    assert revoked.body | {"revoked_at": None} == grant
    assert (await play.ask(Role.USER, "GET", "/grants")).body["grants"] == []

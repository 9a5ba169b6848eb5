"""What a machine sends: the endpoint of each, its fields, and which code says what."""

import pytest

from handrail.core.access import Role
from tests.conftest import Household
from tests.journeys.playing import (
    BAD_INPUT,
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    UNAUTHENTICATED,
    Play,
)
from tests.server.conftest import a_result

NOT_JSON = b'{"status": '
FAILURE = {"status": "failed", "error": "Command not found: npm"}


@pytest.mark.behaviour("endpoint.result")
async def test_a_completed_result_is_received_in_four_fields(play: Play) -> None:
    result = {"success": True, "stdout": "test output...", "stderr": None, "exit_code": 0}
    async with play.machine():
        await play.be_executing()
        answers = [await play.report({"status": "completed", "result": result}) for _ in "12"]

    assert [answer.status for answer in answers] == [200, 200]
    # The same result twice is one result.
    assert answers[0].body == answers[1].body
    assert answers[0].body == {
        "success": True,
        "tool_id": play.tool_id,
        "status": "completed",
        "message": "Tool result processed",
    }
    assert (await play.now())["result"] == result


@pytest.mark.behaviour("endpoint.result")
async def test_a_failed_result_is_received_and_the_agent_reads_its_error(play: Play) -> None:
    async with play.machine():
        await play.be_executing()
        answer = await play.report(FAILURE | {"execution_time_ms": 12})

    assert (answer.status, answer.body["success"]) == (200, True)
    assert answer.body["status"] == "failed"
    read = (await play.ask(Role.AGENT, "GET", f"/tools/{play.tool_id}")).body
    assert (read["error"], read["error_type"]) == ("Command not found: npm", "execution")
    assert read["execution_time_ms"] == 12


@pytest.mark.behaviour("endpoint.result.codes")
@pytest.mark.parametrize(
    "body",
    [
        NOT_JSON,
        b"[]",
        b"{}",
        b'{"status": "completed"}',
        b'{"status": "failed"}',
        b'{"status": "done", "result": {}}',
        b'{"status": "completed", "result": "text"}',
        b'{"status": "completed", "result": {}, "more": 1}',
        b'{"status": "failed", "error": "x", "error_type": "bad luck"}',
        b'{"status": "failed", "error": "x", "execution_time_ms": -1}',
    ],
)
async def test_a_malformed_result_is_a_400_and_changes_nothing(play: Play, body: bytes) -> None:
    async with play.machine():
        await play.be_executing()
        answer = await play.ask(Role.CLIENT, "POST", f"/tools/{play.tool_id}/result", data=body)

    assert answer.problem == BAD_INPUT
    assert (await play.now())["status"] == "executing"


@pytest.mark.behaviour("endpoint.result.codes")
async def test_who_may_not_report_or_comes_too_late_is_told_so_by_the_code(
    play: Play, stranger: Household
) -> None:
    async with play.machine():
        await play.be_executing()
        path = f"/tools/{play.tool_id}/result"
        assert (await play.report(a_result(), None)).problem == UNAUTHENTICATED
        for role in (Role.AGENT, Role.USER):
            assert (await play.report(a_result(), role)).problem == FORBIDDEN
        strange = await play.ask_as_stranger(stranger, Role.CLIENT, "POST", path, json=a_result())
        assert strange == [NOT_FOUND, NOT_FOUND]
        unknown = await play.ask(Role.CLIENT, "POST", "/tools/exe_none/result", json=a_result())
        assert unknown.problem == NOT_FOUND
        older = await play.report(a_result(epoch=0))
        assert older.problem == CONFLICT
        assert (await play.report(a_result())).status == 200
        assert (await play.report(a_result("something else"))).problem == CONFLICT


@pytest.mark.behaviour("endpoint.claim")
async def test_a_claim_is_answered_in_four_fields_and_codes_say_why_not(
    play: Play, stranger: Household
) -> None:
    async with play.machine():
        await play.be_approved()
        path, body = f"/tools/{play.tool_id}/claim", {"epoch": 1, "key": "k"}
        assert (await play.ask(None, "POST", path, json=body)).problem == UNAUTHENTICATED
        assert (await play.ask(Role.USER, "POST", path, json=body)).problem == FORBIDDEN
        assert (await play.ask(Role.CLIENT, "POST", path, json={})).problem == BAD_INPUT
        strange = await play.ask_as_stranger(stranger, Role.CLIENT, "POST", path, json=body)
        assert strange == [NOT_FOUND, NOT_FOUND]
        assert (await play.claim(epoch=2)).problem == CONFLICT
        claimed = await play.claim()

    assert claimed.status == 200
    assert claimed.body == {
        "success": True,
        "tool_id": play.tool_id,
        "status": "executing",
        "epoch": 1,
    }


@pytest.mark.behaviour("endpoint.results")
async def test_several_results_are_received_one_by_one(play: Play) -> None:
    async with play.machine():
        await play.be_executing()
        mine = a_result(tool_id=play.tool_id)
        body = {"results": [mine, a_result(tool_id="exe_none")]}
        strange = await play.ask(Role.USER, "POST", "/tools/results", json=body)
        unreadable = await play.ask(Role.CLIENT, "POST", "/tools/results", json={"results": []})
        answer = await play.ask(Role.CLIENT, "POST", "/tools/results", json=body)

    assert (strange.problem, unreadable.problem) == (FORBIDDEN, BAD_INPUT)
    assert answer.status == 200
    assert set(answer.body) == {"results"}
    assert [set(one) for one in answer.body["results"]] == [
        {"success", "tool_id", "status", "message"}
    ] * 2
    told = [(one["success"], one["status"]) for one in answer.body["results"]]
    assert told == [(True, "completed"), (False, "rejected")]


@pytest.mark.behaviour("endpoint.facts")
async def test_what_a_machine_has_seen_is_received_in_three_fields(
    play: Play, stranger: Household
) -> None:
    async with play.machine():
        await play.be_pending()
        path, body = f"/approvals/{play.approval_id}/facts", {"facts": {}, "evidence": "+hello"}
        answer = await play.ask(Role.CLIENT, "POST", path, json=body)
        late = await play.ask(Role.CLIENT, "POST", path, json=body)
        unreadable = await play.ask(Role.CLIENT, "POST", path, json={})
        persons = await play.ask(Role.USER, "POST", path, json=body)
        nobodys = await play.ask(None, "POST", path, json=body)
        strange = await play.ask_as_stranger(stranger, Role.CLIENT, "POST", path, json=body)

    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "approval_id": play.approval_id,
        "status": "awaiting_approval",
    }
    assert (late.problem, unreadable.problem) == (CONFLICT, BAD_INPUT)
    assert (persons.problem, nobodys.problem) == (FORBIDDEN, UNAUTHENTICATED)
    assert strange == [NOT_FOUND, NOT_FOUND]
    asked = await play.ask(Role.USER, "GET", f"/approvals/{play.approval_id}")
    assert asked.body["evidence"] == "+hello"

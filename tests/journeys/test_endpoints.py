"""What agents ask, and what everyone reads: each endpoint, its fields, and its codes."""

from typing import Any

import pytest

from handrail.core.access import Role
from tests.conftest import Household
from tests.journeys.conftest import Rig
from tests.journeys.playing import (
    BAD_INPUT,
    FORBIDDEN,
    NOT_FOUND,
    OTHER_WORDS,
    TOO_LARGE,
    UNAUTHENTICATED,
    Play,
)
from tests.server.conftest import Answer, Caller, a_body, base

# Whether a person is asked, the risk, and the seconds they have.
THE_FIRST_FOUR = {
    "read_file": (False, "LOW", 0),
    "list_directory": (False, "LOW", 0),
    "write_file": (True, "MEDIUM", 300),
    "execute_command": (True, "MEDIUM", 300),
}
EXECUTION = {
    "tool_id", "tool_name", "status", "result", "error", "error_type", "approval_id",
    "tool_params", "risk_level", "reasons", "requires_approval", "approved_by", "scope",
    "session_id", "call_id", "agent_id", "agent_name", "reasoning", "exit_code",
    "execution_time_ms", "late_result", "origins", "suspicion", "created_at", "approved_at",
    "started_at", "completed_at", "result_removed_at", "can_undo", "why_not_undo", "undone_at",
    "undone_by", "revised_by", "revised_at", "revision",
}  # fmt: skip


# GET /tools/available


@pytest.mark.behaviour("endpoint.available")
async def test_the_tools_are_listed_in_six_fields_each(play: Play) -> None:
    for role in Role:
        answer = await play.ask(role, "GET", "/tools/available")
        assert answer.status == 200
        assert set(answer.body) == {"success", "tools", "total_count"}
        assert answer.body["success"] is True
        assert answer.body["total_count"] == len(answer.body["tools"])
        told = {
            tool.pop("name"): (
                tool.pop("requires_approval"),
                tool.pop("risk_level"),
                tool.pop("timeout_seconds"),
            )
            for tool in answer.body["tools"]
        }
        assert told.items() >= THE_FIRST_FOUR.items()
        for rest in answer.body["tools"]:
            assert set(rest) == {"description", "parameters"}
            assert rest["description"]
            assert rest["parameters"]["type"] == "object"


@pytest.mark.behaviour("endpoint.available.codes")
@pytest.mark.behaviour("endpoint.stream.codes")
@pytest.mark.parametrize("path", ["/tools/available", "/chat/stream"])
async def test_who_is_unknown_or_of_another_project_is_shown_nothing(
    play: Play, caller: Caller, ada: Household, stranger: Household, path: str
) -> None:
    assert (await play.ask(None, "GET", path)).problem == UNAUTHENTICATED
    bad = await caller.ask("GET", base(ada) + path, "hr_user_of-nobody")
    assert bad.problem == UNAUTHENTICATED
    other = await caller.ask("GET", base(ada) + path, stranger.secrets[Role.USER])
    assert other.problem == NOT_FOUND


# GET /chat/stream


@pytest.mark.behaviour("endpoint.stream")
@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
async def test_the_stream_is_server_sent_events_and_goes_on_after_the_last_one_heard(
    play: Play, caller: Caller, ada: Household, role: Role
) -> None:
    opened = await play.ask(role, "GET", "/chat/stream")
    for number in range(4):
        await play.be_pending(f"call-{number}", path=".env")
    async with caller.listen(ada, ada.secrets[role], last_event_id=2) as stream:
        heard = [await stream.event() for _ in range(2)]

    assert (opened.status, opened.media_type) == (200, "text/event-stream")
    assert [number for number, _, _ in heard] == [3, 4]
    assert heard[-1][2]["tool_id"] == play.tool_id


@pytest.mark.behaviour("endpoint.stream.codes")
async def test_no_agent_listens_and_a_number_that_is_none_is_a_400(play: Play) -> None:
    assert (await play.ask(Role.AGENT, "GET", "/chat/stream")).problem == FORBIDDEN
    for number in ("x", "-1", "1.5", "9" * 19):
        headers = {"last-event-id": number}
        answer = await play.ask(Role.USER, "GET", "/chat/stream", headers=headers)
        assert answer.problem == BAD_INPUT


# POST /tools/execute


@pytest.mark.behaviour("endpoint.execute")
async def test_a_call_is_answered_at_once_or_at_its_end_with_all_of_it(standing: Rig) -> None:
    (standing.workspace / "answered.txt").write_text("hello\n")

    asked = await standing.call("read_file", {"path": "answered.txt"}, "call-1", session_id="all")
    again = await standing.call("read_file", {"path": "answered.txt"}, "call-1", session_id="all")

    assert set(asked) == EXECUTION
    assert asked == again
    assert asked["tool_id"].startswith("exe_")
    assert (asked["tool_name"], asked["status"]) == ("read_file", "completed")
    assert (asked["error"], asked["error_type"], asked["approval_id"]) == (None, None, None)
    assert asked["result"]["output"] == "hello\n"


@pytest.mark.behaviour("endpoint.execute.codes")
async def test_a_call_that_is_not_taken_says_why_by_its_code(
    play: Play, stranger: Household
) -> None:
    async def ask(body: Any, who: Role | None = Role.AGENT) -> Answer:
        return await play.ask(who, "POST", "/tools/execute", json=body)

    assert (await ask(a_body())).status == 200
    assert (await ask(a_body(path="other.md"))).problem == OTHER_WORDS
    assert (await ask(a_body(), None)).problem == UNAUTHENTICATED
    assert (await ask(a_body(), Role.CLIENT)).problem == FORBIDDEN
    strange = await play.ask_as_stranger(stranger, Role.AGENT, "POST", "/tools/execute", json={})
    # Nobody's words are looked at before they are let in.
    assert strange == [NOT_FOUND, BAD_INPUT]
    for wrong in ({}, a_body(wait=-1), a_body(session_id=".."), a_body(call_id=""), a_body(x=1)):
        assert (await ask(wrong)).problem == BAD_INPUT
    big = a_body("big", reasoning="because") | {"tool_params": {"path": "x" * 1_020_000}}
    assert (await ask(big)).problem == TOO_LARGE


# What else there is to read


@pytest.mark.behaviour("endpoint.lists")
@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/tools/executions", {"success", "executions", "total_count"}),
        ("/approvals", {"success", "approvals", "total_count", "now"}),
        ("/approvals?status=pending", {"success", "approvals", "total_count", "now"}),
        ("/approvals?status=approved", {"success", "approvals", "total_count", "now"}),
        ("/approvals?status=rejected", {"success", "approvals", "total_count", "now"}),
        ("/approvals?status=expired", {"success", "approvals", "total_count", "now"}),
        ("/grants", {"success", "grants", "total_count"}),
        ("/clients", {"success", "clients", "total_count"}),
        ("/audit", {"success", "entries"}),
        ("/policy", {"success", "layers", "effective"}),
    ],
)
async def test_a_person_reads_what_there_is(play: Play, path: str, fields: set[str]) -> None:
    answer = await play.ask(Role.USER, "GET", path)
    wrong = await play.ask(None, "GET", path)

    assert answer.status == 200
    assert set(answer.body) == fields
    assert wrong.problem == UNAUTHENTICATED


@pytest.mark.behaviour("endpoint.lists")
async def test_an_operator_reads_how_the_server_is(caller: Caller) -> None:
    health = await caller.ask("GET", "/health")
    metrics = await caller.ask("GET", "/metrics")

    assert set(health.body) == {
        "status", "problem", "version", "wire_version", "connected_clients", "channels",
    }  # fmt: skip
    assert (health.body["status"], metrics.status) == ("ok", 200)
    # The client in its own process.
    assert health.body["connected_clients"] >= 1

"""Who may come in, where, and for what."""

import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.core.change import Add, Change
from handrail.core.ids import ProjectId
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    a_body,
    a_result,
    add_machine,
    add_token,
    ask_to_read,
    base,
)

# Every route of the API and who may use it: user, client, agent, approver.
ROUTES: dict[str, tuple[int, int, int, int]] = {
    "GET /tools/available": (200, 200, 200, 200),
    "GET /tools/executions": (200, 200, 200, 200),
    "GET /activity": (200, 200, 403, 200),
    "GET /activity/export": (200, 200, 403, 200),
    "GET /activity/{tool_id}": (200, 200, 403, 200),
    "GET /tools/{tool_id}": (200, 200, 200, 200),
    "POST /tools/execute": (200, 403, 200, 403),
    "POST /tools/{tool_id}/claim": (403, 200, 403, 403),
    "POST /tools/{tool_id}/ask-again": (403, 409, 403, 403),
    "POST /tools/{tool_id}/result": (403, 200, 403, 403),
    "POST /tools/results": (403, 200, 403, 403),
    "GET /chat/stream": (200, 200, 403, 200),
    "POST /tools/{tool_id}/cancel": (409, 409, 403, 409),
    "GET /undo": (200, 200, 403, 200),
    "POST /tools/{tool_id}/undo": (409, 409, 403, 409),
    "POST /tools/undone": (403, 409, 403, 403),
    "POST /chat/sessions/{session_id}/undo": (404, 404, 403, 404),
    "POST /chat/sessions/{session_id}/stop": (404, 404, 403, 404),
    "POST /console/links": (200, 403, 403, 403),
    "GET /console/links/{sha256}": (404, 403, 403, 403),
    "GET /analytics": (200, 200, 403, 403),
    "GET /budget": (200, 200, 403, 403),
    "GET /config": (200, 200, 403, 403),
    "GET /self": (200, 200, 403, 403),
    "GET /chat/taints": (200, 200, 403, 403),
    "POST /chat/sessions/{session_id}/trust": (404, 404, 403, 403),
    "POST /chat/messages": (409, 409, 403, 403),
    "GET /chat/messages": (400, 400, 403, 403),
    "GET /chat/sessions": (200, 200, 403, 403),
    "POST /chat/runs/{run_id}/stop": (404, 404, 403, 403),
    "GET /approvals": (200, 200, 403, 200),
    # There is no such thing, or nothing left to end, which only those are told who may ask.
    "GET /approvals/{approval_id}": (404, 404, 403, 404),
    "GET /approvals/{approval_id}/unmasked": (404, 404, 403, 404),
    "GET /approvals/{approval_id}/editable": (404, 404, 403, 403),
    "POST /approvals/{approval_id}/revise": (404, 404, 403, 403),
    "POST /approvals/{approval_id}/approve": (404, 404, 403, 404),
    "POST /approvals/{approval_id}/reject": (404, 404, 403, 404),
    "POST /approvals/{approval_id}/facts": (403, 404, 403, 403),
    "GET /memory": (200, 200, 403, 403),
    "DELETE /memory/{key}": (404, 404, 403, 403),
    "GET /skills": (200, 200, 403, 403),
    "GET /skills/{name}": (404, 404, 403, 403),
    "GET /grants": (200, 200, 403, 403),
    "DELETE /grants/{grant_id}": (404, 404, 403, 403),
    "GET /clients": (200, 200, 403, 403),
    "POST /clients/heartbeat": (403, 200, 403, 403),
    "GET /drafts": (200, 200, 403, 403),
    "PUT /drafts": (403, 409, 403, 403),
    "GET /audit": (200, 200, 403, 403),
    "GET /policy": (200, 200, 403, 403),
    "PUT /policy": (403, 200, 403, 403),
    "GET /autonomy": (200, 200, 403, 403),
    "PUT /autonomy": (200, 403, 403, 403),
    "POST /policy/explain": (200, 200, 403, 403),
    "POST /tools/batch": (200, 403, 200, 403),
    # It would be too small to be one.
    "PUT /blobs/{sha256}": (400, 400, 400, 403),
    "GET /blobs/{sha256}": (404, 404, 404, 403),
}
# They belong to no project; tests of their own say who may.
OF_THE_SERVER = {
    "GET /health",
    "GET /metrics",
    "GET /console/session",
    "POST /console/session",
    "POST /console/session/end",
    "DELETE /console/session",
    "GET /console/approvals/{approval_id}",
}
A_CALL = {"tool_name": "read_file", "tool_params": {"path": "README.md"}, "call_id": "call-1"}
BLOB = b"bytes"
SHA256 = hashlib.sha256(BLOB).hexdigest()
ROLES = (Role.USER, Role.CLIENT, Role.AGENT, Role.APPROVER)


async def use(
    caller: Caller, home: Household, route: str, token: str | None, tool_id: str = "exe_none"
) -> Answer:
    """A good request to a route."""
    method, _, path = route.partition(" ")
    bodies: dict[str, Any] = {
        "/tools/execute": a_body(),
        "/tools/{tool_id}/claim": {"epoch": 1, "key": "this-life"},
        "/tools/{tool_id}/ask-again": {"epoch": 1, "facts": {}},
        "/tools/{tool_id}/result": a_result(),
        "/approvals/{approval_id}/approve": {"decision": "approved"},
        "/approvals/{approval_id}/reject": {"reason": "not now"},
        "/approvals/{approval_id}/revise": {"tool_params": {"content": "x"}, "digest": "none"},
        "/approvals/{approval_id}/facts": {"facts": {}},
        "/tools/{tool_id}/cancel": {"reason": "not now"},
        "/tools/{tool_id}/undo": {},
        "/chat/sessions/{session_id}/undo": {},
        "/tools/undone": {"calls": [{"tool_id": tool_id, "status": "undone"}]},
        "/chat/sessions/{session_id}/stop": {},
        "/chat/sessions/{session_id}/trust": {},
        "/chat/messages": {"text": "Hello?"},
        "/clients/heartbeat": {},
        "/chat/runs/{run_id}/stop": {},
        "/tools/results": {"results": [a_result(tool_id=tool_id)]},
        "/tools/batch": {"session_id": "session-1", "calls": [A_CALL]},
        "/policy": {"text": ""},
        "/drafts": {"drafts": []},
        "/autonomy": {"autonomy": "supervised"},
        "/console/links": {},
        "/policy/explain": {"tool_name": "read_file", "tool_params": {"path": "README.md"}},
    }
    options: dict[str, Any] = {}
    if method in {"POST", "PUT"}:
        options = {"data": BLOB} if path == "/blobs/{sha256}" else {"json": bodies[path]}
    address = base(home) + path.replace("{tool_id}", tool_id).replace("{sha256}", SHA256)
    return await caller.ask(method, address, token, **options)


async def use_all(caller: Caller, home: Household, token: str | None) -> dict[str, tuple[int, str]]:
    return {route: (await use(caller, home, route, token)).problem for route in ROUTES}


async def test_each_role_may_do_its_own_work_and_no_other(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, household)

    answers: dict[str, tuple[int, ...]] = {}
    for route in ROUTES:
        told = [
            await use(caller, household, route, household.secrets[role], tool_id) for role in ROLES
        ]
        answers[route] = tuple(answer.status for answer in told)
        forbidden = [answer.problem for answer in told if answer.status == 403]
        assert set(forbidden) <= {(403, "urn:handrail:forbidden")}

    assert answers == ROUTES


async def test_the_table_of_roles_names_every_route_of_the_api(caller: Caller) -> None:
    described = {
        f"{method.upper()} {path.removeprefix('/my/projects/{project_id}')}"
        for path, operations in caller.document["paths"].items()
        for method in operations
    }

    assert described - OF_THE_SERVER == set(ROUTES)


async def test_the_description_names_the_roles_that_are_let_in(caller: Caller) -> None:
    for route, answers in ROUTES.items():
        method, _, path = route.partition(" ")
        operation = caller.document["paths"]["/my/projects/{project_id}" + path][method.lower()]
        named = {role for choice in operation["security"] for role in choice["token"]}
        assert named == {role for role, status in zip(ROLES, answers, strict=True) if status != 403}


@pytest.mark.behaviour("input.tokens")
async def test_without_a_good_token_nothing_is_open(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    at = clock.now()
    tokens = {
        "none": None,
        "unknown": "hr_user_" + "x" * 43,
        "empty": "",
        "revoked": await add_token(store, household, revoked_at=at),
        "expired": await add_token(store, household, expires_at=at),
        "a hash of one": "0" * 64,
    }

    for token in tokens.values():
        assert await use_all(caller, household, token) == dict.fromkeys(
            ROUTES, (401, "urn:handrail:unauthenticated")
        )


async def test_a_malformed_token_is_no_token(caller: Caller, household: Household) -> None:
    secret, path = household.secrets[Role.USER], f"{base(household)}/tools/available"
    headers = ["", "Bearer", "Bearer ", secret, f"Bearer{secret}", f"Bearer {secret}x"]
    headers += [f"{scheme} {secret}" for scheme in ("Basic", "Token", "Bearer Bearer")]

    for header in headers:
        answer = await caller.ask("GET", path, headers={"authorization": header})
        assert answer.problem == (401, "urn:handrail:unauthenticated")
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_the_scheme_may_be_written_large_or_small(
    caller: Caller, household: Household
) -> None:
    secret, path = household.secrets[Role.USER], f"{base(household)}/tools/available"

    for scheme in ("Bearer", "bearer", "BEARER"):
        answer = await caller.ask("GET", path, headers={"authorization": f"{scheme} {secret}"})
        assert answer.status == 200


async def test_a_token_is_good_until_the_moment_it_expires(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    expires_at = clock.now() + timedelta(seconds=60)
    token = await add_token(store, household, expires_at=expires_at)
    path = f"{base(household)}/tools/available"

    clock.advance(59)
    before = await caller.ask("GET", path, token)
    clock.advance(1)
    after = await caller.ask("GET", path, token)

    assert (before.status, after.status) == (200, 401)


async def test_a_token_in_the_address_is_no_token(caller: Caller, household: Household) -> None:
    secret = household.secrets[Role.USER]

    for name in ("token", "access_token", "authorization"):
        answer = await caller.ask("GET", f"{base(household)}/audit?{name}={secret}")
        assert answer.status == 401


@pytest.mark.behaviour("input.tokens")
async def test_somebody_elses_project_looks_like_none_at_all(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    nowhere = replace(
        household, project=replace(household.project, id=ProjectId("prj_" + "0" * 32))
    )

    for role in ROLES:
        token = neighbour.secrets[role]
        foreign = await use_all(caller, household, token)
        assert foreign == dict.fromkeys(ROUTES, (404, "urn:handrail:not-found"))
        assert await use_all(caller, nowhere, token) == foreign
        theirs = await use(caller, household, "GET /audit", token)
        none = await use(caller, nowhere, "GET /audit", token)
        assert theirs.body["detail"].replace(household.project.id, "…") == none.body[
            "detail"
        ].replace(nowhere.project.id, "…")


async def test_a_bound_token_opens_no_other_project_of_the_same_person(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    second = replace(household.project, id=ProjectId("prj_second"), name="second")
    await store.submit(Change(second.id, second.created_at, (Add(second),)))
    path = "/my/projects/prj_second/tools/available"

    answers = {
        role: (await caller.ask("GET", path, household.secrets[role])).status for role in ROLES
    }

    assert answers == dict.fromkeys(ROLES, 404) | {Role.USER: 200}


async def test_an_agent_sees_only_its_own_calls(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    tool_id = await ask_to_read(caller, household)
    stranger = await add_token(store, household, subject="agt_stranger")
    listing, one = f"{base(household)}/tools/executions", f"{base(household)}/tools/{tool_id}"

    async def seen(token: str) -> tuple[list[str], int]:
        listed = await caller.ask("GET", listing, token)
        found = await caller.ask("GET", one, token)
        return [call["tool_id"] for call in listed.body["executions"]], found.status

    assert await seen(stranger) == ([], 404)
    for role in ROLES:
        assert await seen(household.secrets[role]) == ([tool_id], 200)


async def test_an_agent_cannot_ask_in_another_agents_session(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    await ask_to_read(caller, household)
    stranger = await add_token(store, household, subject="agt_stranger")

    answer = await caller.ask(
        "POST", f"{base(household)}/tools/execute", stranger, json=a_body("call-2")
    )

    assert answer.problem == (403, "urn:handrail:forbidden")


async def test_a_client_cannot_report_for_another(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, other = await add_machine(store, household)
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        tool_id = await ask_to_read(caller, household)

        answer = await caller.ask(
            "POST", f"{base(household)}/tools/{tool_id}/result", other, json=a_result()
        )

    assert answer.problem == (409, "urn:handrail:conflict")

"""An approver answers the questions of one project in their own name, and does nothing else."""

from dataclasses import dataclass
from datetime import timedelta

import pytest

from handrail.core.access import Role, Token, hash_secret
from handrail.core.change import Change, RevokeToken
from handrail.server.console.cookie import HEADER
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    add_token,
    approve,
    ask_to_write,
    ask_with_a_look,
    base,
    reject,
    show,
)

FORBIDDEN = (403, "urn:handrail:forbidden")
NOT_FOUND = (404, "urn:handrail:not-found")
UNAUTHENTICATED = (401, "urn:handrail:unauthenticated")


@dataclass(frozen=True)
class Ana:
    """An approver of the household's project."""

    secret: str
    token: Token


async def add_ana(store: SqliteStore, home: Household, clock: FakeClock) -> Ana:
    secret = await add_token(
        store,
        home,
        role=Role.APPROVER,
        subject="apv_ana",
        name="Ana",
        workspace_id=None,
        expires_at=clock.now() + timedelta(days=7),
    )
    token = await store.find_token(hash_secret(secret))
    assert token is not None
    return Ana(secret, token)


@pytest.fixture
async def ana(store: SqliteStore, household: Household, clock: FakeClock) -> Ana:
    return await add_ana(store, household, clock)


async def link_for_ana(caller: Caller, home: Household) -> Answer:
    path = f"{base(home)}/console/links"
    return await caller.ask("POST", path, home.secrets[Role.USER], json={"approver": "Ana"})


async def sign_in(caller: Caller, link: Answer) -> Answer:
    return await caller.ask("POST", "/console/session", json={"link": link.body["link"]})


async def sign_ana_in(caller: Caller, home: Household) -> dict[str, str]:
    """The headers of a browser that Ana has signed in with."""
    answer = await sign_in(caller, await link_for_ana(caller, home))
    cookie = answer.headers["set-cookie"].partition(";")[0]
    caller.session.cookie_jar.clear()
    return {"cookie": cookie, HEADER: answer.body["page_key"]}


async def revoke_all(store: SqliteStore, home: Household, ana: Ana) -> None:
    step = RevokeToken(ana.token, all_of_subject=True)
    await store.submit(Change(home.project.id, home.project.created_at, (step,)))


@pytest.mark.behaviour("approver.answers")
async def test_answers_and_stops_are_recorded_under_the_approvers_name(
    caller: Caller, store: SqliteStore, household: Household, ana: Ana
) -> None:
    first = await ask_with_a_look(caller, household, "call-1")
    second = await ask_with_a_look(caller, household, "call-2")
    third = await ask_with_a_look(caller, household, "call-3", session_id="third")

    yes = await approve(caller, household, first["approval_id"], token=ana.secret)
    no = await reject(caller, household, second["approval_id"], token=ana.secret, reason="later")
    stop = f"{base(household)}/chat/sessions/third/stop"
    stopped = await caller.ask("POST", stop, ana.secret, json={})

    assert (yes.status, no.status, stopped.status) == (200, 200, 200)
    for asked in (first, second, third):
        assert (await show(caller, household, f"/approvals/{asked['approval_id']}"))[
            "decided_by"
        ] == "Ana"
    call = await show(caller, household, f"/tools/{first['tool_id']}")
    assert (call["approved_by"], call["scope"]) == ("Ana", "once")
    refused = await show(caller, household, f"/tools/{second['tool_id']}")
    assert refused["error"] == "Ana refused this call: later"
    lines = await store.read_audit(household.project.id, after=0, limit=99)
    by_ana = {line.action: line.details for line in lines if line.actor == "apv_ana"}
    assert {"approval.approved", "approval.rejected", "session.stopped"} <= set(by_ana)
    assert '"by":"Ana"' in by_ana["approval.approved"].replace(" ", "")


@pytest.mark.behaviour("approver.answers")
@pytest.mark.parametrize("scope", ["class", "project", "session"])
async def test_an_approver_approves_one_call_at_a_time(
    caller: Caller, household: Household, ana: Ana, scope: str
) -> None:
    asked = await ask_with_a_look(caller, household)

    answer = await approve(caller, household, asked["approval_id"], token=ana.secret, scope=scope)

    assert answer.problem == FORBIDDEN
    assert "approves one call at a time" in answer.body["detail"]
    assert (await show(caller, household, "/grants"))["grants"] == []
    assert (await show(caller, household, f"/tools/{asked['tool_id']}"))["status"] == (
        "awaiting_approval"
    )


async def test_a_browser_of_an_approver_shows_one_project_and_answers_there(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock, ana: Ana
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    theirs = await ask_to_write(caller, neighbour)
    asked = await ask_with_a_look(caller, household)
    browser = await sign_ana_in(caller, household)

    session = await caller.ask("GET", "/console/session", headers=browser)
    path = f"{base(household)}/approvals/{asked['approval_id']}/approve"
    yes = await caller.ask("POST", path, headers=browser, json={"decision": "approved"})
    found = await caller.ask("GET", f"/console/approvals/{asked['approval_id']}", headers=browser)
    hidden = await caller.ask("GET", f"/console/approvals/{theirs['approval_id']}", headers=browser)
    policy = await caller.ask("GET", f"{base(household)}/policy", headers=browser)

    told = session.body
    assert (told["role"], told["name"], told["user_id"]) == ("approver", "Ana", "apv_ana")
    assert [one["project_id"] for one in told["projects"]] == [household.project.id]
    assert (yes.status, found.body["project_id"]) == (200, household.project.id)
    assert (hidden.problem, policy.problem) == (NOT_FOUND, FORBIDDEN)
    call = await show(caller, household, f"/tools/{asked['tool_id']}")
    assert call["approved_by"] == "Ana"


async def test_signing_out_ends_one_browser_of_an_approver_and_nothing_else(
    caller: Caller, household: Household, ana: Ana
) -> None:
    first, second = [await sign_ana_in(caller, household) for _ in range(2)]

    bearer = await caller.ask("DELETE", "/console/session", ana.secret)
    out = await caller.ask("DELETE", "/console/session", headers=first)

    assert (bearer.problem, out.status) == (FORBIDDEN, 200)
    for headers, status in ((first, 401), (second, 200)):
        assert (await caller.ask("GET", "/console/session", headers=headers)).status == status
    assert (await caller.ask("GET", f"{base(household)}/approvals", ana.secret)).status == 200


@pytest.mark.behaviour("approver.revoked")
async def test_a_revoked_approver_is_refused_in_every_browser_and_by_every_link(
    caller: Caller, store: SqliteStore, household: Household, ana: Ana
) -> None:
    asked = await ask_with_a_look(caller, household)
    browser = await sign_ana_in(caller, household)
    unused = await link_for_ana(caller, household)

    await revoke_all(store, household, ana)

    path = f"{base(household)}/approvals/{asked['approval_id']}/approve"
    yes = {"decision": "approved"}
    assert (await caller.ask("POST", path, ana.secret, json=yes)).problem == UNAUTHENTICATED
    assert (await caller.ask("POST", path, headers=browser, json=yes)).problem == UNAUTHENTICATED
    assert (await sign_in(caller, unused)).problem == UNAUTHENTICATED
    assert (await link_for_ana(caller, household)).problem == NOT_FOUND
    live = [
        one
        for one in await store.list_tokens(household.user.user_id)
        if one.subject == "apv_ana" and one.revoked_at is None
    ]
    assert live == []


async def test_a_browser_is_signed_in_no_longer_than_the_approvers_token_lasts(
    caller: Caller, household: Household, clock: FakeClock, ana: Ana
) -> None:
    browser = await sign_ana_in(caller, household)

    clock.advance(timedelta(days=7).total_seconds() - 1)
    before = await caller.ask("GET", "/console/session", headers=browser)
    clock.advance(1)
    after = await caller.ask("GET", "/console/session", headers=browser)

    assert (before.status, after.status) == (200, 401)


async def test_a_link_names_an_approver_of_the_same_project_only(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock, ana: Ana
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")

    assert (await link_for_ana(caller, neighbour)).problem == NOT_FOUND

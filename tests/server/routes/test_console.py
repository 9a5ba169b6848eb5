"""A browser signs in with a link, and may what its person may; asked by our pages alone."""

import pytest

from handrail.core.access import Role, hash_secret
from handrail.core.change import Change, RevokeToken
from handrail.server.console.cookie import HEADER
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.version import __version__
from tests.conftest import Household, settle_in
from tests.server.conftest import Answer, Caller, ask_with_a_look, base

UNAUTHENTICATED = (401, "urn:handrail:unauthenticated")
FORBIDDEN = (403, "urn:handrail:forbidden")
LINK_USED = (409, "urn:handrail:link-used")
NOT_FOUND = (404, "urn:handrail:not-found")


async def link_for(caller: Caller, home: Household) -> str:
    made = await caller.ask("POST", f"{base(home)}/console/links", home.secrets[Role.USER], json={})
    return made.body["link"]


async def sign_in(caller: Caller, link: str) -> Answer:
    return await caller.ask("POST", "/console/session", json={"link": link})


async def signed_in(caller: Caller, home: Household) -> dict[str, str]:
    """The headers by which a signed-in browser is known."""
    answer = await sign_in(caller, await link_for(caller, home))
    cookie = answer.headers["set-cookie"].partition(";")[0]
    caller.session.cookie_jar.clear()
    return {"cookie": cookie, HEADER: answer.body["page_key"]}


async def test_a_link_signs_a_browser_in(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    answer = await sign_in(caller, await link_for(caller, household))

    assert answer.body == {
        "success": True,
        "user_id": household.user.user_id,
        "name": "ada",
        "role": "user",
        "projects": [
            {"project_id": household.project.id, "name": household.project.name, "waiting": 0}
        ],
        "version": __version__,
        "now": answer.body["now"],
        "project_id": household.project.id,
        "page_key": answer.body["page_key"],
    }
    cookie = answer.headers["set-cookie"].lower()
    # Cookies are for all ports of a machine, where more than one server may be.
    assert cookie.startswith(f"handrail_console_{caller.address.rpartition(':')[2]}=")
    for word in ("httponly", "samesite=strict", "max-age=2592000", "path=/"):
        assert word in cookie
    # Over plain HTTP on this machine; with TLS it is for TLS alone.
    assert "secure" not in cookie


async def test_a_link_signs_in_once_and_nothing_else_does(
    caller: Caller, household: Household
) -> None:
    link = await link_for(caller, household)
    await sign_in(caller, link)

    caller.session.cookie_jar.clear()
    for bad, problem in (
        (link, LINK_USED),
        ("guess", UNAUTHENTICATED),
        (household.secrets[Role.USER], UNAUTHENTICATED),
    ):
        answer = await sign_in(caller, bad)
        assert answer.problem == problem
        assert "set-cookie" not in answer.headers


async def test_a_victim_is_told_who_used_their_link_and_signs_the_thief_out(
    caller: Caller, household: Household
) -> None:
    link = await link_for(caller, household)
    stolen = await caller.ask(
        "POST", "/console/session", headers={"user-agent": "thief/1\u202e"}, json={"link": link}
    )
    cookie = stolen.headers["set-cookie"].partition(";")[0]
    thief = {"cookie": cookie, HEADER: stolen.body["page_key"]}
    caller.session.cookie_jar.clear()

    told = await sign_in(caller, link)
    before = await caller.ask("GET", "/console/session", headers=thief)
    ended = await caller.ask("POST", "/console/session/end", json={"link": link})
    after = await caller.ask("GET", "/console/session", headers=thief)

    assert told.problem == LINK_USED
    assert "less than a minute ago, from 127.0.0.1 by thief/1" in told.body["detail"]
    assert "\u202e" not in told.body["detail"]
    assert (before.status, ended.status) == (200, 200)
    assert after.problem == UNAUTHENTICATED


async def test_a_browser_that_opens_its_own_link_again_is_not_alarmed(
    caller: Caller, household: Household
) -> None:
    link = await link_for(caller, household)
    first = await sign_in(caller, link)
    mine = {
        "cookie": first.headers["set-cookie"].partition(";")[0],
        HEADER: first.body["page_key"],
    }

    again = await caller.ask("POST", "/console/session", headers=mine, json={"link": link})

    assert again.problem == UNAUTHENTICATED


async def test_a_link_that_signed_nobody_in_ends_nothing(
    caller: Caller, household: Household
) -> None:
    link = await link_for(caller, household)

    for bad in (link, "guess"):
        ended = await caller.ask("POST", "/console/session/end", json={"link": bad})
        assert ended.problem == NOT_FOUND

    assert (await sign_in(caller, link)).status == 200


async def test_a_person_can_ask_whether_their_link_was_used(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    link = await link_for(caller, household)
    path = f"{base(household)}/console/links/{hash_secret(link)}"
    token = household.secrets[Role.USER]

    before = await caller.ask("GET", path, token)
    await sign_in(caller, link)
    after = await caller.ask("GET", path, token)

    assert before.body == {"success": True, "used_at": None, "used_by": None, "token_id": None}
    (console,) = [
        one for one in await store.list_tokens(household.user.user_id) if one.name == "console"
    ]
    assert after.body["token_id"] == console.id
    assert after.body["used_by"].startswith("from 127.0.0.1 by ")
    unknown = f"{base(household)}/console/links/{hash_secret('guess')}"
    assert (await caller.ask("GET", unknown, token)).problem == NOT_FOUND
    assert (await caller.ask("GET", path, household.secrets[Role.AGENT])).problem == FORBIDDEN


async def test_a_browser_may_what_its_person_may(caller: Caller, household: Household) -> None:
    browser = await signed_in(caller, household)

    who = await caller.ask("GET", "/console/session", headers=browser)
    seen = await caller.ask("GET", f"{base(household)}/approvals", headers=browser)
    changed = await caller.ask(
        "POST", f"{base(household)}/chat/sessions/none/stop", headers=browser, json={}
    )

    assert (who.status, seen.status) == (200, 200)
    assert changed.problem == NOT_FOUND


async def test_what_other_ports_are_sent_opens_nothing(
    caller: Caller, household: Household
) -> None:
    browser = await signed_in(caller, household)
    other = await signed_in(caller, household)
    cookie, key = browser["cookie"], browser[HEADER]
    secret = cookie.partition("=")[2]

    for headers in (
        {"cookie": cookie},
        {"cookie": cookie, HEADER: "1"},
        {"cookie": cookie, HEADER: other[HEADER]},
        {HEADER: key},
        {"authorization": f"Bearer {secret}"},
        {"authorization": f"Bearer {secret}", HEADER: key},
        {"authorization": f"Bearer {key}"},
    ):
        for path in ("/console/session", f"{base(household)}/approvals"):
            assert (await caller.ask("GET", path, headers=headers)).problem == UNAUTHENTICATED


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
async def test_other_pages_cannot_use_the_cookie(
    caller: Caller, household: Household, site: str
) -> None:
    from_elsewhere = await signed_in(caller, household) | {"sec-fetch-site": site}

    answer = await caller.ask("GET", f"{base(household)}/approvals", headers=from_elsewhere)

    assert answer.problem == UNAUTHENTICATED


async def test_who_signs_out_is_out(caller: Caller, household: Household) -> None:
    browser = await signed_in(caller, household)

    out = await caller.ask("DELETE", "/console/session", headers=browser)
    after = await caller.ask("GET", "/console/session", headers=browser)

    assert out.status == 200
    name = browser["cookie"].partition("=")[0]
    assert out.headers["set-cookie"].startswith(f'{name}="";')
    assert after.problem == UNAUTHENTICATED


async def test_a_token_of_another_kind_is_not_signed_out(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.USER]

    out = await caller.ask("DELETE", "/console/session", token)
    after = await caller.ask("GET", "/console/session", token)

    assert out.problem == FORBIDDEN
    assert after.status == 200


@pytest.mark.parametrize("role", [Role.CLIENT, Role.AGENT])
async def test_only_a_person_signs_in(caller: Caller, household: Household, role: Role) -> None:
    token = household.secrets[role]

    assert (await caller.ask("GET", "/console/session", token)).problem == FORBIDDEN
    made = await caller.ask("POST", f"{base(household)}/console/links", token, json={})
    assert made.problem == FORBIDDEN


async def test_a_browser_whose_token_is_taken_back_is_out(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    browser = await signed_in(caller, household)
    (token,) = [
        one for one in await store.list_tokens(household.user.user_id) if one.name == "console"
    ]
    await store.submit(Change(household.project.id, clock.now(), (RevokeToken(token),)))

    assert (await caller.ask("GET", "/console/session", headers=browser)).problem == UNAUTHENTICATED


async def test_a_person_is_told_what_waits_where(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    other = await settle_in(store, clock, "bea", "/home/bea")
    asked = await ask_with_a_look(caller, household)
    path = f"/console/approvals/{asked['approval_id']}"

    who = await caller.ask("GET", "/console/session", household.secrets[Role.USER])
    where = await caller.ask("GET", path, household.secrets[Role.USER])

    assert [one["waiting"] for one in who.body["projects"]] == [1]
    assert where.body["project_id"] == household.project.id
    # To anybody else it is none.
    assert (await caller.ask("GET", path, other.secrets[Role.USER])).problem == NOT_FOUND
    assert (await caller.ask("GET", path, household.secrets[Role.AGENT])).problem == FORBIDDEN

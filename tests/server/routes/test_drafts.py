"""Drafts over HTTP: what machines tell about them, who may list them, and who hears of changes."""

from typing import Any

import pytest

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import Answer, Caller, Listener, a_body, base

CONFLICT = (409, "urn:handrail:conflict")


def a_draft(session_id: str = "session-1", **changed: Any) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "steps": 2,
        "files": 3,
        "bytes": 40,
        "began_at": "2025-12-30T00:00:00Z",
        "last_at": "2025-12-31T00:00:00Z",
        "expires_at": "2026-01-14T00:00:00Z",
        **changed,
    }


async def open_session(caller: Caller, home: Household, name: str) -> None:
    token = home.secrets[Role.AGENT]
    asked = await caller.ask(
        "POST", f"{base(home)}/tools/execute", token, json=a_body(f"read-{name}", session_id=name)
    )
    assert asked.status == 200


async def tell(
    caller: Caller,
    home: Household,
    *drafts: dict[str, Any],
    expired: list[dict[str, Any]] | None = None,
) -> Answer:
    body = {"drafts": list(drafts), "expired": expired or []}
    return await caller.ask("PUT", f"{base(home)}/drafts", home.secrets[Role.CLIENT], json=body)


async def listed(caller: Caller, home: Household) -> list[dict[str, Any]]:
    answer = await caller.ask("GET", f"{base(home)}/drafts", home.secrets[Role.USER])
    assert answer.status == 200
    return answer.body["drafts"]


async def news(listener: Listener) -> dict[str, Any]:
    while True:
        frame = await listener.read()
        assert frame is not None
        if frame.get("event") == "draft.changed":
            assert "id" not in frame
            return frame["data"]


async def test_drafts_are_listed_while_their_machine_is_connected(
    caller: Caller, household: Household
) -> None:
    await open_session(caller, household, "session-1")
    async with caller.listen(household, household.secrets[Role.USER]) as person:
        async with caller.listen(household, household.secrets[Role.CLIENT]):
            told = await tell(caller, household, a_draft())
            during = await listed(caller, household)
            assert (await news(person))["session_id"] == "session-1"
        assert (await news(person))["session_id"] == "session-1"
        after = await listed(caller, household)

    assert (told.status, after) == (200, [])
    assert during == [
        {
            **a_draft(),
            "agent_id": household.agent.subject,
            "agent_name": "test",
            "client_id": household.client_id,
            "client_name": "here",
            "workspace": household.workspace.root,
            "expires_soon": False,
            "trouble": "",
        }
    ]


async def test_a_machine_that_is_not_connected_is_told_so(
    caller: Caller, household: Household
) -> None:
    assert (await tell(caller, household, a_draft())).problem == CONFLICT


async def test_people_hear_of_drafts_that_have_changed_and_of_no_others(
    caller: Caller, household: Household
) -> None:
    for name in ("session-1", "session-2"):
        await open_session(caller, household, name)
    one, two = a_draft("session-1"), a_draft("session-2")
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]),
        caller.listen(household, household.secrets[Role.USER]) as person,
    ):
        await tell(caller, household, one, two)
        assert [(await news(person))["session_id"] for _ in range(2)] == ["session-1", "session-2"]
        await tell(caller, household, one, {**two, "steps": 3})
        assert (await news(person))["session_id"] == "session-2"
        await tell(caller, household, {**two, "steps": 3})
        assert (await news(person))["session_id"] == "session-1"
        assert [draft["steps"] for draft in await listed(caller, household)] == [3]


async def test_a_draft_that_expires_within_two_days_is_marked(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    await open_session(caller, household, "session-1")
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        await tell(caller, household, a_draft(expires_at="2026-01-02T23:00:00Z"))
        assert [one["expires_soon"] for one in await listed(caller, household)] == [True]


@pytest.mark.behaviour("isolation.projects")
async def test_a_draft_of_a_session_elsewhere_is_not_taken(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    stranger = await settle_in(store, clock, "bea", "/bea")
    await open_session(caller, stranger, "hers")
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        await tell(caller, household, a_draft("hers"), a_draft("unknown"))
        assert await listed(caller, household) == []
        assert await listed(caller, stranger) == []


async def test_a_draft_that_has_expired_is_in_the_record(
    caller: Caller, household: Household
) -> None:
    await open_session(caller, household, "session-1")
    gone = {"session_id": "session-1", "steps": 2, "files": 1, "patch": "/home/ada/x.patch"}
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        await tell(caller, household, expired=[gone, {**gone, "session_id": "unknown"}])

    answer = await caller.ask("GET", f"{base(household)}/audit", household.secrets[Role.USER])
    lines = [one for one in answer.body["entries"] if one["action"] == "draft.expired"]
    assert [(one["subject"], one["actor"]) for one in lines] == [("session-1", household.client_id)]
    assert "/home/ada/x.patch" in str(lines[0]["details"])

"""Standing answers over HTTP: what they let pass, and how they end."""

from typing import Any

import pytest

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    approve,
    ask_to_write,
    ask_with_a_look,
    base,
    show,
)

CONFLICT = (409, "urn:handrail:conflict")
NOT_FOUND = (404, "urn:handrail:not-found")


async def grant(
    caller: Caller, home: Household, call_id: str = "first", scope: str = "class", **body: Any
) -> dict[str, Any]:
    """Approve a call with more than itself; gives the grant."""
    asked = await ask_with_a_look(caller, home, call_id)
    answer = await approve(caller, home, asked["approval_id"], scope=scope, **body)
    assert answer.status == 200
    (given,) = (await show(caller, home, "/grants"))["grants"]
    return given


async def revoke(
    caller: Caller, home: Household, grant_id: str, token: str | None = None
) -> Answer:
    return await caller.ask(
        "DELETE", f"{base(home)}/grants/{grant_id}", token or home.secrets[Role.USER]
    )


async def status_of_next(caller: Caller, home: Household, call_id: str, **fields: Any) -> str:
    return (await ask_to_write(caller, home, call_id, **fields))["status"]


async def test_a_grant_is_shown_with_what_it_covers(caller: Caller, household: Household) -> None:
    asked = await ask_with_a_look(caller, household)
    await approve(
        caller, household, asked["approval_id"], scope="class", uses=3, expires_in_seconds=60
    )

    listed = await show(caller, household, "/grants")

    question = await show(caller, household, f"/approvals/{asked['approval_id']}")
    (given,) = listed["grants"]
    assert (listed["success"], listed["total_count"]) == (True, 1)
    assert given["grant_id"] == question["grant_id"]
    assert question["scope"] == "class"
    assert {name: value for name, value in given.items() if name != "grant_id"} == {
        "session_id": "session-1",
        "scope": "class",
        "agent_id": household.agent.subject,
        "agent_name": "test",
        "idle": False,
        "last_call_at": "2026-01-01T00:00:00Z",
        "words": "writes to *.md in the workspace's top folder",
        "max_risk": "MEDIUM",
        "uses_left": 3,
        "expires_at": "2026-01-01T00:01:00Z",
        "approval_id": asked["approval_id"],
        "granted_by": household.user.user_id,
        "created_at": "2026-01-01T00:00:00Z",
        "revoked_at": None,
    }


async def test_calls_of_the_class_pass_and_the_record_names_the_grant(
    caller: Caller, household: Household
) -> None:
    given = await grant(caller, household)

    alike = await ask_to_write(caller, household, "alike", path="other.md")

    assert (alike["status"], alike["approved_by"]) == ("approved", given["grant_id"])
    assert (alike["scope"], alike["approval_id"]) == ("class", None)


async def test_other_calls_do_not_pass(caller: Caller, household: Household) -> None:
    await grant(caller, household)

    others = {
        "kind": await status_of_next(caller, household, "c1", path="other.py"),
        "folder": await status_of_next(caller, household, "c2", path="docs/other.md"),
        "risk": await status_of_next(caller, household, "c3", path="deploy.sh"),
        "session": await status_of_next(caller, household, "c4", session_id="session-2"),
    }

    assert others == dict.fromkeys(others, "awaiting_approval")


async def test_a_grant_for_the_session_lets_everything_pass_that_is_not_forbidden(
    caller: Caller, household: Household
) -> None:
    given = await grant(caller, household, scope="session")

    passed = {
        path: await status_of_next(caller, household, f"c-{number}", path=path)
        for number, path in enumerate(("other.py", "deploy.sh", "a.exe"))
    }

    assert (given["scope"], given["max_risk"]) == ("session", "HIGH")
    assert passed == {"other.py": "approved", "deploy.sh": "approved", "a.exe": "failed"}
    elsewhere = await status_of_next(caller, household, "c-9", session_id="session-2")
    assert elsewhere == "awaiting_approval"


async def test_what_already_waits_passes_with_a_new_grant(
    caller: Caller, household: Household
) -> None:
    waiting = [await ask_with_a_look(caller, household, f"call-{n}") for n in range(3)]
    other = await ask_with_a_look(caller, household, "other", path="other.py")

    await approve(caller, household, waiting[0]["approval_id"], scope="class", uses=1)

    states = [
        (await show(caller, household, f"/tools/{one['tool_id']}"))["status"]
        for one in (*waiting, other)
    ]
    # One use for one more call; which of the two, is not promised.
    assert states[0] == "approved"
    assert sorted(states[1:3]) == ["approved", "awaiting_approval"]
    assert states[3] == "awaiting_approval"


async def test_a_grant_that_is_used_up_lets_nothing_pass(
    caller: Caller, household: Household
) -> None:
    await grant(caller, household, uses=2)

    states = [await status_of_next(caller, household, f"call-{n}") for n in range(3)]

    assert states == ["approved", "approved", "awaiting_approval"]
    assert (await show(caller, household, "/grants"))["grants"] == []


async def test_a_grant_ends_in_its_time(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    await grant(caller, household, expires_in_seconds=60)

    clock.advance(59)
    before = await status_of_next(caller, household, "before")
    clock.advance(1)
    after = await status_of_next(caller, household, "after")

    assert (before, after) == ("approved", "awaiting_approval")
    assert (await show(caller, household, "/grants"))["grants"] == []


@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
async def test_a_grant_that_is_taken_back_lets_nothing_pass(
    caller: Caller, household: Household, clock: FakeClock, role: Role
) -> None:
    given = await grant(caller, household)
    clock.advance(1)

    answer = await revoke(caller, household, given["grant_id"], household.secrets[role])
    again = await revoke(caller, household, given["grant_id"], household.secrets[role])

    assert answer.status == 200
    assert answer.body == given | {"revoked_at": "2026-01-01T00:00:01Z"}
    assert again.problem == CONFLICT
    assert "revoked before" in again.body["detail"]
    assert await status_of_next(caller, household, "next") == "awaiting_approval"
    assert (await show(caller, household, "/grants"))["grants"] == []
    entries = (await show(caller, household, "/audit"))["entries"]
    assert [line["subject"] for line in entries if line["action"] == "grant.revoked"] == [
        given["grant_id"]
    ]


async def test_an_agent_neither_sees_nor_takes_back_a_grant(
    caller: Caller, household: Household
) -> None:
    """P10."""
    given = await grant(caller, household)
    token = household.secrets[Role.AGENT]

    listed = await caller.ask("GET", f"{base(household)}/grants", token)
    revoked = await revoke(caller, household, given["grant_id"], token)

    assert listed.problem == revoked.problem == (403, "urn:handrail:forbidden")
    assert (await show(caller, household, "/grants"))["grants"] == [given]


async def test_a_foreign_persons_token_finds_no_grant(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    given = await grant(caller, household)

    for role in (Role.USER, Role.CLIENT):
        token = neighbour.secrets[role]
        answers = [
            await revoke(caller, household, given["grant_id"], token),
            await revoke(caller, neighbour, given["grant_id"], token),
            await caller.ask("GET", f"{base(household)}/grants", token),
        ]
        assert {answer.problem for answer in answers} == {NOT_FOUND}
        own = await caller.ask("GET", f"{base(neighbour)}/grants", token)
        assert own.body == {"success": True, "grants": [], "total_count": 0}
    assert (await show(caller, household, "/grants"))["grants"] == [given]


async def test_a_grant_that_is_none_is_not_found(caller: Caller, household: Household) -> None:
    for grant_id in ("grt_none", "%00", "a%20b"):
        assert (await revoke(caller, household, grant_id)).problem == NOT_FOUND


async def test_without_a_token_no_grant_is_taken_back(caller: Caller, household: Household) -> None:
    given = await grant(caller, household)

    answer = await caller.ask("DELETE", f"{base(household)}/grants/{given['grant_id']}")

    assert answer.problem == (401, "urn:handrail:unauthenticated")
    assert (await show(caller, household, "/grants"))["grants"] == [given]


async def test_a_lasting_answer_is_shown_with_its_agent_and_its_end(
    caller: Caller, household: Household
) -> None:
    given = await grant(caller, household, scope="project", expires_in_seconds=90 * 24 * 3600)

    passed = await ask_to_write(caller, household, "later", path="o.md", session_id="session-2")

    assert (given["scope"], given["expires_at"]) == ("project", "2026-04-01T00:00:00Z")
    assert (given["agent_id"], given["agent_name"]) == (household.agent.subject, "test")
    assert (given["idle"], given["last_call_at"]) == (False, None)
    assert (passed["approved_by"], passed["scope"]) == (given["grant_id"], "project")

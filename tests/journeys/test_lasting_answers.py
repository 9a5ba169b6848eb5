"""An answer for the project: whose calls it covers, what it never covers, and how it ends."""

import asyncio
import json
from typing import Any

import pytest

from handrail.client.api import HandrailApi
from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig

NO = Choice(approved=False)
CRITICAL = """
[[write]]
name = "live"
risk = "critical"
reason = "the site is live"
patterns = ["pages/live.md"]
match = ["pages/live.md"]
not_match = ["pages/a.md"]
"""


def a_page(name: str) -> dict[str, Any]:
    return {"path": f"pages/{name}.md", "content": f"{name}\n"}


async def asked(rig: Rig, choice: Choice, name: str, session: str) -> tuple[dict[str, Any], Card]:
    """A page that a person is asked about: how the call ended, and what they were shown."""
    async with asyncio.TaskGroup() as group:
        call = rig.call("write_file", a_page(name), name, session_id=session)
        asking = group.create_task(call)
        card = await rig.answer(choice)
    return asking.result(), card


async def grants(rig: Rig) -> list[dict[str, Any]]:
    return (await rig.as_person(lambda api: api.get("/grants")))["grants"]


async def start(rig: Rig) -> None:
    """Start everything in a project with a page whose writes are critical."""
    policy = rig.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir()
    policy.write_text(CRITICAL)
    await asyncio.to_thread(rig.start_server)
    await asyncio.to_thread(rig.start_client)
    await rig.hears_of_rules()


async def of_another_agent(rig: Rig, name: str) -> str:
    """How a page stands that another agent of the project has asked to write."""
    words = ("token", "create", "--role", "agent", "--name", "other", "--json")
    made = await asyncio.to_thread(rig.run, *words, "--workspace", str(rig.workspace))
    known, secret = rig.credentials, json.loads(made.stdout)["secret"]
    async with HandrailApi(known.server, known.project_id, secret) as api:
        call = api.execute("write_file", a_page(name), session_id="theirs", call_id=name, wait=30)
        asking = asyncio.create_task(call)
        await rig.answer(NO)
        return (await asking)["status"]


@pytest.mark.behaviour("scope.project")
async def test_a_yes_for_the_project_covers_later_sessions_of_that_agent_until_it_is_revoked(
    rig: Rig,
) -> None:
    await start(rig)
    first, card = await asked(rig, Choice(True, Scope.PROJECT), "a", "first")
    (grant,) = await grants(rig)

    later = await rig.call("write_file", a_page("b"), "b", session_id="second")
    others = await of_another_agent(rig, "c")
    live, warned = await asked(rig, NO, "live", "third")
    await rig.as_person(lambda api: api.delete(f"/grants/{grant['grant_id']}"))
    revoked, _ = await asked(rig, NO, "d", "fourth")

    (offer,) = [one for one in card.offers if one.scope is Scope.PROJECT]
    assert offer.words.endswith(", always in this project, in every session of this agent")
    assert offer.past == "first call of this kind by this agent in this project"
    assert (first["status"], first["scope"]) == ("completed", "project")
    assert (later["status"], later["scope"]) == ("completed", "project")
    assert (later["approved_by"], later["approval_id"]) == (grant["grant_id"], None)
    assert (others, live["status"], revoked["status"]) == ("rejected", "rejected", "rejected")
    assert warned.risk_level == "CRITICAL"
    assert [one.scope for one in warned.offers] == [Scope.ONCE]
    told = rig.run("audit", "show", "--workspace", str(rig.workspace)).stdout
    assert "grant.given" in told
    assert "grant.revoked" in told


@pytest.mark.behaviour("scope.project")
async def test_a_yes_for_the_project_ends_at_its_date(rig: Rig) -> None:
    await start(rig)
    yes = Choice(True, Scope.PROJECT, expires_in_seconds=1)
    await asked(rig, yes, "a", "first")
    async with asyncio.timeout(20):
        while await grants(rig):
            await asyncio.sleep(0.1)

    again, card = await asked(rig, NO, "b", "second")

    (offer,) = [one for one in card.offers if one.scope is Scope.PROJECT]
    told = "it would have covered 1 earlier call of this agent in this project"
    assert (again["status"], offer.past) == ("rejected", told)

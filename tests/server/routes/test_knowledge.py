"""What a person sees of their memories and skills, and what their agents have stored there."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from handrail.core.access import Role
from handrail.knowledge.memory import Owner, PersonalMemories
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import Caller, base


def memories_of(services: Services, home: Household) -> PersonalMemories:
    return services.memories.of(Owner(home.user.user_id, home.project.id, "test"))


async def agent_calls(caller: Caller, home: Household, tool: str, **params: Any) -> Any:
    body = {
        "tool_name": tool,
        "tool_params": params,
        "session_id": "session-1",
        "call_id": f"{tool}-{len(str(params))}",
        "wait": 10,
    }
    path, token = f"{base(home)}/tools/execute", home.secrets[Role.AGENT]
    return (await caller.ask("POST", path, token, json=body)).body


@pytest.mark.behaviour("memory.person")
async def test_what_an_agent_stores_its_person_sees_and_can_have_forgotten(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    path, token = f"{base(household)}/memory", household.secrets[Role.USER]
    stored = await agent_calls(caller, household, "memory_store", key="a/b c", content="tea?")

    listed = await caller.ask("GET", path, token)
    gone = await caller.ask("DELETE", f"{path}/{quote('a/b c', safe='')}", token)
    again = await caller.ask("DELETE", f"{path}/{quote('a/b c', safe='')}", token)

    assert stored["status"] == "completed"
    at = clock.now().isoformat().replace("+00:00", "Z")
    assert listed.body == {
        "success": True,
        "memories": [
            {
                "key": "a/b c",
                "content": "tea?",
                "category": "general",
                "created_at": at,
                "updated_at": at,
                "tainted": None,
            }
        ],
        "total_count": 1,
        "words_alone": "no model was looked for",
    }
    assert (gone.status, gone.body) == (200, {"success": True, "key": "a/b c"})
    assert again.problem[0] == 404
    assert (await caller.ask("GET", path, token)).body["memories"] == []


async def test_memories_are_narrowed_by_category_and_by_a_question(
    caller: Caller, services: Services, household: Household
) -> None:
    mine = memories_of(services, household)
    await mine.store("one", "green tea", "taste")
    await mine.store("two", "black tea", "stock")
    path, token = f"{base(household)}/memory", household.secrets[Role.USER]

    async def keys(query: str) -> list[str]:
        answer = await caller.ask("GET", f"{path}?{query}", token)
        return [one["key"] for one in answer.body["memories"]]

    assert await keys("category=taste") == ["one"]
    assert await keys("q=black") == ["two"]
    assert await keys("q=tea&category=stock") == ["two"]
    assert await keys("q=%22%20OR%20*%00&category=") == []
    assert sorted(await keys("category=&q=")) == ["one", "two"]
    assert len(await keys("limit=1")) == 1


async def test_no_agent_reads_or_forgets_here(
    caller: Caller, services: Services, household: Household
) -> None:
    await memories_of(services, household).store("key", "mine")
    token = household.secrets[Role.AGENT]

    for method, path in (("GET", "/memory"), ("DELETE", "/memory/key"), ("GET", "/skills")):
        answer = await caller.ask(method, base(household) + path, token)
        assert answer.problem[0] == 403

    assert len(await memories_of(services, household).list_all(category=None, limit=9)) == 1


async def test_another_person_and_their_agent_see_nothing_of_it(
    caller: Caller, services: Services, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    bob = await settle_in(store, clock, "bob", "/home/bob")
    await memories_of(services, household).store("key", "the treasure lies under the oak")

    foreign = await caller.ask("GET", f"{base(household)}/memory", bob.secrets[Role.USER])
    own = await caller.ask("GET", f"{base(bob)}/memory?q=treasure", bob.secrets[Role.USER])
    gone = await caller.ask("DELETE", f"{base(bob)}/memory/key", bob.secrets[Role.USER])
    recalled = await agent_calls(caller, bob, "memory_recall", query="treasure oak key")

    assert foreign.problem[0] == 404
    assert own.body["memories"] == []
    assert gone.problem[0] == 404
    assert recalled["result"]["memories"] == []
    assert await memories_of(services, household).recall("key") != []


async def test_an_agent_loads_skills_and_its_person_sees_which_there_are(
    caller: Caller, household: Household
) -> None:
    loaded = await agent_calls(caller, household, "skill", name="git-hygiene")
    unknown = await agent_calls(caller, household, "skill", name="fly")
    listed = await caller.ask("GET", f"{base(household)}/skills", household.secrets[Role.USER])

    assert loaded["result"]["output"].startswith("# git-hygiene")
    assert unknown["status"] == "failed"
    assert "careful-edit: " in unknown["error"]
    assert [(one["name"], one["builtin"]) for one in listed.body["skills"]] == [
        ("careful-edit", True),
        ("explain-risk", True),
        ("git-hygiene", True),
    ]
    assert (listed.body["total_count"], listed.body["warnings"]) == (3, [])


async def test_a_person_reads_what_a_skill_tells_an_agent(
    caller: Caller, household: Household
) -> None:
    path, token = f"{base(household)}/skills", household.secrets[Role.USER]
    loaded = await agent_calls(caller, household, "skill", name="git-hygiene")

    shown = await caller.ask("GET", f"{path}/git-hygiene", token)
    unknown = await caller.ask("GET", f"{path}/fly", token)
    outside = await caller.ask("GET", f"{path}/..%2Fpolicy.toml", token)

    assert (shown.body["name"], shown.body["builtin"]) == ("git-hygiene", True)
    assert shown.body["body"] in loaded["result"]["output"]
    assert [unknown.problem[0], outside.problem[0]] == [404, 404]


async def test_the_skills_of_the_owner_are_shown_to_nobody_else(
    caller: Caller, services: Services, household: Household, store: SqliteStore, clock: FakeClock,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "secret-sauce").mkdir()
    words = "---\nname: secret-sauce\ndescription: Ours.\n---\nStir twice.\n"
    (tmp_path / "secret-sauce" / "SKILL.md").write_text(words)
    monkeypatch.setattr(services.skills, "_folder", tmp_path)
    guest = await settle_in(store, clock, "grace", str(tmp_path / "elsewhere"))

    for home, sees in ((household, True), (guest, False)):
        path, token = f"{base(home)}/skills", home.secrets[Role.USER]
        names = [one["name"] for one in (await caller.ask("GET", path, token)).body["skills"]]
        one = await caller.ask("GET", f"{path}/secret-sauce", token)
        assert ("secret-sauce" in names, one.status == 200) == (sees, sees)

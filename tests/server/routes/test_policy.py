"""The rules over HTTP: who may look, what a project may add, and what would be said to a call."""

import json
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.core.change import Add, Change
from handrail.core.ids import WorkspaceId
from handrail.core.project import Autonomy, Workspace
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.server.conftest import (
    Answer,
    Caller,
    a_body,
    approve,
    ask_to_write,
    ask_with_a_look,
    base,
    show,
)

FORBIDDEN = (403, "urn:handrail:forbidden")
BAD_INPUT = (400, "urn:handrail:bad-input")
NOT_FOUND = (404, "urn:handrail:not-found")
DOCS = """
[policy]
autonomy = "full"

[[path]]
name = "docs"
access = "any"
reason = "the plans stay with people"
patterns = ["docs/**"]
match = ["docs/a.md"]
not_match = ["docs"]

[[command]]
name = "rm"
risk = "medium"
reason = "is fine"
examples = { "rm x" = "medium" }
"""
TWICE = "[[tool]]\nname = 'write_file'\nrisk = 'high'\nreason = 'writes are looked at twice'"


async def put(
    caller: Caller, home: Household, text: Any, role: Role = Role.CLIENT, **more: Any
) -> Answer:
    return await caller.ask(
        "PUT", f"{base(home)}/policy", home.secrets[role], json={"text": text, **more}
    )


async def explain(caller: Caller, home: Household, role: Role = Role.USER, **fields: Any) -> Answer:
    body = {"tool_name": "read_file", "tool_params": {"path": "docs/a.md"}, **fields}
    return await caller.ask("POST", f"{base(home)}/policy/explain", home.secrets[role], json=body)


async def read(caller: Caller, home: Household, path: str) -> dict[str, Any]:
    answer = await caller.ask(
        "POST",
        f"{base(home)}/tools/execute",
        home.secrets[Role.AGENT],
        json=a_body(path, path) | {"call_id": path.replace("/", "-")},
    )
    assert answer.status == 200
    return answer.body


@pytest.mark.behaviour("policy.agent-cannot")
async def test_an_agent_can_neither_change_nor_see_nor_try_the_rules(
    caller: Caller, household: Household
) -> None:
    seen = await caller.ask("GET", f"{base(household)}/policy", household.secrets[Role.AGENT])

    assert seen.problem == FORBIDDEN
    assert (await put(caller, household, "", Role.AGENT)).problem == FORBIDDEN
    assert (await put(caller, household, "", Role.USER)).problem == FORBIDDEN
    assert (await explain(caller, household, Role.AGENT)).problem == FORBIDDEN


async def test_what_a_project_refuses_is_refused_from_then_on(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    before = await read(caller, household, "docs/before.md")
    kept = await put(caller, household, DOCS)
    after = await read(caller, household, "docs/after.md")

    assert (before["status"], kept.status) == ("approved", 200)
    assert kept.body == {"success": True, "workspace_id": household.workspace.id}
    assert (after["status"], after["error_type"]) == ("failed", "denied")
    assert after["reasons"] == [
        "'docs/after.md' is refused: the plans stay with people (project rule path.docs)"
    ]
    (changed,) = [
        line
        for line in await store.read_audit(household.project.id, after=0, limit=100)
        if line.action == "policy.changed"
    ]
    assert (changed.actor, changed.subject) == (household.client.subject, household.workspace.id)
    assert "plans" not in changed.details


async def test_the_same_file_told_again_changes_nothing(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    for _ in range(3):
        assert (await put(caller, household, DOCS)).status == 200

    lines = await store.read_audit(household.project.id, after=0, limit=100)
    assert [line.action for line in lines].count("policy.changed") == 1


async def test_a_broken_file_is_refused_and_the_one_before_stays(
    caller: Caller, household: Household
) -> None:
    await put(caller, household, DOCS)

    broken = await put(caller, household, "[[path]]\nname = 'x'\ncolour = 'red'")

    assert broken.problem == BAD_INPUT
    assert broken.body["detail"].startswith(
        ".handrail/policy.toml: path rule 'x': unknown key 'colour'; known: name"
    )
    assert (await read(caller, household, "docs/a.md"))["error_type"] == "denied"


@pytest.mark.parametrize("text", [None, 5, "#" * 256_001, "x = '\udc80'"])
async def test_what_is_no_text_or_too_long_is_refused(
    caller: Caller, household: Household, text: Any
) -> None:
    assert (await put(caller, household, text)).problem == BAD_INPUT
    assert (await put(caller, household, "", colour="red")).problem == BAD_INPUT


async def test_a_class_that_was_let_pass_does_not_cover_what_is_stricter_now(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household, "first")
    await approve(caller, household, asked["approval_id"], scope="class")
    passed = await ask_to_write(caller, household, "second")
    await put(caller, household, TWICE)

    strict = await ask_to_write(caller, household, "third")

    assert (passed["status"], strict["status"]) == ("approved", "awaiting_approval")
    assert strict["risk_level"] == "HIGH"


async def test_the_layers_are_shown_with_their_rows_and_what_holds(
    caller: Caller, household: Household
) -> None:
    await put(caller, household, DOCS)

    shown = await show(caller, household, "/policy")

    shipped, operator, project = shown["layers"]
    assert (shipped["layer"], shipped["counts"]["command"] > 50) == ("shipped", True)
    assert {"kind", "name", "risk_level", "reason", "note"} == set(shipped["rules"][0])
    assert (operator["layer"], operator["counts"], operator["rules"]) == ("operator", {}, [])
    assert project["workspace_id"] == household.workspace.id
    assert project["counts"] == {"path": 1, "command": 1}
    assert [(rule["name"], rule["note"]) for rule in project["rules"]] == [
        ("docs", None),
        ("rm", "no effect: not stricter than the rules beneath"),
    ]
    assert project["notes"] == ["autonomy = full has no effect: it is at most full anyway"]
    assert shown["effective"] == [
        {
            "workspace_id": household.workspace.id,
            "root": household.workspace.root,
            "autonomy": "supervised",
            "unlisted": "ask",
        }
    ]


async def test_a_call_is_explained_and_nothing_comes_of_it(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    await put(caller, household, DOCS)
    before = await store.read_audit(household.project.id, after=0, limit=100)

    denied = (await explain(caller, household)).body
    asked = await explain(
        caller,
        household,
        Role.CLIENT,
        tool_name="execute_command",
        tool_params={"command": "npm", "args": ["ci"]},
    )

    assert denied == {
        "success": True,
        "tool_name": "read_file",
        "description": "Read docs/a.md",
        "class_words": None,
        "ruling": "deny",
        "risk_level": "FORBIDDEN",
        "reasons": ["'docs/a.md' is refused: the plans stay with people (project rule path.docs)"],
        "findings": [
            {
                "rule": "path.docs",
                "layer": "project",
                "risk_level": "FORBIDDEN",
                "reason": "'docs/a.md' is refused: the plans stay with people"
                " (project rule path.docs)",
            }
        ],
        "plan": {"paths": [], "argv": [], "hosts": [], "profiles": []},
        "timeout_seconds": 0,
        "requires_approval": False,
        "autonomy": "supervised",
        "workspace_id": household.workspace.id,
    }
    assert (asked.body["ruling"], asked.body["timeout_seconds"]) == ("ask", 600)
    assert asked.body["requires_approval"] is True
    assert asked.body["description"] == "Run npm ci"
    assert asked.body["class_words"] == "npm ci …"
    assert asked.body["plan"]["argv"] == [["npm", "ci", "--ignore-scripts"]]
    assert asked.body["plan"]["profiles"] == ["net"]
    assert (await show(caller, household, "/tools/executions"))["executions"] == []
    assert await store.read_audit(household.project.id, after=0, limit=100) == before


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"tool_name": "launch"}, "launch"),
        ({"tool_params": {"path": 5}}, "path"),
        ({"tool_params": {}}, "path"),
        ({"tool_params": {"path": "a", "colour": "red"}}, "colour"),
        ({"tool_params": None}, "tool_params"),
        ({"autonomy": "wild"}, "autonomy"),
        ({"session_id": "../x"}, "session_id"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_what_cannot_be_explained_is_answered_with_the_field_that_is_wrong(
    caller: Caller, household: Household, fields: dict[str, Any], word: str
) -> None:
    answer = await explain(caller, household, **fields)

    assert answer.problem == BAD_INPUT
    assert word in answer.body["detail"]


async def test_a_call_is_explained_with_the_freedom_that_is_asked_about(
    caller: Caller, household: Household
) -> None:
    write: dict[str, Any] = {
        "tool_name": "write_file",
        "tool_params": {"path": "a.md", "content": "x"},
    }

    free = await explain(caller, household, **write, autonomy="full")
    await put(caller, household, "[policy]\nautonomy = 'read_only'")
    bound = await explain(caller, household, **write, autonomy="full")

    assert (free.body["ruling"], free.body["autonomy"]) == ("allow", "full")
    assert (bound.body["ruling"], bound.body["autonomy"]) == ("deny", "read_only")


async def test_where_a_call_would_happen_must_be_clear(
    caller: Caller, household: Household, store: SqliteStore
) -> None:
    await read(caller, household, "a.md")
    at = household.project.created_at
    other = Workspace(WorkspaceId("wsp_other"), household.project.id, "there", "/there", at)
    await store.submit(Change(household.project.id, at, (Add(other),)))
    await put(caller, household, DOCS)

    unclear = await explain(caller, household)
    of_session = await explain(caller, household, session_id="session-1")
    there = await explain(caller, household, workspace_id="wsp_other")
    of_client = await explain(caller, household, Role.CLIENT)

    assert unclear.problem == BAD_INPUT
    assert (of_session.body["ruling"], there.body["ruling"]) == ("deny", "allow")
    assert of_client.body["workspace_id"] == household.workspace.id
    assert (await explain(caller, household, session_id="none")).problem == NOT_FOUND
    assert (await explain(caller, household, workspace_id="none")).problem == NOT_FOUND


async def set_autonomy(
    caller: Caller, home: Household, autonomy: Any, role: Role = Role.USER
) -> Answer:
    return await caller.ask(
        "PUT", f"{base(home)}/autonomy", home.secrets[role], json={"autonomy": autonomy}
    )


async def test_the_autonomy_of_a_project_holds_for_calls_from_then_on_and_is_recorded(
    caller: Caller, household: Household
) -> None:
    before = await ask_to_write(caller, household, "before")
    changed = await set_autonomy(caller, household, "full")
    after = await ask_to_write(caller, household, "after", path="other.md")

    assert (changed.status, changed.body) == (
        200,
        {"success": True, "autonomy": "full", "meaning": Autonomy.FULL.meaning},
    )
    assert await show(caller, household, "/autonomy") == changed.body
    assert (before["status"], after["status"]) == ("awaiting_approval", "approved")
    policy = await show(caller, household, "/policy")
    assert [one["autonomy"] for one in policy["effective"]] == ["full"]
    entries = (await show(caller, household, "/audit"))["entries"]
    (line,) = [one for one in entries if one["action"] == "project.autonomy"]
    assert json.loads(line["details"]) == {"before": "supervised", "after": "full"}
    assert line["actor"] == household.user.subject


@pytest.mark.parametrize("role", [Role.AGENT, Role.CLIENT, Role.APPROVER])
async def test_only_the_owner_sets_the_autonomy(
    caller: Caller, household: Household, role: Role
) -> None:
    assert (await set_autonomy(caller, household, "full", role)).problem == FORBIDDEN
    assert (await show(caller, household, "/autonomy"))["autonomy"] == "supervised"


@pytest.mark.parametrize("autonomy", ["boundless", "", None, 3])
async def test_an_unknown_autonomy_is_refused(
    caller: Caller, household: Household, autonomy: Any
) -> None:
    answer = await set_autonomy(caller, household, autonomy)

    assert answer.problem == BAD_INPUT
    assert "autonomy" in answer.body["detail"]


async def test_the_same_autonomy_again_changes_nothing(
    caller: Caller, household: Household
) -> None:
    assert (await set_autonomy(caller, household, "supervised")).status == 200

    entries = (await show(caller, household, "/audit"))["entries"]
    assert not [one for one in entries if one["action"] == "project.autonomy"]

"""Two people with two projects each: whatever the API offers, nobody touches what is another's.

The routes are taken from the API's own description, so that a new one is held to this at once.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from handrail.core.access import Role, Token, hash_secret, new_secret
from handrail.core.change import Add, Change
from handrail.core.ids import ClientId, ProjectId, TokenId, WorkspaceId, mint
from handrail.core.project import Autonomy, Client, Project, Workspace
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Answer,
    Caller,
    a_body,
    a_result,
    a_write,
    add_token,
    approve,
    ask_with_a_look,
    base,
    show,
)

BASE = "/my/projects/{project_id}"
# What only people decide, and only machines do: an agent is turned away whatever it names.
NOT_FOR_AGENTS = {
    "GET /activity",
    "GET /activity/export",
    "GET /activity/{tool_id}",
    "GET /approvals",
    "GET /approvals/{approval_id}",
    "GET /approvals/{approval_id}/unmasked",
    "GET /approvals/{approval_id}/editable",
    "POST /approvals/{approval_id}/revise",
    "GET /console/links/{sha256}",
    "POST /approvals/{approval_id}/approve",
    "POST /approvals/{approval_id}/reject",
    "POST /approvals/{approval_id}/facts",
    "GET /grants",
    "DELETE /grants/{grant_id}",
    "POST /tools/{tool_id}/cancel",
    "GET /undo",
    "POST /tools/{tool_id}/undo",
    "POST /tools/undone",
    "POST /chat/sessions/{session_id}/undo",
    "POST /tools/{tool_id}/claim",
    "POST /tools/{tool_id}/ask-again",
    "POST /tools/{tool_id}/result",
    "POST /tools/results",
    "POST /chat/sessions/{session_id}/stop",
    "GET /chat/stream",
    "GET /chat/taints",
    "POST /chat/sessions/{session_id}/trust",
    "POST /chat/messages",
    "GET /chat/messages",
    "GET /chat/sessions",
    "POST /chat/runs/{run_id}/stop",
    "GET /clients",
    "POST /clients/heartbeat",
    "POST /console/links",
    "GET /drafts",
    "PUT /drafts",
    "GET /audit",
    "GET /policy",
    "PUT /policy",
    "GET /autonomy",
    "PUT /autonomy",
    "POST /policy/explain",
    "GET /memory",
    "DELETE /memory/{key}",
    "GET /skills",
    "GET /skills/{name}",
    "GET /config",
    "GET /self",
    "GET /analytics",
    "GET /budget",
}


@dataclass(frozen=True)
class Belongings:
    """A project with something of everything in it."""

    home: Household
    ids: dict[str, str]

    @property
    def marks(self) -> set[str]:
        """What must be seen by nobody else."""
        people = {self.home.client_id, self.home.agent.subject}
        return {*self.ids.values(), self.home.workspace.id, *people}


async def another_project(store: SqliteStore, home: Household, name: str) -> Household:
    """A second project of the same user, with its own machine and agent."""
    at = home.project.created_at
    project = Project(
        ProjectId(mint("prj", at)), home.user.user_id, name, Autonomy.SUPERVISED, "salt", at
    )
    workspace = Workspace(WorkspaceId(mint("wsp", at)), project.id, "here", f"/{name}", at)
    client = Client(ClientId(mint("cli", at)), project.id, workspace.id, "here", at)
    subjects = {
        Role.CLIENT: client.id,
        Role.AGENT: mint("agt", at),
        Role.APPROVER: mint("apv", at),
    }
    secrets = {role: new_secret(role) for role in subjects}
    tokens = {
        role: Token(
            TokenId(mint("tok", at)), hash_secret(secrets[role]), role, subject,
            home.user.user_id, project.id, workspace.id, "test", at,
        )
        for role, subject in subjects.items()
    }  # fmt: skip
    rows = (project, workspace, client, *tokens.values())
    await store.submit(Change(project.id, at, tuple(map(Add, rows))))
    client_principal, agent = tokens[Role.CLIENT].principal, tokens[Role.AGENT].principal
    all_secrets = {**secrets, Role.USER: home.secrets[Role.USER]}
    return Household(project, workspace, home.user, client_principal, agent, all_secrets)


async def fill(caller: Caller, home: Household) -> Belongings:
    """Leave a call, an open question, a grant and a session behind."""
    session = f"session-{home.project.id[-8:]}"
    first = await ask_with_a_look(caller, home, "call-1", session_id=session)
    assert (await approve(caller, home, first["approval_id"], scope="session")).status == 200
    grants = await caller.ask("GET", f"{base(home)}/grants", home.secrets[Role.USER])
    (grant,) = grants.body["grants"]
    second = await caller.ask(
        "POST",
        f"{base(home)}/tools/execute",
        home.secrets[Role.AGENT],
        json=a_write("call-2", session_id=f"other-{session}"),
    )
    return Belongings(
        home,
        {
            "project_id": home.project.id,
            "tool_id": second.body["tool_id"],
            "approval_id": second.body["approval_id"],
            "grant_id": grant["grant_id"],
            "session_id": f"other-{session}",
        },
    )


@pytest.fixture
async def everybody(caller: Caller, store: SqliteStore, clock: FakeClock) -> list[Belongings]:
    ada, bob = [await settle_in(store, clock, name, f"/{name}") for name in ("ada", "bob")]
    homes = [ada, await another_project(store, ada, "adas"), bob]
    homes.append(await another_project(store, bob, "bobs"))
    return [await fill(caller, home) for home in homes]


def routes(caller: Caller) -> Iterator[tuple[str, str]]:
    for path, operations in caller.document["paths"].items():
        if path.startswith(BASE):
            yield from ((method.upper(), path) for method in operations)


async def knock(
    caller: Caller, method: str, path: str, token: str | None, ids: dict[str, str]
) -> Answer:
    """A request that would be good if the ids were one's own."""
    bodies: dict[str, Any] = {
        "/tools/execute": a_body(session_id=ids.get("own_session_id", ids["session_id"])),
        "/tools/{tool_id}/claim": {"epoch": 1, "key": "mine"},
        "/tools/{tool_id}/ask-again": {"epoch": 1, "facts": {}},
        "/tools/{tool_id}/result": a_result(),
        "/tools/results": {"results": [a_result(tool_id=ids["tool_id"])]},
        "/approvals/{approval_id}/approve": {"decision": "approved"},
        "/approvals/{approval_id}/facts": {"facts": {}},
        "/approvals/{approval_id}/revise": {"tool_params": {"content": "x"}, "digest": "none"},
    }
    options = {"json": bodies.get(path.removeprefix(BASE), {})} if method != "GET" else {}
    # A name that is new here stands for a call, until somebody knows better.
    address = re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], ids["tool_id"]), path)
    return await caller.ask(method, address, token, **options)


def rows_of(database: Path, project_id: str) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that is kept of a project, past all of our own code."""
    tables = (
        "tool_executions",
        "tool_approvals",
        "grants",
        "sessions",
        "audit",
        "events",
        "tokens",
    )
    with closing(sqlite3.connect(database)) as opened:
        return {
            table: opened.execute(
                f"SELECT * FROM {table} WHERE project_id = ?", (project_id,)
            ).fetchall()
            for table in tables
        }


@pytest.mark.behaviour("isolation.projects")
async def test_nobody_is_let_into_the_project_of_another(
    caller: Caller, everybody: list[Belongings], tmp_path: Path
) -> None:
    database = tmp_path / "handrail.db"
    before = [rows_of(database, one.ids["project_id"]) for one in everybody]
    assert all(rows for rows in before[0].values())

    for stranger, owner in permutations(everybody, 2):
        same_person = stranger.home.user.user_id == owner.home.user.user_id
        for role in set(Role) - ({Role.USER} if same_person else set()):
            for method, path in routes(caller):
                told = await knock(caller, method, path, stranger.home.secrets[role], owner.ids)
                assert told.problem == (404, "urn:handrail:not-found"), f"{role} {method} {path}"
                assert (
                    told.body["detail"] == f"there is no project {owner.home.project.id!r} for you"
                )

    assert [rows_of(database, one.ids["project_id"]) for one in everybody] == before


@pytest.mark.behaviour("isolation.ids")
async def test_the_ids_of_another_open_nothing_in_ones_own_project(
    caller: Caller, everybody: list[Belongings], tmp_path: Path
) -> None:
    database = tmp_path / "handrail.db"
    for stranger, owner in permutations(everybody, 2):
        before = rows_of(database, owner.ids["project_id"])
        own = {"project_id": stranger.ids["project_id"], "own_session_id": "mine"}
        borrowed = {**owner.ids, **own}
        for role in Role:
            for method, path in routes(caller):
                told = await knock(caller, method, path, stranger.home.secrets[role], borrowed)
                where = f"{role} {method} {path}"
                if any(
                    name in path for name in ("tool_id", "approval_id", "grant_id", "session_id")
                ):
                    assert told.status in (403, 404), where
                seen = {mark for mark in owner.marks if mark in str(told.body)}
                # What was just said to the server it may say again.
                assert seen <= set(borrowed.values()), where
        assert rows_of(database, owner.ids["project_id"]) == before


@pytest.mark.behaviour("isolation.agents")
async def test_an_agent_decides_nothing_and_sees_no_other_agent_of_its_project(
    caller: Caller, store: SqliteStore, everybody: list[Belongings], tmp_path: Path
) -> None:
    owner = everybody[0]
    second = await add_token(store, owner.home, subject="agt_second")
    before = rows_of(tmp_path / "handrail.db", owner.ids["project_id"])

    statuses = {
        f"{method} {path.removeprefix(BASE)}": await knock(caller, method, path, second, owner.ids)
        for method, path in routes(caller)
    }

    turned_away = {route for route, told in statuses.items() if told.status == 403}
    assert turned_away == NOT_FOR_AGENTS | {"POST /tools/execute"}
    assert statuses["GET /tools/{tool_id}"].status == 404
    assert statuses["GET /tools/executions"].body["executions"] == []
    for route, told in statuses.items():
        seen = {mark for mark in owner.marks if mark in str(told.body)}
        assert seen <= set(owner.ids.values()), route
    assert rows_of(tmp_path / "handrail.db", owner.ids["project_id"]) == before


async def test_a_stream_tells_of_its_own_project_alone(
    caller: Caller, everybody: list[Belongings]
) -> None:
    ada, adas_other, bob, _ = [one.home for one in everybody]
    async with (
        caller.listen(ada, ada.secrets[Role.USER]) as first,
        caller.listen(adas_other, ada.secrets[Role.USER]) as second,
        caller.listen(bob, bob.secrets[Role.CLIENT]) as third,
    ):
        asked: dict[str, list[str]] = {}
        for number in range(5):
            for home in (ada, adas_other, bob):
                answer = await caller.ask(
                    "POST",
                    f"{base(home)}/tools/execute",
                    home.secrets[Role.AGENT],
                    json=a_body(f"read-{number}", session_id="same-name-everywhere"),
                )
                asked.setdefault(home.project.id, []).append(answer.body["tool_id"])

        for home, stream in ((ada, first), (adas_other, second), (bob, third)):
            last, told = asked[home.project.id][-1], list[Any]()
            while last not in told:
                told.append((await stream.event())[2]["tool_id"])
            calls = (await show(caller, home, "/tools/executions"))["executions"]
            assert set(told) <= {call["tool_id"] for call in calls}
            assert set(asked[home.project.id]) <= set(told)

"""How far a yes reaches: once, for a class of calls, or for a whole session."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import WHOLE_SESSION, Card, Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig

NO = Choice(approved=False)
GIT = "execute_command"


REPOSITORY = "notes"


def git(*words: str) -> dict[str, Any]:
    return {"command": "git", "args": ["-C", REPOSITORY, *words]}


def a_repository(standing: Rig) -> Path:
    """A new repository in the workspace, with one file that is not staged."""
    folder = standing.workspace / REPOSITORY
    subprocess.run(["git", "init", "-q", folder], check=True)
    for key, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
        subprocess.run(["git", "-C", folder, "config", key, value], check=True)
    (folder / "a.md").write_text("a\n")
    return folder


def a_write(path: str, content: str = "x\n") -> dict[str, Any]:
    return {"path": path, "content": content}


async def asked(
    standing: Rig, choice: Choice, tool: str, params: dict[str, Any], call_id: str, session: str
) -> tuple[dict[str, Any], Card]:
    """A call that a person is asked about: how it ended, and what they were shown."""
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(standing.call(tool, params, call_id, session_id=session))
        card = await standing.answer(choice)
    return asking.result(), card


async def grant_in(standing: Rig, session: str) -> dict[str, Any]:
    listed = await standing.as_person(lambda api: api.get("/grants"))
    (found,) = [grant for grant in listed["grants"] if grant["session_id"] == session]
    return found


async def decided_by(standing: Rig, card: Card) -> str:
    answered = await standing.as_person(lambda api: api.get(f"/approvals/{card.approval_id}"))
    return answered["decided_by"]


async def recorded(standing: Rig, tool_id: str) -> str:
    """By whom a call was let pass, as its lines in the record say."""
    entries = (await standing.as_person(lambda api: api.get("/audit", limit=1000)))["entries"]
    lines = [json.loads(line["details"]) for line in entries if line["subject"] == tool_id]
    (found,) = {line["approved_by"] for line in lines if line.get("approved_by")}
    return found


def warnings_on(card: Card) -> dict[Scope, str | None]:
    return {offer.scope: offer.warning for offer in card.offers}


@pytest.mark.behaviour("scope.once")
async def test_a_yes_for_one_call_leaves_the_next_one_asked(standing: Rig) -> None:
    yes = Choice(approved=True, scope=Scope.ONCE)
    first, card = await asked(standing, yes, "write_file", a_write("once.md"), "call-1", "once")
    other = a_write("once.md", "y\n")
    second, again = await asked(standing, NO, "write_file", other, "call-2", "once")

    assert (first["status"], first["scope"]) == ("completed", "once")
    assert first["approved_by"] == await decided_by(standing, card)
    assert again.approval_id != card.approval_id
    assert second["status"] == "rejected"
    listed = await standing.as_person(lambda api: api.get("/grants"))
    assert "once" not in [grant["session_id"] for grant in listed["grants"]]


@pytest.mark.behaviour("scope.class")
async def test_a_yes_for_a_class_of_git_commands_lets_its_like_pass_and_no_other(
    standing: Rig,
) -> None:
    yes = Choice(approved=True, scope=Scope.CLASS)
    repository = a_repository(standing)
    first, card = await asked(standing, yes, GIT, git("add", "a.md"), "call-1", "class")
    second = await standing.call(GIT, git("commit", "-m", "x"), "call-2", session_id="class")
    (repository / "a.md").write_text("not kept anywhere\n")
    lossy = git("checkout", "--", "a.md")
    other, loss = await asked(standing, NO, GIT, lossy, "call-3", "class")
    elsewhere, _ = await asked(standing, NO, GIT, git("tag", "v1"), "call-4", "another-class")

    grant = await grant_in(standing, "class")
    words = [offer.words for offer in card.offers][1]
    assert words.startswith("git commands that change only this repository")
    assert warnings_on(card)[Scope.CLASS] is None
    assert (first["status"], first["scope"]) == ("completed", "class")
    assert (second["status"], second["scope"]) == ("completed", "class")
    assert second["approval_id"] is None
    assert second["approved_by"] == await recorded(standing, second["tool_id"]) == grant["grant_id"]
    assert (other["status"], elsewhere["status"]) == ("rejected", "rejected")
    assert Scope.CLASS not in warnings_on(loss)
    assert (repository / "a.md").read_text() == "not kept anywhere\n"


@pytest.mark.behaviour("scope.session")
async def test_a_yes_for_a_whole_session_is_warned_of_and_named_in_each_record(
    standing: Rig,
) -> None:
    yes = Choice(approved=True, scope=Scope.SESSION)
    first, card = await asked(standing, yes, "write_file", a_write("all.md"), "call-1", "session")
    later = [
        await standing.call("write_file", a_write("else.md"), "call-2", session_id="session"),
        await standing.call("write_file", a_write("src/x.py"), "call-3", session_id="session"),
    ]
    forbidden = await standing.call(GIT, {"command": "sudo"}, "call-4", session_id="session")
    change = a_write("all.md", "y\n")
    other, _ = await asked(standing, NO, "write_file", change, "call-5", "next-session")

    grant = await grant_in(standing, "session")
    assert warnings_on(card)[Scope.SESSION] == WHOLE_SESSION
    assert first["scope"] == "session"
    for call in later:
        assert (call["status"], call["scope"]) == ("completed", "session")
        assert call["approved_by"] == grant["grant_id"]
        assert await recorded(standing, call["tool_id"]) == grant["grant_id"]
    assert (forbidden["status"], forbidden["error_type"]) == ("failed", "denied")
    assert other["status"] == "rejected"

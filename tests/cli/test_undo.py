"""`handrail undo`: what it lists, asks, and tells, in its own process and before a real server."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig
from tests.journeys.conftest import rig as rig
from tests.terminal import Terminal

YES = Choice(approved=True)


async def write(rig: Rig, path: str) -> str:
    call = asyncio.create_task(
        rig.call("write_file", {"path": path, "content": "new\n"}, path.replace("/", "-"))
    )
    await rig.answer(YES)
    return (await call)["tool_id"]


@pytest.mark.behaviour("undo.command-line")
async def test_calls_are_listed_and_undone_one_by_one(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("old\n")
    rig.start_server()
    rig.start_client()
    here = ("--workspace", str(rig.workspace))
    assert "No call has changed a file" in rig.run("undo", *here).stdout
    tool_id = await write(rig, "a.txt")

    listed = rig.run("undo", *here).stdout
    undone = rig.run("undo", tool_id[-8:], *here)
    again = json.loads(rig.run("undo", tool_id, "--json", *here).stdout)
    shown = rig.run("executions", "show", tool_id, *here).stdout

    assert tool_id[-8:] in listed
    assert "a.txt" in listed
    assert (undone.returncode, undone.stdout) == (0, f"{tool_id[-8:]}  undone: a.txt\n")
    assert again["calls"][0]["status"] == "undone_before"
    assert "undone" in shown
    assert (rig.workspace / "a.txt").read_text() == "old\n"


@pytest.mark.behaviour("undo.command-line")
async def test_a_session_is_undone_after_a_question_or_with_yes(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()
    here = ("--workspace", str(rig.workspace))
    session = ("undo", "--session", "journey")
    first, last = await write(rig, "src/a.txt"), await write(rig, "b.txt")
    (rig.workspace / "src/a.txt").write_text("by a person\n")

    unasked = rig.run(*session, *here)
    assert (unasked.returncode, unasked.stdout) == (1, "")
    assert "use --yes" in unasked.stderr
    assert (rig.workspace / "b.txt").exists()
    told = rig.run(*session, "--yes", *here)

    assert told.returncode == 1
    assert told.stdout.splitlines() == [
        f"{last[-8:]}  undone: b.txt",
        f"{first[-8:]}  not undone: src/a.txt has other content now; nothing was undone",
    ]
    assert Path(rig.workspace / "src/a.txt").read_text() == "by a person\n"


@pytest.mark.behaviour("undo.command-line")
@pytest.mark.parametrize(("answer", "is_undone"), [("n", False), ("y", True)])
async def test_at_a_terminal_the_files_of_a_session_are_shown_before_the_question(
    rig: Rig, answer: str, is_undone: bool
) -> None:
    rig.start_server()
    rig.start_client()
    await write(rig, "a.txt")
    words = ("undo", "--session", "journey")
    environment = {**os.environ, "HANDRAIL_HOME": str(rig.home)}
    with Terminal(*words, cwd=rig.workspace, env=environment) as terminal:
        terminal.expect("a.txt")
        terminal.expect("Undo them?")
        terminal.type(f"{answer}\n", after_seconds=0.1)
        assert terminal.wait() == (0 if is_undone else 1)
    assert (rig.workspace / "a.txt").exists() is not is_undone


async def test_a_call_and_a_session_at_once_are_refused(rig: Rig) -> None:
    told = rig.run("undo", "abc", "--session", "journey", "--workspace", str(rig.workspace))
    assert told.returncode == 1
    assert "either a call or --session" in told.stderr

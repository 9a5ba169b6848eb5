"""A command that a person decides about is bound to the bytes it runs, across three processes."""

import asyncio
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig

pytestmark = pytest.mark.usefixtures("asks_beforehand")

YES = Choice(approved=True)


async def decide(
    rig: Rig, tool: str, params: dict[str, Any], meanwhile: Callable[[], object] | None = None
) -> tuple[dict[str, Any], Card]:
    """What comes of a call that is approved; something may happen while the question is open."""
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call(tool, params, call_id=uuid4().hex))
        await rig.question()
        if meanwhile is not None:
            meanwhile()
        card = await rig.answer(YES)
    return asking.result(), card


@pytest.mark.behaviour("command.bound")
async def test_a_script_runs_as_it_was_when_the_person_was_asked_or_not_at_all(rig: Rig) -> None:
    script = rig.workspace / "x.py"
    script.write_text("print('as it was')\n")
    short = hashlib.sha256(script.read_bytes()).hexdigest()[:12]
    rig.start_server()
    rig.start_client()
    params = {"command": "python3", "args": ["x.py", "--all"]}

    answer, card = await decide(rig, "execute_command", params)
    assert (answer["status"], answer["result"]["stdout"]) == ("completed", "as it was\n")
    assert "runs     python3 x.py --all" in card.evidence
    assert (
        f"pinned   x.py must not change before it runs (sha256 {short}…, 19 bytes)" in card.evidence
    )

    def change() -> None:
        script.write_text("open('proof', 'w')\n")

    answer, _ = await decide(rig, "execute_command", params, change)
    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert answer["error"] == (
        "changed since the call was checked: the file x.py; nothing was done"
    )
    assert not (rig.workspace / "proof").exists()
    rig.assert_told_once_and_provable(calls=2)


@pytest.mark.behaviour("command.bound")
async def test_what_the_words_name_is_as_it_was_too_unless_a_step_before_writes_it(
    rig: Rig,
) -> None:
    (rig.workspace / "x.py").write_text("import sys\nprint(open(sys.argv[1]).read())\n")
    (rig.workspace / "data").write_text("as it was")
    rig.start_server()
    rig.start_client()
    params = {"command": "python3", "args": ["x.py", "data"]}

    answer, card = await decide(
        rig, "execute_command", params, lambda: (rig.workspace / "data").write_text("another")
    )
    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert "pinned   data must not change before it runs (sha256 " in card.evidence
    assert "unpinned it may load other files, as they are when it runs" in card.evidence

    (rig.workspace / "more").write_text("newly written")
    line = {"command": "cp more data && python3 x.py data"}
    answer, card = await decide(rig, "run_bash", line)
    assert (answer["status"], answer["result"]["stdout"]) == ("completed", "newly written\n")
    assert "unpinned an earlier part of the line may change files" in card.evidence


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("command.bound")
async def test_a_commit_records_what_was_staged_when_the_person_was_asked(rig: Rig) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=rig.workspace, check=True)

    git("init", "-qb", "main")
    (rig.workspace / "a.txt").write_text("shown")
    (rig.workspace / "b.txt").write_text("not shown")
    git("add", "a.txt")
    rig.start_server()
    rig.start_client()
    params = {"action": "commit", "args": ["-m", "first"]}

    answer, card = await decide(rig, "git", params, lambda: git("add", "b.txt"))

    assert "pinned   staged: A a.txt" in card.evidence
    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert answer["error"] == (
        "changed since the call was checked: the changes since the last commit; nothing was done"
    )


def a_program(path: Path, code: str) -> None:
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)


@pytest.mark.behaviour("command.bound-line")
async def test_a_line_is_bound_to_its_programs_and_to_the_names_it_stands_for(rig: Rig) -> None:
    program = rig.workspace / "run.sh"
    a_program(program, 'echo "$@" > proof')
    (rig.workspace / "a.txt").touch()
    rig.start_server()
    rig.start_client()
    params = {"command": "./run.sh *.txt"}

    answer, card = await decide(rig, "run_bash", params, (rig.workspace / "b.txt").touch)
    assert answer["error"] == (
        "changed since the call was checked: the commands that run, the file b.txt;"
        " nothing was done"
    )
    assert "runs     ./run.sh ./a.txt" in card.evidence

    answer, _ = await decide(rig, "run_bash", params, lambda: a_program(program, "echo >proof"))
    assert answer["error"] == (
        "changed since the call was checked: the program run.sh, the file run.sh; nothing was done"
    )
    assert not os.path.exists(rig.workspace / "proof")

    answer, _ = await decide(rig, "run_bash", params)
    assert answer["status"] == "completed"


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("command.bound-shown")
async def test_approvals_show_names_the_files_that_a_command_is_bound_to(rig: Rig) -> None:
    a_program(rig.workspace / "run.sh", "echo")
    rig.start_server()
    rig.start_client()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("run_bash", {"command": "./run.sh 1 && date"}))
        card = await rig.question()
        words = ("approvals", "show", card.approval_id, "--workspace", str(rig.workspace))
        shown = await asyncio.to_thread(rig.run, *words)
        await rig.answer(YES)
    assert asking.result()["status"] == "completed"
    lines = [line.strip() for line in shown.stdout.splitlines()]
    short = hashlib.sha256(b"#!/bin/sh\necho\n").hexdigest()[:12]
    assert "runs     ./run.sh 1" in lines
    pinned = f"pinned   run.sh must not change before it runs (sha256 {short}…,"
    assert any(line.startswith(pinned) for line in lines)
    assert "pinned   /usr/bin/date, a program of the system" in lines
    assert lines.count("box      can write to this folder except .git; no network") == 1


@pytest.mark.behaviour("grant.bound")
async def test_a_grant_for_a_script_is_for_its_words_and_its_content(rig: Rig) -> None:
    script = rig.workspace / "x.py"
    script.write_text("print('one')\n")
    rig.start_server()
    rig.start_client()
    params = {"command": "python3", "args": ["x.py"]}

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", params, "call-1"))
        card = await rig.answer(Choice(approved=True, scope=Scope.CLASS))
    assert asking.result()["status"] == "completed"
    assert [offer.words for offer in card.offers][1] == (
        "exactly `python3 x.py`, until x.py changes (other files it loads may change),"
        " for the rest of this session"
    )

    again = await rig.call("execute_command", params, "call-2")
    assert (again["status"], again["scope"]) == ("completed", "class")

    other = {"command": "python3", "args": ["x.py", "--else"]}
    _, card = await decide(rig, "execute_command", other)
    assert card.offers[1].past_calls == 0

    script.write_text("print('two')\n")
    answer, card = await decide(rig, "execute_command", params)
    assert (answer["scope"], answer["result"]["stdout"]) == ("once", "two\n")

    script.write_text("print('one')\n")
    third = await rig.call("execute_command", params, "call-3")
    assert (third["scope"], third["result"]["stdout"]) == ("class", "one\n")

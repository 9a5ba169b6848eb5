"""A project's own virtual environment works through every step of a call, by both tools."""

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Choice
from handrail.core.grant import Scope
from handrail.executors.processes.programs import SEARCH_PATH
from tests.journeys.conftest import Rig
from tests.journeys.test_bound import decide

SYSTEM = Path("/usr/bin/python3")
LEADS_OUT = "leads out of the workspace"

pytestmark = [
    pytest.mark.skipif(not SYSTEM.exists(), reason="the system has no Python"),
    pytest.mark.usefixtures("asks_beforehand"),
]


def make_environment(root: Path) -> None:
    command = [str(SYSTEM), "-m", "venv", "--without-pip", str(root / ".venv")]
    subprocess.run(command, check=True, timeout=60)


@pytest.mark.behaviour("command.environment")
@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("execute_command", {"command": ".venv/bin/python", "args": ["x.py"]}),
        ("run_bash", {"command": ".venv/bin/python x.py"}),
        ("run_bash", {"command": "timeout 20 .venv/bin/python x.py"}),
    ],
)
async def test_an_environments_own_python_runs_once_a_person_says_so(
    rig: Rig, tool: str, params: dict[str, Any]
) -> None:
    make_environment(rig.workspace)
    (rig.workspace / "x.py").write_text("import sys\nprint(sys.prefix)\n")
    rig.start_server()
    rig.start_client()

    answer, card = await decide(rig, tool, params)

    assert answer["error"] is None
    if "timeout" not in params["command"]:
        assert "pinned   .venv/bin/python, a program of the system" in card.evidence
        assert card.evidence.count("unpinned") == card.evidence.count("unpinned it may load") == 1
    assert answer["result"]["stdout"] == f"{rig.workspace / '.venv'}\n"


@pytest.mark.behaviour("command.environment")
async def test_its_links_stay_closed_to_everything_else(rig: Rig) -> None:
    make_environment(rig.workspace)
    (rig.workspace / ".venv/bin/tool").symlink_to("/usr/bin/env")
    rig.start_server()
    rig.start_client()
    lines = [
        "cat .venv/bin/python",
        ".venv/bin/python .venv/bin/python",
        "cat .venv/bin/python && .venv/bin/python x.py",
        ".venv/bin/tool x.py",
        "cd .venv/bin && ./tool x.py",
    ]
    for number, line in enumerate(lines):
        answer = await rig.call("run_bash", {"command": line}, call_id=f"call-{number}")
        assert answer["status"] == "failed"
        assert LEADS_OUT in answer["error"], line


def plant(path: Path, words: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {words} $0\n")
    path.chmod(0o755)


needs_no_pytest = pytest.mark.skipif(
    any(Path(folder, "pytest").exists() for folder in SEARCH_PATH), reason="the system has a pytest"
)


@needs_no_pytest
@pytest.mark.behaviour("command.workspace-program")
@pytest.mark.parametrize(
    ("tool", "params", "where"),
    [
        ("execute_command", {"command": "pytest", "args": ["-q"]}, ".venv/bin/pytest"),
        ("run_bash", {"command": "cd sub && pytest -q | cat"}, "{root}/.venv/bin/pytest"),
    ],
)
async def test_a_projects_program_runs_by_its_name_and_is_judged_and_bound_by_its_path(
    rig: Rig, tool: str, params: dict[str, Any], where: str
) -> None:
    plant(own := rig.workspace / ".venv/bin/pytest", "ran")
    (rig.workspace / "sub").mkdir()
    rig.start_server()
    rig.start_client()
    spelt = where.format(root=rig.workspace)

    answer, card = await decide(rig, tool, params)

    assert answer["result"]["stdout"].startswith("ran ")
    assert answer["result"]["stdout"].strip().endswith(".venv/bin/pytest")
    assert f"{spelt} -q" in card.evidence
    assert ".venv/bin/pytest must not change before it runs (sha256" in card.evidence
    assert any(re.match(r"runs (/|\.venv)", reason) for reason in card.reasons)

    answer, _ = await decide(rig, tool, params, lambda: plant(own, "changed"))
    assert answer["error_type"] == "stale"


@needs_no_pytest
@pytest.mark.behaviour("command.workspace-program")
async def test_a_grant_for_a_projects_program_ends_when_the_program_changes(rig: Rig) -> None:
    plant(own := rig.workspace / ".venv/bin/pytest", "ran")
    rig.start_server()
    rig.start_client()
    params = {"command": "pytest", "args": ["-q"]}
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", params, call_id="first"))
        card = await rig.answer(Choice(approved=True, scope=Scope.CLASS))
    assert asking.result()["status"] == "completed"
    assert "until the workspace's program changes" in card.offers[1].words

    passed = await rig.call("execute_command", params, call_id="second")
    assert passed["result"]["stdout"].startswith("ran ")

    plant(own, "changed")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("execute_command", params, call_id="third"))
        await rig.answer(Choice(approved=False))
    assert asking.result()["status"] == "rejected"


@pytest.mark.behaviour("command.workspace-program")
async def test_a_planted_program_never_stands_in_for_one_that_runs_without_a_question(
    rig: Rig,
) -> None:
    for folder in (".venv/bin", "node_modules/.bin"):
        for name in ("ls", "cat", "git", "env", "sh", "own-tool"):
            plant(rig.workspace / folder / name, "planted")
    rig.start_server()
    rig.start_client()
    looks = [
        ("execute_command", {"command": "ls"}),
        ("run_bash", {"command": "ls | cat"}),
        ("run_bash", {"command": "git --version"}),
    ]
    for number, (tool, params) in enumerate(looks):
        answer = await rig.call(tool, params, call_id=f"look-{number}")
        assert answer["status"] == "completed"
        assert "planted" not in answer["result"]["stdout"]


@pytest.mark.behaviour("command.workspace-program")
async def test_what_make_starts_is_the_projects_program_first(rig: Rig) -> None:
    (rig.workspace / "Makefile").write_text("all:\n\t@python3\n")
    plant(rig.workspace / ".venv/bin/python3", "planted")
    rig.start_server()
    rig.start_client()

    answer, _ = await decide(rig, "run_bash", {"command": "make"})

    assert answer["result"]["stdout"].startswith("planted")


@needs_no_pytest
@pytest.mark.behaviour("command.workspace-program")
@pytest.mark.parametrize(
    "line", ["env pytest x.py", "timeout 5 pytest", "./script", "for i in 1; do pytest; done"]
)
async def test_no_other_program_starts_one_of_the_workspace_by_its_name(
    rig: Rig, line: str
) -> None:
    """A link in the workspace could lead to a shell, which the card would not have shown."""
    (rig.workspace / ".venv/bin").mkdir(parents=True)
    (rig.workspace / ".venv/bin/pytest").symlink_to("/bin/echo")
    plant(rig.workspace / "node_modules/.bin/pytest", "planted")
    (rig.workspace / "script").write_text("#!/usr/bin/env pytest\n")
    (rig.workspace / "script").chmod(0o755)
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("run_bash", {"command": line}))
        approving = group.create_task(rig.answer(Choice(approved=True)))
        answer = await asking
        approving.cancel()

    result: dict[str, Any] = answer["result"] or {"exit_code": 127, "stdout": ""}
    assert result["exit_code"] == 127
    assert "planted" not in result["stdout"]

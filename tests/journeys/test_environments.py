"""A project's own virtual environment works through every step of a call, by both tools."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import Rig
from tests.journeys.test_bound import decide

SYSTEM = Path("/usr/bin/python3")
LEADS_OUT = "leads out of the workspace"

pytestmark = pytest.mark.skipif(not SYSTEM.exists(), reason="the system has no Python")


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
        link = rig.workspace / ".venv/bin/python"
        assert f"{link}, a link to the program {SYSTEM.resolve()}" in card.evidence
        assert card.evidence.count("unbound") == card.evidence.count("unbound  what it loads") == 1
        assert "a program of the system" not in card.evidence
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

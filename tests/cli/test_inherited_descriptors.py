"""A folder that was open in the shell that started Handrail stays closed to what it runs."""

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Shell, ended_well

ASK = """
import asyncio, json, sys
from pathlib import Path
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.client.api import HandrailApi

async def main(wait):
    known = Home(load_settings().home).get_credentials(Path.cwd())
    async with HandrailApi(known.server, known.project_id, known.agent_token) as api:
        answer = await api.execute(
            "run_bash", {"command": "./escape.sh"},
            session_id="s", call_id="escape", reasoning="r", wait=float(wait),
        )
        while answer["status"] == "pending":
            await asyncio.sleep(0.05)
            answer = await api.get("/tools/" + answer["tool_id"])
        print(json.dumps(answer))

asyncio.run(main(sys.argv[1]))
"""
# The shell says what the kernel says of a number that is no open descriptor: EBADF.
ESCAPE = """#!/bin/sh
exec 2>&1
cat /proc/self/fd/7/secret.txt
(exec 8<&7)
echo x > /proc/self/fd/7/owned.txt
echo tried
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "person"
    folder.mkdir()
    (folder / "secret.txt").write_text("hush")
    return folder


@pytest.fixture
def shell_with_a_folder_open(shell: Shell, home: Path) -> Generator[Shell]:
    """As by `exec 7<~; handrail up`."""
    shell.home.mkdir(mode=0o700)
    (shell.home / "policy.toml").write_text('[policy]\ncommands = "ask"\n')
    line = 'exec 7<"$1"; shift; exec "$@"'
    words = [sys.executable, "-m", "handrail", "up", "--port", "0"]
    with subprocess.Popen(
        ["sh", "-c", line, "sh", str(home), *words],
        cwd=shell.workspace,
        env=shell.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert any("Stop with Ctrl+C" in said for said in process.stdout)
            yield shell
        finally:
            process.terminate()
            process.communicate(timeout=30)


def ask(shell: Shell, wait: int) -> Any:
    words = [sys.executable, "-c", ASK, str(wait)]
    told = subprocess.run(
        words, cwd=shell.workspace, env=shell.environment, capture_output=True, check=True
    )
    return json.loads(told.stdout)


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("box.no-inherited-descriptors")
def test_an_approved_command_cannot_leave_its_box_by_it(
    shell_with_a_folder_open: Shell, home: Path
) -> None:
    shell = shell_with_a_folder_open
    script = shell.workspace / "escape.sh"
    script.write_text(ESCAPE)
    script.chmod(0o755)

    call = ask(shell, 0)
    assert call["status"] == "awaiting_approval"
    ended_well(shell.run("approvals", "approve", call["approval_id"]))
    said = json.dumps(ask(shell, 20))

    assert "tried" in said
    assert "7: Bad file descriptor" in said
    assert "hush" not in said
    assert not (home / "owned.txt").exists()

"""`handrail up`: from an empty folder to a proven record, and a good end."""

import json
import re
import signal
import socket
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Shell, ended_well

READY = "Stop with Ctrl+C"


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str, str]:
    """Tell a process to stop; it has five seconds."""
    process.send_signal(number)
    said, complained = process.communicate(timeout=5)
    return process.returncode, said, complained


def test_a_first_journey(shell: Shell) -> None:
    (shell.workspace / "README.md").write_text("# Hello\n\nworld\n")

    def told(*words: str) -> Any:
        return json.loads(ended_well(shell.run(*words, "--json")))

    process, said = shell.start("up", "--port", "0", until=READY)
    tour = told("tour")
    calls = told("executions")
    tools = told("tools")
    people = ended_well(shell.run("tour"))
    code, farewell, complaints = end(process, signal.SIGTERM)
    # The record can be read and proven while no server runs.
    whole = told("audit", "verify")
    record = told("audit", "show")

    assert re.fullmatch(r"Handrail is running at http://127\.0\.0\.1:\d+", said[0])
    assert f"  workspace  {shell.workspace}" in said
    assert [(call["status"], call["error_type"], call["risk_level"]) for call in tour] == [
        ("completed", None, "LOW"),
        ("failed", "denied", "FORBIDDEN"),
        ("failed", "denied", "FORBIDDEN"),
    ]
    assert tour[0]["result"]["content"] == "# Hello\n\nworld\n"
    assert calls["executions"] == tour[::-1]
    assert [tool["name"] for tool in tools["tools"]] == ["read_file"]
    assert "the agent gets   completed: # Hello" in people
    assert "the agent gets   failed: '.env' is refused" in people
    assert (code, "Handrail has stopped" in farewell) == (0, True)
    assert "Traceback" not in complaints
    assert (whole["whole"], whole["broken"]) == (True, None)
    assert whole["lines"] == len(record) == 1 + 2 * 4  # Two tours: three calls, one of them ended.
    assert [line["action"] for line in record[:5]] == [
        "project.created",
        "call.proposed",
        "call.ended",
        "call.proposed",
        "call.proposed",
    ]


def test_a_record_that_was_touched_is_found_out(shell: Shell) -> None:
    process, _ = shell.start("up", "--port", "0", until=READY)
    ended_well(shell.run("tour", "--json"))
    end(process, signal.SIGTERM)
    with sqlite3.connect(shell.home / "handrail.db") as database:
        database.execute("DROP TRIGGER audit_no_update")
        database.execute("UPDATE audit SET actor = 'somebody else' WHERE seq = 2")
    database.close()

    people = shell.run("audit", "verify")
    program = shell.run("audit", "verify", "--json")

    assert (people.returncode, people.stdout) == (1, "broken: line 2 does not match its hash\n")
    assert program.returncode == 1
    assert json.loads(program.stdout)["broken"] == "line 2 does not match its hash"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_signal_ends_it_well(shell: Shell, number: signal.Signals) -> None:
    process, _ = shell.start("up", "--port", "0", until=READY)

    code, said, complaints = end(process, number)

    assert code == 0
    assert "Handrail has stopped" in said
    assert complaints == ""


def test_started_again_it_knows_the_folder(shell: Shell) -> None:
    projects: list[str] = []
    for _ in range(2):
        process, said = shell.start("up", "--port", "0", until=READY)
        end(process, signal.SIGTERM)
        projects += [line for line in said if line.startswith("  project")]

    assert projects == [projects[0]] * 2


def test_a_port_that_is_in_use_is_said_to_be(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        line = shell.refused("up", "--port", port)

    assert line == (
        f"port {port} is in use; stop what listens there, or choose another with --port"
    )


def test_a_second_one_on_the_same_home_is_refused(shell: Shell) -> None:
    shell.start("up", "--port", "0", until=READY)

    assert "another Handrail server is running" in shell.refused("up", "--port", "0")


def test_what_cannot_work_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    assert "is not a folder" in shell.refused("up", str(tmp_path / "none"), "--port", "0")
    assert "is not a folder" in shell.refused("up", str(tmp_path / "file"), "--port", "0")
    assert "holds Handrail's own folder" in shell.refused("up", str(tmp_path), "--port", "0")
    assert "cannot make" in shell.refused("up", "--home", str(tmp_path / "file"), "--port", "0")
    assert "can be reached from other machines" in shell.refused("up", HANDRAIL_HOST="0.0.0.0")
    assert "it must be a number up to 65535" in shell.refused("up", HANDRAIL_PORT="http")

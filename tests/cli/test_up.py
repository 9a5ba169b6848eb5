"""`handrail up`: from an empty folder to a proven record, and a good end."""

import json
import re
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handrail.executors.sandbox.probe import find_programs, prove
from tests.cli.conftest import Shell, ended_well, refused
from tests.conftest import TOOL_NAMES
from tests.forge import Forged


@dataclass(frozen=True)
class Journey:
    """What was said on the way, by whom."""

    workspace: Path
    greeting: list[str]
    tour: Any
    tour_for_people: str
    executions: Any
    tools: Any
    second_server: str
    terminated: tuple[int, str, str]
    proof: Any
    record: Any
    greeting_again: list[str]
    interrupted: tuple[int, str, str]
    broken_for_people: subprocess.CompletedProcess[str]
    broken: subprocess.CompletedProcess[str]


def end(process: Forged, number: signal.Signals) -> tuple[int, str, str]:
    """Tell a process to stop."""
    process.send_signal(number)
    said, complained = process.communicate(timeout=20)
    return process.wait(), said, complained


def tamper(database: Path) -> None:
    opened = sqlite3.connect(database)
    with opened:
        opened.execute("DROP TRIGGER audit_no_update")
        opened.execute("UPDATE audit SET actor = 'somebody else' WHERE seq = 2")
    opened.close()


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Generator[Journey]:
    """Made once, because every step is a process."""
    shell = Shell(tmp_path_factory.mktemp("journey"))
    (shell.workspace / "README.md").write_text("# Hello\n\nworld\n")

    def read(process: subprocess.CompletedProcess[str]) -> Any:
        return json.loads(ended_well(process))

    try:
        process, greeting = shell.start_up()
        tour = read(shell.run("tour", "--auto", "--json"))
        executions, tools, second_server = shell.run_all(
            "executions --json", "tools --json", "up --port 0"
        )
        tour_for_people = ended_well(shell.run("tour", "--auto"))
        terminated = end(process, signal.SIGTERM)
        proof, record = shell.run_all("audit verify --json", "audit show --json --limit 100")
        process, greeting_again = shell.start_up()
        interrupted = end(process, signal.SIGINT)
        tamper(shell.home / "handrail.db")
        broken_for_people, broken = shell.run_all("audit verify", "audit verify --json")
        yield Journey(
            workspace=shell.workspace,
            greeting=greeting,
            tour=tour,
            tour_for_people=tour_for_people,
            executions=read(executions),
            tools=read(tools),
            second_server=refused(second_server),
            terminated=terminated,
            proof=read(proof),
            record=read(record),
            greeting_again=greeting_again,
            interrupted=interrupted,
            broken_for_people=broken_for_people,
            broken=broken,
        )
    finally:
        shell.stop_all()


def test_it_says_where_it_runs_and_for_which_folder(journey: Journey) -> None:
    assert re.fullmatch(r"Handrail is running at http://127\.0\.0\.1:\d+", journey.greeting[0])
    assert f"  workspace  {journey.workspace}" in journey.greeting


def test_the_tour_reads_writes_is_refused_a_command_and_forbidden_another(
    journey: Journey,
) -> None:
    assert [(call["status"], call["error_type"], call["risk_level"]) for call in journey.tour] == [
        ("completed", None, "LOW"),
        ("completed", None, "HIGH"),
        ("rejected", None, "MEDIUM" if prove(find_programs()).holds else "HIGH"),
        ("failed", "denied", "FORBIDDEN"),
    ]
    assert journey.tour[0]["result"]["content"] == "# Hello\n\nworld\n"
    assert journey.tour[3]["error"].startswith("Command not allowed: rm")
    written = json.loads((journey.workspace / "handrail-tour/config.json").read_text())
    assert written["greeting"] == "hello"


def test_the_tour_tells_people_the_same(journey: Journey) -> None:
    assert "the agent gets   completed: # Hello" in journey.tour_for_people
    assert "the person says  approved" in journey.tour_for_people
    assert "refused this call: this project needs no web framework" in journey.tour_for_people
    assert "the agent gets   failed: Command not allowed: rm" in journey.tour_for_people


def test_every_call_of_the_tour_is_listed(journey: Journey) -> None:
    assert journey.executions["executions"] == journey.tour[::-1]
    assert [tool["name"] for tool in journey.tools["tools"]] == TOOL_NAMES


def test_the_record_is_whole_and_can_be_proven_while_no_server_runs(journey: Journey) -> None:
    a_read = ["call.proposed", "call.ended"]
    a_write = ["call.proposed", "call.surveyed", "approval.approved", "call.claimed", "call.ended"]
    a_refusal = ["call.proposed", "call.surveyed", "approval.rejected"]
    a_tour = [*a_read, *a_write, *a_refusal, "call.proposed"]
    actions = [line["action"] for line in journey.record]
    lines = len(actions)
    proof = {name: journey.proof[name] for name in ("whole", "lines", "sealed_through", "broken")}
    assert proof == {"whole": True, "lines": lines, "sealed_through": lines, "broken": None}
    # Where rehearsals work, the client adds that to what keeps commands in.
    of_calls = [action for action in actions if action != "workspace.walls_changed"]
    assert of_calls == ["project.created", *a_tour * 2]


def test_a_record_that_was_touched_is_found_out(journey: Journey) -> None:
    assert (journey.broken_for_people.returncode, journey.broken_for_people.stdout) == (
        1,
        "broken: line 2 does not match its hash\n",
    )
    assert journey.broken.returncode == 1
    told = json.loads(journey.broken.stdout)
    assert (told["whole"], told["lines"]) == (False, 1)
    assert told["broken"] == "line 2 does not match its hash"


def test_a_second_one_in_the_same_folder_names_the_address_and_the_console(
    journey: Journey,
) -> None:
    address = journey.greeting[0].rpartition(" ")[2]
    assert journey.second_server == (
        f"Handrail is already running for {journey.workspace} at {address}. `handrail console`"
        " opens it in the browser, `handrail approvals watch` in a terminal"
    )


def test_in_a_second_folder_it_joins_the_server_that_is_running(
    shell: Shell, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _, greeting = shell.start_up()
    address = greeting[0].rpartition(" ")[2]

    with_port = refused(shell.run("up", str(other), "--port", "0"))
    _, said = shell.start("up", str(other), until="connected to")
    tour = shell.run("tour", "--auto", "--json", "--workspace", str(other))

    assert "a Handrail server is already running" in with_port
    assert said[0] == f"Handrail is already running at {address}; joining it."
    assert json.loads(ended_well(tour))[1]["status"] == "completed"
    assert (other / "handrail-tour/config.json").exists()


def test_it_ends_well_when_it_is_told_to(journey: Journey) -> None:
    for code, said, _ in (journey.terminated, journey.interrupted):
        assert code == 0
        assert "Handrail has stopped" in said


def test_it_complains_of_what_was_blocked_and_of_nothing_else(journey: Journey) -> None:
    complaints = [json.loads(line) for line in journey.terminated[2].splitlines()]

    assert [(line["level"], line["event"]) for line in complaints] == [
        ("warning", "call.denied")
    ] * 2
    assert journey.interrupted[2] == ""


def test_started_again_it_knows_the_folder(journey: Journey) -> None:
    def project(greeting: list[str]) -> list[str]:
        return [line for line in greeting if line.startswith("  project")]

    assert project(journey.greeting_again) == project(journey.greeting) != []


def test_a_port_that_is_in_use_is_said_to_be(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        line = refused(shell.run("up", "--port", port))

    assert line == (
        f"port {port} is in use; stop what listens there, or choose another with --port"
        " (`HANDRAIL_PORT=8010 make run`, where make starts it)"
    )


def test_what_cannot_work_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    home_inside = shell.run("up", str(tmp_path), "--port", "0")
    too_open = shell.run("up", HANDRAIL_HOST="0.0.0.0")

    assert "contains Handrail's own folder" in refused(home_inside)
    assert "can be reached from other machines" in refused(too_open)


def test_a_database_that_is_none_is_told_in_one_line(shell: Shell) -> None:
    shell.home.mkdir()
    (shell.home / "handrail.db").write_bytes(b"garbage" * 100)
    refused(shell.run("up", "--port", "0"))


def test_a_tour_of_nowhere_is_told_in_one_line(shell: Shell) -> None:
    refused(shell.run("tour", "--workspace", "/nonexistent"))


def test_when_it_says_ready_it_can_be_stopped(shell: Shell) -> None:
    process, _ = shell.start("up", "--port", "0", until="Stop with Ctrl+C")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode == 0


def test_the_command_it_prints_can_be_copied_whole(shell: Shell) -> None:
    deep = shell.workspace / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    shell.environment["COLUMNS"] = "80"
    _, said = shell.start("up", str(deep), "--port", "0", until="Stop with Ctrl+C")
    assert any(f"--workspace {deep}" in line for line in said)

"""`handrail audit`: proven here, exported, and proven elsewhere."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Shell, ended_well, refused


@pytest.mark.behaviour("audit.proves-itself")
def test_a_record_is_proven_while_the_server_runs_after_it_was_killed_and_elsewhere(
    shell: Shell, tmp_path: Path
) -> None:
    (shell.workspace / "README.md").write_text("hello\n")
    process, _ = shell.start_up()
    ended_well(shell.run("tour", "--auto", "--json"))
    export = tmp_path / "record.jsonl"
    elsewhere = tmp_path / "elsewhere"

    running = json.loads(ended_well(shell.run("audit", "verify", "--json")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed = json.loads(ended_well(shell.run("audit", "verify", "--json")))
    key = ended_well(shell.run("audit", "key")).strip()
    told = shell.run("audit", "export", "--output", str(export))
    foreign = shell.run(
        "audit", "verify", "--file", str(export), "--key", key, "--json",
        HANDRAIL_HOME=str(elsewhere),
    )  # fmt: skip
    export.write_text(export.read_text().replace("approval.approved", "approval.rejected"))
    forged = shell.run("audit", "verify", "--file", str(export), HANDRAIL_HOME=str(elsewhere))

    assert running["whole"]
    assert killed["whole"]
    assert killed["sealed_through"] >= 1
    assert told.stderr == f"{killed['lines']:,} lines are in {export}, signed.\n"
    proof = json.loads(ended_well(foreign))
    assert (proof["whole"], proof["lines"]) == (True, killed["lines"])
    assert not elsewhere.exists()
    assert forged.returncode == 1
    assert forged.stdout.startswith("broken: line ")
    assert "does not match its hash" in forged.stdout


def test_an_export_goes_to_standard_output_and_holds_no_parameter(shell: Shell) -> None:
    shell.start_up()
    ended_well(shell.run("tour", "--auto", "--json"))

    exported = ended_well(shell.run("audit", "export", "--after", "1"))

    header, *lines, sealed = map(json.loads, exported.splitlines())
    assert header["after"] == 1
    assert {line["action"] for line in lines} >= {"call.proposed", "approval.approved"}
    assert "greeting" not in exported
    assert sealed["seq"] == lines[-1]["seq"]


def test_what_cannot_be_proven_is_told_apart_from_what_is_broken(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "no-export").write_text("hello\n")
    unknown, no_file, no_export, no_key = shell.run_all(
        "audit verify",
        "audit verify --file nowhere",
        f"audit verify --file {tmp_path / 'no-export'}",
        "audit verify --key abc",
    )

    assert [done.returncode for done in (unknown, no_file, no_export, no_key)] == [2] * 4
    assert "is not set up for Handrail yet" in unknown.stderr
    assert "nowhere cannot be read" in no_file.stderr
    assert "not an exported audit log" in no_export.stderr
    assert "64 hexadecimal digits" in no_key.stderr
    assert "audit.key yet" in refused(shell.run("audit", "key"))


def test_an_export_that_cannot_be_written_leaves_nothing(shell: Shell, tmp_path: Path) -> None:
    process, _ = shell.start_up()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)

    line = refused(shell.run("audit", "export", "--output", str(tmp_path / "no" / "file")))

    assert "cannot be written" in line

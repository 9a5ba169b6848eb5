"""handrail data: take it along, and have it deleted."""

import json
import stat

from tests.cli.conftest import Shell, ended_well, refused
from tests.cli.test_memory import remember


def test_a_person_takes_everything_along_and_has_it_deleted(shell: Shell) -> None:
    process, _ = shell.start_up()
    remember(shell, "tea", "green, of course")
    out = shell.workspace / "mine.jsonl"

    exported = shell.run("data", "export", "--output", str(out))
    assert (exported.returncode, exported.stdout) == (0, "")
    assert "memory 1" in exported.stderr
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    kinds = [json.loads(line)["kind"] for line in out.read_text().splitlines()]
    assert {"person", "project", "session", "call", "memory", "audit"} < set(kinds)
    assert "is running" in refused(shell.run("data", "delete", "--all", "--yes"))

    process.terminate()
    process.communicate()
    assert "choose what to delete" in refused(shell.run("data", "delete"))
    assert "no terminal to ask at" in refused(shell.run("data", "delete", "--all"))
    deleted = json.loads(ended_well(shell.run("data", "delete", "--all", "--yes", "--json")))
    assert deleted == {"sessions": 1, "memories": 1, "copies": 0, "left": []}
    left = [json.loads(line) for line in ended_well(shell.run("data", "export")).splitlines()]
    assert not [one for one in left if one["kind"] == "memory"]
    assert [one["result"] for one in left if one["kind"] == "call"] == [None]

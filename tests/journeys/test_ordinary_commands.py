"""More than a hundred ordinary commands: how each is asked about, and that it ends as outside.

Each runs twice in the same project: by way of Handrail, approved where a person is asked, and
plainly. Exit code and files must be the same, but for the exceptions in the table.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.executors.rehearsal.another_user import start
from tests.journeys.environment import SYSTEM, same_version
from tests.journeys.ordinary.program import REFUSED, read_table

pytest_plugins = ("tests.executors.rehearsal.fixtures",)

REPOSITORY = Path(__file__).parents[2]
PROGRAM = "tests.journeys.ordinary.program"
LEAST_COMMANDS = 100
LEAST_SILENT = 40
# A secret to print, a hook and a setting that run programs, a worktree elsewhere, and curl.
MOST_REFUSED = 5
# For another user every so-many-th is enough: what differs for them is the box, not the command.
SAMPLE = 5

pytestmark = [
    pytest.mark.usefixtures("needs_box"),
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(
        not SYSTEM.exists() or not same_version(),
        reason="the system's Python cannot load the packages of the one that runs the tests",
    ),
]


def found_in(run: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    if found and "why_not" in found[0]:
        pytest.skip(found[0]["why_not"])
    return found


def faults_of(found: list[dict[str, Any]]) -> Iterator[str]:
    """What is not as the table says, in words."""
    table = {row["line"]: row for row in read_table()}
    for one in found:
        row = table[one["line"]]
        differs = row.get("differs", {})
        if one["way"] != row["way"]:
            yield f"{one['line']}: went {one['way']}, not {row['way']}: {one.get('told')}"
        if one.get("code") != one.get("plain") and "code" not in differs:
            yield f"{one['line']}: {one['code']}, plainly {one['plain']}: {one['told']}"
        if files := [path for path in one.get("differ", ()) if path not in differs]:
            yield f"{one['line']}: differs in {files}"


@pytest.mark.behaviour("rehearsal.as-outside")
def test_ordinary_commands_end_as_outside_and_most_ask_with_their_effects(tmp_path: Path) -> None:
    words = [sys.executable, "-m", PROGRAM, str(tmp_path), "1"]
    run = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    found = found_in(run)

    ways = Counter(one["way"] for one in found)
    assert [*faults_of(found)] == []
    assert len(found) >= LEAST_COMMANDS
    assert ways["silent"] >= LEAST_SILENT, ways
    assert ways[REFUSED] <= MOST_REFUSED, ways


@pytest.mark.behaviour("rehearsal.as-outside")
def test_they_do_so_for_an_ordinary_user(interpreter: str, place: Path) -> None:
    run = start([interpreter, "-m", PROGRAM, str(place), str(SAMPLE)], REPOSITORY)

    found = found_in(run)

    assert [*faults_of(found)] == []
    assert len(found) >= LEAST_COMMANDS // SAMPLE

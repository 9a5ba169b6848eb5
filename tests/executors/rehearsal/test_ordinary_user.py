"""Everything holds for an ordinary user as it does for root."""

import json
import os
from pathlib import Path

import pytest

from tests.executors.rehearsal.another_user import GROUP, USER, start
from tests.executors.rehearsal.programs import ACCOUNTS
from tests.executors.rehearsal.test_attributes import ACCESS, access_list, give
from tests.selection import ALL_POINTS

OTHER_USER = OTHER_GROUP = 64_322
HERE = Path(__file__).parent

pytest_plugins = ("tests.executors.rehearsal.fixtures",)


# Here two cases of each test, and in a soak all.
@pytest.mark.slow
@pytest.mark.points(1)
@pytest.mark.timeout(3_600 if ALL_POINTS else 600)
def test_the_tests_of_rehearsals_pass_for_an_ordinary_user(interpreter: str, place: Path) -> None:
    tests = [str(path) for path in HERE.glob("test_*.py") if path != Path(__file__)]
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={HERE.parents[2]}"]
    options += ["-c", str(HERE.parents[2] / "pyproject.toml"), f"--basetemp={place}/pytest"]
    # Those that choose their account run as an ordinary user by themselves, as all slow ones do.
    options += ["-k", f"not {ACCOUNTS[0]}", "-m", "not slow"]
    words = [interpreter, "-m", "pytest", *options, *tests]

    run = start(words, HERE.parents[2], HANDRAIL_MOST_CASES="0" if ALL_POINTS else "2")

    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout


def test_files_of_another_group_on_the_first_level_are_refused(
    interpreter: str, place: Path
) -> None:
    (place / "ws/theirs").write_text("x")
    os.chown(place / "ws/theirs", USER, OTHER_GROUP)

    told = rehearse(interpreter, place, "echo x > made")

    refused = str(told[1]["refused"])
    assert "theirs in the workspace belongs to another user or group" in refused


def test_deeper_files_of_another_group_are_met_and_told(interpreter: str, place: Path) -> None:
    (place / "ws/src").mkdir()
    (place / "ws/src/theirs").write_text("x")
    os.chown(place / "ws/src", USER, GROUP)
    os.chown(place / "ws/src/theirs", USER, OTHER_GROUP)

    told = rehearse(interpreter, place, "echo y > src/theirs", "cat src/theirs; echo z > made")

    assert told[0] == {"ready": USER}
    assert told[1]["met_foreign"]
    assert (told[2]["out"], told[2]["met_foreign"], told[2]["changed"]) == ("x", False, ["made"])


def test_an_access_list_that_names_somebody_else_is_refused(interpreter: str, place: Path) -> None:
    (place / "ws/shared").write_text("x")
    os.chown(place / "ws/shared", USER, GROUP)
    give(place / "ws/shared", ACCESS, access_list(6, to=OTHER_USER))

    told = rehearse(interpreter, place, "echo x >> shared")

    assert "shared in the workspace has an access list that names other" in str(told[1]["refused"])


def rehearse(interpreter: str, place: Path, *lines: str) -> list[dict[str, object]]:
    program = str(HERE / "rehearsing_program.py")
    run = start([interpreter, program, str(place / "ws"), str(place / "base"), *lines], place)
    return [json.loads(line) for line in run.stdout.splitlines()] or [{"error": run.stderr}]

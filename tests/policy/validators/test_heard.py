"""What is handed to an interpreter by a pipe is code, and an approval is bound to it."""

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.core.stage import NamedFile
from handrail.policy.validators.scripts import ScriptValidator

LINES = ScriptValidator("/workspace")


def run_by_the_last_of(line: str) -> set[str]:
    return {script.path for script in LINES.stages_of(line)[-1].scripts}


@pytest.mark.parametrize(
    "listener",
    [
        *("python3 -", "python3", "python3 -q", "python3 -u - a", "node -", "node"),
        *("timeout 5 python3 -", "nice node -", "bash", "sh -s", "perl -"),
    ],
)
def test_files_in_front_of_a_listener_are_what_it_runs(listener: str) -> None:
    line = f"cat ./x.py src/y.py | {listener}"
    assert run_by_the_last_of(line) >= {"x.py", "src/y.py"}
    assert worst(LINES.validate_script(line)) is RiskLevel.HIGH


def test_all_of_the_pipe_counts_and_nothing_in_front_of_it() -> None:
    line = "cat a.txt && cat b.py | grep -v x c.py | python3 -"
    assert run_by_the_last_of(line) == {"b.py", "c.py"}
    assert run_by_the_last_of("cat b.py; python3 -") == set()


def test_a_folder_and_a_pattern_are_part_of_it() -> None:
    *_, stage = LINES.stages_of("cd web && cat *.py /workspace/z.py | python3 -")
    assert {*stage.scripts} == {NamedFile("web/*.py", is_pattern=True), NamedFile("z.py")}


@pytest.mark.parametrize(
    "line",
    [
        "cat x.py | wc -l",
        "cat a.json | python3 -m json.tool",
        "cat x | awk '{print}'",
        "echo 1 | node -",
    ],
)
def test_other_pipes_hand_over_no_files_of_code(line: str) -> None:
    assert not {"x.py", "a.json", "x"} & run_by_the_last_of(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "python3 < x.py",
            "python3 - <x.py",
            "bash -s < 'x.py'",
            'node <"x.py"',
            "<x.py python3",
        ),
        *("for a in 1 2; do cat x.py | python3 -; done", "python3 <<< $(cat x.py)"),
    ],
)
def test_so_are_files_that_a_line_of_bash_hands_over(line: str) -> None:
    assert "x.py" in run_by_the_last_of(line)


def test_a_line_of_bash_without_a_listener_hands_over_no_code() -> None:
    assert run_by_the_last_of("sort < x.py > y") == set()
    assert run_by_the_last_of("python3 <<< x.py") == set()

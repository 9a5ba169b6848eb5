"""Words that come from elsewhere: what a command is handed that nobody has seen."""

import shlex

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/home/ada/project")
MEDIUM, HIGH, FORBIDDEN = RiskLevel.MEDIUM, RiskLevel.HIGH, RiskLevel.FORBIDDEN


def risk_of(line: str) -> RiskLevel:
    command, *args = shlex.split(line)
    return worst(COMMANDS.validate_command(command, args))


@pytest.mark.parametrize(
    "line",
    [
        "find T -exec zip a.zip a -{} -{}{} ./as ';'",
        "find delete -exec find del -{} ';'",
        "find B. -exec gcc a.c -{} ';'",
        "find ifile -exec sed -{} s/a/b/ Make ';'",
        "find c -execdir cat --{} a ';'",
        "find . -exec cat {} + -exec head -{} a ';'",
        "find . -exec env nice cat a{} ';'",
    ],
)
def test_the_name_of_a_file_makes_no_flag(line: str) -> None:
    assert risk_of(line) is FORBIDDEN


@pytest.mark.parametrize("line", ["find . -exec cat {} ';'", "find . -exec awk '{print}' a ';'"])
def test_what_is_found_stands_alone(line: str) -> None:
    assert risk_of(line) is MEDIUM

"""The guard is no nuisance: who only looks is not asked, and who works is asked, not refused."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from handrail.core.risk import Finding, RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator

CORPUS = Path(__file__).parents[1] / "corpus"
VALIDATOR = CommandValidator("/home/ada/project")
READING = tomllib.loads((CORPUS / "ordinary_reading.toml").read_text(encoding="utf-8"))
WORK = tomllib.loads((CORPUS / "ordinary_work.toml").read_text(encoding="utf-8"))

# Quotes, or what joins two commands; nothing else of a shell is in the corpora.
_TOKENS = re.compile(r"'[^']*'|\"[^\"]*\"|( \| | && )|.", re.DOTALL)


def commands_in(line: str) -> list[list[str]]:
    """The commands of a line that a shell would read."""
    parts = [""]
    for match in _TOKENS.finditer(line):
        if match[1]:
            parts.append("")
        else:
            parts[-1] += match[0]
    return [shlex.split(part) for part in parts]


def findings_of(line: str) -> list[Finding]:
    return [
        finding
        for command, *args in commands_in(line)
        for finding in VALIDATOR.validate_command(command, args)
    ]


def risk_of(line: str) -> RiskLevel:
    return worst(findings_of(line))


def test_lines_are_taken_apart_as_a_shell_would() -> None:
    assert commands_in("""a 'b | c' | d "e && f" && g""") == [
        ["a", "b | c"],
        ["d", "e && f"],
        ["g"],
    ]


def test_no_line_is_there_twice() -> None:
    lines = [*READING["low"], *READING["asked"], *WORK["asked"], *WORK["refused"]]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("line", READING["low"])
def test_who_only_looks_is_not_asked(line: str) -> None:
    assert findings_of(line) == []


@pytest.mark.parametrize("line", READING["asked"])
def test_some_who_only_look_are_asked_all_the_same(line: str) -> None:
    assert risk_of(line) > RiskLevel.LOW


@pytest.mark.behaviour("command.no-nuisance")
def test_nearly_all_who_only_look_are_not_asked() -> None:
    lines = [*READING["low"], *READING["asked"]]
    assert len(lines) >= 300
    assert sum(risk_of(line) is RiskLevel.LOW for line in lines) >= 0.95 * len(lines)


@pytest.mark.parametrize("line", WORK["asked"])
def test_who_works_is_asked(line: str) -> None:
    risk = risk_of(line)
    assert RiskLevel.LOW < risk < RiskLevel.FORBIDDEN, findings_of(line)


@pytest.mark.behaviour("command.no-nuisance")
def test_nearly_nobody_who_works_is_refused() -> None:
    lines = [*WORK["asked"], *WORK["refused"]]
    refused = [line for line in lines if risk_of(line) is RiskLevel.FORBIDDEN]
    assert len(lines) >= 150
    assert set(refused) == set(WORK["refused"])
    assert len(refused) <= 0.02 * len(lines)

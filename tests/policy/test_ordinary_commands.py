"""Reading is not asked about, and work is asked about but not refused."""

import tomllib
from pathlib import Path

import pytest

from handrail.core.risk import Finding, RiskLevel, worst
from handrail.policy.validators.scripts import ScriptValidator

CORPUS = Path(__file__).parents[1] / "corpus"
LINES = ScriptValidator("/home/ada/project")
READING = tomllib.loads((CORPUS / "ordinary_reading.toml").read_text(encoding="utf-8"))
WORK = tomllib.loads((CORPUS / "ordinary_work.toml").read_text(encoding="utf-8"))


def findings_of(line: str) -> list[Finding]:
    return LINES.validate_script(line)


def risk_of(line: str) -> RiskLevel:
    return worst(findings_of(line))


def test_no_line_is_there_twice() -> None:
    lines = [*READING["low"], *READING["asked"], *WORK["asked"], *WORK["refused"]]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("line", READING["low"])
def test_reading_is_not_asked_about(line: str) -> None:
    assert findings_of(line) == []


@pytest.mark.parametrize("line", READING["asked"])
def test_some_reading_is_asked_about_all_the_same(line: str) -> None:
    assert risk_of(line) > RiskLevel.LOW


@pytest.mark.behaviour("command.no-nuisance")
def test_nearly_no_reading_is_asked_about() -> None:
    lines = [*READING["low"], *READING["asked"]]
    assert len(lines) >= 300
    assert sum(risk_of(line) is RiskLevel.LOW for line in lines) >= 0.95 * len(lines)


@pytest.mark.parametrize("line", WORK["asked"])
def test_work_is_asked_about(line: str) -> None:
    risk = risk_of(line)
    assert RiskLevel.LOW < risk < RiskLevel.FORBIDDEN, findings_of(line)


@pytest.mark.behaviour("command.no-nuisance")
def test_nearly_no_work_is_refused() -> None:
    lines = [*WORK["asked"], *WORK["refused"]]
    refused = [line for line in lines if risk_of(line) is RiskLevel.FORBIDDEN]
    assert len(lines) >= 150
    assert set(refused) == set(WORK["refused"])
    assert len(refused) <= 0.01 * len(lines)

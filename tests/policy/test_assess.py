import pytest

from handrail.core.risk import Finding, RiskLevel
from handrail.policy.assess import RiskAssessor

LOW, MEDIUM, HIGH, CRITICAL, FORBIDDEN = RiskLevel


@pytest.mark.parametrize(
    ("base", "found", "risk"),
    [
        (LOW, [], LOW),
        (HIGH, [], HIGH),
        (LOW, [MEDIUM], MEDIUM),
        (HIGH, [LOW], HIGH),
        (MEDIUM, [LOW, CRITICAL, HIGH], CRITICAL),
        (LOW, [FORBIDDEN, LOW], FORBIDDEN),
        (FORBIDDEN, [LOW], FORBIDDEN),
    ],
)
def test_strictest_of_base_and_findings_wins(
    base: RiskLevel, found: list[RiskLevel], risk: RiskLevel
) -> None:
    findings = [Finding("rule", "reason", level) for level in found]
    assert RiskAssessor().assess_tool_risk(base, findings) is risk

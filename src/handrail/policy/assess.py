"""From findings to one risk."""

from collections.abc import Sequence

from handrail.core.risk import Finding, RiskLevel, worst


class RiskAssessor:
    """The strictest finding wins; nothing lowers a risk."""

    def assess_tool_risk(self, base: RiskLevel, findings: Sequence[Finding]) -> RiskLevel:
        return max(base, worst(findings))

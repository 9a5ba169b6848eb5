"""How dangerous a call is, and each reason to think so."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class RiskLevel(IntEnum):
    """Ordered, so that the strictest of several is their maximum."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4
    FORBIDDEN = 5


class ToolSafety:
    """Three words for the rating of a tool; each is a `RiskLevel`."""

    SAFE = RiskLevel.LOW
    REQUIRES_APPROVAL = RiskLevel.MEDIUM
    # A class or session that was approved covers HIGH calls, and never CRITICAL ones.
    DANGEROUS = RiskLevel.CRITICAL


class Layer(StrEnum):
    """Who has made a rule: Handrail itself, the operator of this machine, or the project."""

    SHIPPED = "shipped"
    OPERATOR = "operator"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for concern: the rule that noticed, the words for a person, how bad it is."""

    rule: str
    reason: str
    risk: RiskLevel
    layer: Layer = Layer.SHIPPED

    def by(self, layer: Layer) -> "Finding":
        """The same from a rule of this layer; the words say so where it is not a shipped one."""
        if layer is Layer.SHIPPED:
            return self
        return Finding(self.rule, f"{self.reason} ({layer} rule {self.rule})", self.risk, layer)


def forbidden(rule: str, reason: str) -> Finding:
    return Finding(rule, reason, RiskLevel.FORBIDDEN)


def worst(findings: Iterable[Finding]) -> RiskLevel:
    """The strictest of the findings; LOW when there is no reason for concern."""
    found = RiskLevel.LOW
    for finding in findings:
        found = max(found, finding.risk)
    return found

"""How dangerous a call is, and each reason to think so."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class RiskLevel(IntEnum):
    """Ordered, so that the strictest of several is their maximum."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4
    FORBIDDEN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason for concern: the rule that noticed, the words for a person, how bad it is."""

    rule: str
    reason: str
    risk: RiskLevel


def forbidden(rule: str, reason: str) -> Finding:
    return Finding(rule, reason, RiskLevel.FORBIDDEN)


def worst(findings: Iterable[Finding]) -> RiskLevel:
    """The strictest of the findings; LOW when there is no reason for concern."""
    return max((finding.risk for finding in findings), default=RiskLevel.LOW)

"""What a scan has found, in words for a person."""

from dataclasses import dataclass

SUSPICIOUS_FROM = 1.0


@dataclass(frozen=True, slots=True)
class InjectionFinding:
    """One place that reads like an order: which rule noticed, why, where, and how it reads.

    `offset` counts characters from the beginning of the text, `line` counts from 1. `excerpt` has
    every unseen character made visible; of an encoded place it shows what it says decoded.
    """

    rule: str
    reason: str
    weight: float
    offset: int
    line: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class InjectionReport:
    """How much a text from `source` reads like orders to an assistant, and each reason for it."""

    source: str
    score: float
    findings: tuple[InjectionFinding, ...] = ()

    @property
    def suspicious(self) -> bool:
        return self.score >= SUSPICIOUS_FROM

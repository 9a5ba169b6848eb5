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
class Doubt:
    """A passage that is worth a second look: what it weighs, in hundredths, and what it says.

    `text` are its words and those around it, brought into one form; `middle` is where in them it
    stands. A `plain` one commands to set something aside, and is neither quoted nor listed.
    `finding` is what is told of it if it is an order.
    """

    weight: int
    text: str
    middle: int
    plain: bool
    finding: InjectionFinding


@dataclass(frozen=True, slots=True)
class InjectionReport:
    """How much a text from `source` reads like orders to an assistant, and each reason for it.

    `unread` are the findings that no doubt stands for, since there are too many of them.
    """

    source: str
    score: float
    findings: tuple[InjectionFinding, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    unread: tuple[InjectionFinding, ...] = ()

    @property
    def suspicious(self) -> bool:
        return self.score >= SUSPICIOUS_FROM

"""A second look: passages that weigh much are read by somebody who knows what sentences mean.

A sum of words takes a text about attacks for one, and misses an attack in words it has not learned.
So both count: what a passage weighs, and what a reader makes of it.
"""

from dataclasses import replace
from typing import Protocol

from handrail.policy.injection.hits import score_of
from handrail.policy.injection.report import Doubt, InjectionReport

# So much more than nothing both together must weigh: then none of 600 ordinary texts is suspected
# whose two writers neither the sum nor the reader had learned from.
_NEEDED = 100


class Reader(Protocol):
    """Somebody who reads a passage in its surroundings."""

    def read(self, text: str, middle: int) -> float:
        """How much what stands around this place reads like an order; 0 is as much as not."""
        ...


def look_again(report: InjectionReport, reader: Reader) -> InjectionReport:
    """What is left of a report, or comes to it, when its doubts are read.

    What nobody has read stays as it was found, and so does a plain command, which would else be
    forgiven for the harmless words around it.
    """
    weighed = [(_together(doubt, reader), doubt.finding) for doubt in report.doubts]
    heavy = [replace(one, weight=score_of(weight)) for weight, one in weighed if weight >= 0]
    findings = sorted([*heavy, *report.unread], key=lambda one: one.offset)
    score = max((finding.weight for finding in findings), default=0.0)
    return InjectionReport(report.source, score, tuple(findings))


def _together(doubt: Doubt, reader: Reader) -> int:
    together = doubt.weight + round(100 * reader.read(doubt.text, doubt.middle)) - _NEEDED
    return max(doubt.weight, together) if doubt.plain else together

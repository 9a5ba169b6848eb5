"""Doubt: what makes a call riskier than its words are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.security import SecurityPolicy

_POLICY = SecurityPolicy()


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a call is not trusted: a rule, and the sentence for a person."""

    rule: str
    reason: str


def tainted(by: str) -> Doubt:
    """The doubt about every call of a session that has read what looks like orders."""
    reason = (
        f"this session is not trusted: the result of {by} contains text that looks like "
        f"instructions to the agent"
    )
    return Doubt("session.tainted", reason)


def told(where: str) -> Doubt:
    """The doubt about a call that speaks to somebody of whom a result has told."""
    return Doubt("session.told-host", where)


def doubt(verdict: Verdict, doubts: Sequence[Doubt], *, autonomy: Autonomy, acts: bool) -> Verdict:
    """The verdict with one level more for each doubt, though CRITICAL at most.

    What `acts`, because it changes or sends something, is always put to a person, whatever freedom
    the agent has. What is forbidden stays so.
    """
    if not doubts or verdict.risk is RiskLevel.FORBIDDEN:
        return verdict
    findings = [*verdict.findings]
    risk = verdict.risk
    for one in doubts:
        risk = min(RiskLevel(risk + 1), RiskLevel.CRITICAL)
        findings.append(Finding(one.rule, one.reason, risk))
    if verdict.ruling is Ruling.DRAFT:
        # Nothing becomes real before a person has seen the sum.
        return replace(verdict, risk=risk, findings=tuple(findings))
    freedom = Autonomy.SUPERVISED if acts and autonomy is Autonomy.FULL else autonomy
    return _POLICY.rule(risk, findings, autonomy=freedom, plan=verdict.plan)

"""Autonomy and risk: who is asked, and how long they have."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.rulebook.rules import Rules, default_rules

APPROVAL_SECONDS = {RiskLevel.MEDIUM: 300, RiskLevel.HIGH: 600, RiskLevel.CRITICAL: 600}


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a judgement depends on apart from the call: place, rules, freedom given.

    `rehearses` says that commands can be run first where they can change nothing.
    """

    workspace: str
    autonomy: Autonomy = Autonomy.SUPERVISED
    isolated: bool = True
    rules: Rules = field(default_factory=default_rules)
    rehearses: bool = False


class SecurityPolicy:
    """Turns findings into a verdict. Pure: the same findings always give the same answer."""

    def rule(
        self,
        base: RiskLevel,
        findings: Sequence[Finding],
        *,
        autonomy: Autonomy,
        plan: Plan,
        rehearses: bool = False,
        drafts: bool = False,
    ) -> Verdict:
        """The verdict on these findings.

        `rehearses` says that the plan can be tried out here, `drafts` that a draft can hold it.
        """
        risk = max(base, worst(findings))
        ruling = _ruling(risk, autonomy, rehearses=rehearses and plan.rehearses, drafts=drafts)
        seconds = APPROVAL_SECONDS[risk] if ruling.may_ask else 0
        return Verdict(ruling, risk, tuple(findings), seconds, plan)


def _ruling(risk: RiskLevel, autonomy: Autonomy, *, rehearses: bool, drafts: bool) -> Ruling:
    if risk is RiskLevel.FORBIDDEN:
        return Ruling.DENY
    if risk is RiskLevel.LOW:
        return Ruling.ALLOW
    if autonomy is Autonomy.READ_ONLY:
        return Ruling.DENY
    if autonomy is Autonomy.DRAFT and drafts:
        return Ruling.DRAFT
    if rehearses:
        return Ruling.REHEARSE
    if risk is RiskLevel.MEDIUM and autonomy is Autonomy.FULL:
        return Ruling.ALLOW
    return Ruling.ASK

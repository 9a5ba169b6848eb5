"""A doubt makes every call one level riskier, and what acts is put to a person."""

import pytest

from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.distrust import doubt, tainted, told
from handrail.policy.security import SecurityPolicy

BY = tainted("read_file notes.md")
TOLD = told("`e.example` appeared in the result of read_file notes.md (call 1)")


def a_verdict(risk: RiskLevel, autonomy: Autonomy = Autonomy.SUPERVISED) -> Verdict:
    return SecurityPolicy().rule(
        risk, [Finding("a.rule", "why", risk)], autonomy=autonomy, plan=Plan()
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (RiskLevel.LOW, RiskLevel.MEDIUM),
        (RiskLevel.MEDIUM, RiskLevel.HIGH),
        (RiskLevel.HIGH, RiskLevel.CRITICAL),
        (RiskLevel.CRITICAL, RiskLevel.CRITICAL),
    ],
)
def test_a_risk_rises_by_one_level_and_is_never_forbidden_by_it(
    before: RiskLevel, after: RiskLevel
) -> None:
    raised = doubt(a_verdict(before), [BY], autonomy=Autonomy.SUPERVISED, acts=True)

    assert (raised.risk, raised.ruling) == (after, Ruling.ASK)
    assert raised.timeout_seconds > 0
    assert [finding.rule for finding in raised.findings] == ["a.rule", "session.tainted"]
    assert raised.reasons[-1] == (
        "this session is not trusted: the result of read_file notes.md contains text that looks "
        "like instructions to the agent"
    )


def test_two_doubts_are_two_levels() -> None:
    raised = doubt(a_verdict(RiskLevel.LOW), [TOLD, BY], autonomy=Autonomy.SUPERVISED, acts=True)

    assert raised.risk is RiskLevel.HIGH
    assert [one.risk for one in raised.findings[1:]] == [RiskLevel.MEDIUM, RiskLevel.HIGH]


def test_what_is_forbidden_stays_as_it_was() -> None:
    verdict = SecurityPolicy().rule(
        RiskLevel.LOW, [forbidden("a.rule", "no")], autonomy=Autonomy.FULL, plan=Plan()
    )

    assert doubt(verdict, [BY], autonomy=Autonomy.FULL, acts=True) is verdict


def test_without_a_doubt_nothing_changes() -> None:
    verdict = a_verdict(RiskLevel.LOW)

    assert doubt(verdict, [], autonomy=Autonomy.FULL, acts=True) is verdict


@pytest.mark.parametrize(
    ("autonomy", "acts", "ruling"),
    [
        (Autonomy.FULL, True, Ruling.ASK),
        (Autonomy.FULL, False, Ruling.ALLOW),
        (Autonomy.SUPERVISED, False, Ruling.ASK),
        (Autonomy.READ_ONLY, False, Ruling.DENY),
    ],
)
def test_what_acts_is_asked_about_whatever_freedom_there_is(
    autonomy: Autonomy, acts: bool, ruling: Ruling
) -> None:
    raised = doubt(a_verdict(RiskLevel.LOW, autonomy), [BY], autonomy=autonomy, acts=acts)

    assert (raised.risk, raised.ruling) == (RiskLevel.MEDIUM, ruling)


def test_what_only_changes_a_draft_goes_on_and_is_riskier() -> None:
    kept = SecurityPolicy().rule(
        RiskLevel.MEDIUM, [], autonomy=Autonomy.DRAFT, plan=Plan(paths=("a.txt",)), drafts=True
    )

    raised = doubt(kept, [BY], autonomy=Autonomy.DRAFT, acts=True)

    assert (raised.ruling, raised.risk) == (Ruling.DRAFT, RiskLevel.HIGH)
    assert raised.reasons == (BY.reason,)

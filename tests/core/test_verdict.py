from handrail.core.risk import Finding, RiskLevel
from handrail.core.verdict import Plan, Ruling, Verdict


def test_rulings_are_ordered_from_loose_to_strict() -> None:
    assert [ruling.name for ruling in sorted(Ruling)] == ["ALLOW", "ASK", "DENY"]


def test_verdict_gives_every_reason_in_order() -> None:
    findings = (
        Finding("a", "it is big", RiskLevel.MEDIUM),
        Finding("b", "it is red", RiskLevel.HIGH),
    )
    verdict = Verdict(Ruling.ASK, RiskLevel.HIGH, findings)
    assert verdict.reasons == ("it is big", "it is red")


def test_verdict_plans_nothing_unless_told() -> None:
    verdict = Verdict(Ruling.ALLOW, RiskLevel.LOW)
    assert (verdict.plan, verdict.reasons, verdict.timeout_seconds) == (Plan((), (), ()), (), 0)

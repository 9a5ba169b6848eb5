import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.security import Scene, SecurityPolicy

_ROWS = [
    ("LOW", "read_only", "ALLOW", 0),
    ("LOW", "supervised", "ALLOW", 0),
    ("LOW", "full", "ALLOW", 0),
    ("MEDIUM", "read_only", "DENY", 0),
    ("MEDIUM", "supervised", "ASK", 300),
    ("MEDIUM", "full", "ALLOW", 0),
    ("HIGH", "read_only", "DENY", 0),
    ("HIGH", "supervised", "ASK", 600),
    ("HIGH", "full", "ASK", 600),
    ("CRITICAL", "read_only", "DENY", 0),
    ("CRITICAL", "supervised", "ASK", 600),
    ("CRITICAL", "full", "ASK", 600),
    ("FORBIDDEN", "read_only", "DENY", 0),
    ("FORBIDDEN", "supervised", "DENY", 0),
    ("FORBIDDEN", "full", "DENY", 0),
]
# What a draft cannot hold is ruled as it is for a supervised agent.
TABLE = [
    *_ROWS,
    *((risk, "draft", ruling, s) for risk, freedom, ruling, s in _ROWS if freedom == "supervised"),
]
FREEDOM = [Autonomy.READ_ONLY, Autonomy.DRAFT, Autonomy.SUPERVISED, Autonomy.FULL]
PLAN = Plan(paths=("a.txt",))


REHEARSED = Plan(argv=(("make",),), rehearses=True)
# The table where a command can be tried first.
REHEARSING = [
    (risk, autonomy, "REHEARSE", 300 if risk == "MEDIUM" else 600)
    if autonomy != "read_only" and risk in ("MEDIUM", "HIGH", "CRITICAL")
    else (risk, autonomy, ruling, seconds)
    for risk, autonomy, ruling, seconds in TABLE
]


def rule(
    base: RiskLevel, findings: list[Finding], autonomy: Autonomy, *, rehearses: bool = False
) -> Verdict:
    plan = REHEARSED if rehearses else PLAN
    policy = SecurityPolicy()
    return policy.rule(base, findings, autonomy=autonomy, plan=plan, rehearses=rehearses)


def test_table_has_a_row_for_every_risk_and_autonomy() -> None:
    assert {(row[0], row[1]) for row in TABLE} == {
        (risk.name, autonomy.value) for risk in RiskLevel for autonomy in Autonomy
    }


@pytest.mark.parametrize(("risk", "autonomy", "ruling", "seconds"), TABLE)
def test_base_risk_is_ruled_by_the_table(
    risk: str, autonomy: str, ruling: str, seconds: int
) -> None:
    verdict = rule(RiskLevel[risk], [], Autonomy(autonomy))
    assert verdict == Verdict(Ruling[ruling], RiskLevel[risk], (), seconds, PLAN)


@pytest.mark.parametrize("risk", RiskLevel)
def test_a_draft_holds_what_is_not_forbidden(risk: RiskLevel) -> None:
    ruled = SecurityPolicy().rule(risk, [], autonomy=Autonomy.DRAFT, plan=PLAN, drafts=True)
    expected = {RiskLevel.LOW: Ruling.ALLOW, RiskLevel.FORBIDDEN: Ruling.DENY}
    assert (ruled.ruling, ruled.timeout_seconds) == (expected.get(risk, Ruling.DRAFT), 0)


@pytest.mark.parametrize(("risk", "autonomy", "ruling", "seconds"), TABLE)
def test_finding_is_ruled_by_the_same_table(
    risk: str, autonomy: str, ruling: str, seconds: int
) -> None:
    finding = Finding("some.rule", "some reason", RiskLevel[risk])
    verdict = rule(RiskLevel.LOW, [finding], Autonomy(autonomy))
    assert verdict == Verdict(Ruling[ruling], RiskLevel[risk], (finding,), seconds, PLAN)


@pytest.mark.parametrize(("risk", "autonomy", "ruling", "seconds"), REHEARSING)
def test_what_may_be_rehearsed_is_rehearsed_unless_it_is_low_or_refused(
    risk: str, autonomy: str, ruling: str, seconds: int
) -> None:
    verdict = rule(RiskLevel[risk], [], Autonomy(autonomy), rehearses=True)
    assert verdict == Verdict(Ruling[ruling], RiskLevel[risk], (), seconds, REHEARSED)


@pytest.mark.parametrize(("risk", "autonomy", "ruling", "seconds"), TABLE)
@pytest.mark.parametrize(
    ("plan", "possible"), [(PLAN, True), (REHEARSED, False)], ids=["not this plan", "not here"]
)
def test_nothing_is_rehearsed_unless_both_plan_and_place_permit_it(
    risk: str, autonomy: str, ruling: str, seconds: int, plan: Plan, possible: bool
) -> None:
    verdict = SecurityPolicy().rule(
        RiskLevel[risk], [], autonomy=Autonomy(autonomy), plan=plan, rehearses=possible
    )
    assert verdict == Verdict(Ruling[ruling], RiskLevel[risk], (), seconds, plan)


def test_every_finding_is_kept_not_only_the_worst() -> None:
    findings = [Finding(name, name, RiskLevel[name]) for name in ("HIGH", "LOW", "FORBIDDEN")]
    verdict = rule(RiskLevel.MEDIUM, findings, Autonomy.FULL)
    assert verdict.reasons == ("HIGH", "LOW", "FORBIDDEN")


@pytest.mark.parametrize(
    ("base", "found", "risk"),
    [
        ("LOW", [], "LOW"),
        ("HIGH", [], "HIGH"),
        ("LOW", ["MEDIUM"], "MEDIUM"),
        ("HIGH", ["LOW"], "HIGH"),
        ("MEDIUM", ["LOW", "CRITICAL", "HIGH"], "CRITICAL"),
        ("LOW", ["FORBIDDEN", "LOW"], "FORBIDDEN"),
        ("FORBIDDEN", ["LOW"], "FORBIDDEN"),
    ],
)
def test_strictest_of_base_and_findings_wins(base: str, found: list[str], risk: str) -> None:
    findings = [Finding("rule", "reason", RiskLevel[level]) for level in found]
    assert rule(RiskLevel[base], findings, Autonomy.SUPERVISED).risk is RiskLevel[risk]


def test_scene_is_supervised_and_uses_the_shipped_rules_unless_told() -> None:
    assert Scene("/w") == Scene("/w", Autonomy.SUPERVISED, True, default_rules(), False)


_RISKS = st.sampled_from(RiskLevel)
_FINDINGS = st.builds(Finding, st.just("rule"), st.just("reason"), _RISKS)


@given(_RISKS, st.lists(_FINDINGS, max_size=4), _FINDINGS, st.sampled_from(Autonomy), st.booleans())
def test_further_finding_never_lowers_the_ruling(
    base: RiskLevel,
    findings: list[Finding],
    further: Finding,
    autonomy: Autonomy,
    rehearses: bool,
) -> None:
    before = rule(base, findings, autonomy, rehearses=rehearses)
    after = rule(base, [*findings, further], autonomy, rehearses=rehearses)
    assert after.ruling >= before.ruling
    assert after.risk >= before.risk


@given(_RISKS, st.lists(_FINDINGS, max_size=4), st.booleans())
def test_less_autonomy_never_loosens_the_ruling(
    base: RiskLevel, findings: list[Finding], rehearses: bool
) -> None:
    rulings = [rule(base, findings, freedom, rehearses=rehearses).ruling for freedom in FREEDOM]
    assert rulings == sorted(rulings, reverse=True)


@given(_RISKS, st.lists(_FINDINGS, max_size=4), st.sampled_from(Autonomy), st.booleans())
def test_there_is_time_to_answer_exactly_when_a_person_may_be_asked(
    base: RiskLevel, findings: list[Finding], autonomy: Autonomy, rehearses: bool
) -> None:
    verdict = rule(base, findings, autonomy, rehearses=rehearses)
    assert (verdict.timeout_seconds > 0) == (verdict.ruling in (Ruling.REHEARSE, Ruling.ASK))

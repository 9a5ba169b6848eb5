import pytest

from handrail.core.risk import Finding, RiskLevel, forbidden, worst


def test_levels_are_ordered_from_harmless_to_forbidden() -> None:
    assert [level.name for level in sorted(RiskLevel)] == [
        "LOW",
        "MEDIUM",
        "HIGH",
        "CRITICAL",
        "FORBIDDEN",
    ]


def test_no_finding_means_low() -> None:
    assert worst([]) is RiskLevel.LOW


@pytest.mark.parametrize("level", RiskLevel)
def test_strictest_finding_wins_wherever_it_stands(level: RiskLevel) -> None:
    mild, strict = Finding("a", "mild", RiskLevel.LOW), Finding("b", "strict", level)
    assert worst([mild, strict]) is level
    assert worst([strict, mild]) is level


def test_forbidden_finding_carries_the_highest_risk() -> None:
    assert forbidden("path.x", "no") == Finding("path.x", "no", RiskLevel.FORBIDDEN)

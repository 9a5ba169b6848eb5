"""A survey without findings says nothing against a call."""

from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey


def test_a_survey_that_saw_nothing_is_empty() -> None:
    assert Survey() == Survey(facts={}, findings=(), evidence="")


def test_two_surveys_share_no_facts() -> None:
    assert Survey().facts is not Survey().facts


def test_surveys_are_the_same_when_they_saw_the_same() -> None:
    finding = Finding("write.executable", "it can be run", RiskLevel.HIGH)

    seen = Survey({"exists": True}, (finding,), "+x")

    assert seen == Survey({"exists": True}, (finding,), "+x")
    assert seen != Survey({"exists": False}, (finding,), "+x")

from typing import ClassVar

import pytest

from handrail.core.hands import Hands
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.tool import ToolResult
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams
from handrail.tools.judgement import judge_call

NOWHERE = "/nowhere/at/all"


class WordParams(ToolParams):
    word: str = "calm"


class Shout(Tool[WordParams]):
    name: ClassVar[str] = "shout"
    description: ClassVar[str] = "Shouts."
    params = WordParams

    def pre_validate(self, params: WordParams, scene: Scene) -> list[Finding]:
        return [] if params.word == "calm" else [Finding("shout.loud", "loud", RiskLevel.HIGH)]

    def plan(self, params: WordParams, scene: Scene) -> Plan:
        return Plan(argv=(("shout", params.word),))

    def preview(self, params: WordParams) -> str:
        return f"Shout {params.word}"

    async def execute(self, params: WordParams, scene: Scene, hands: Hands) -> ToolResult:
        raise AssertionError("judging must not execute")


@pytest.mark.parametrize(
    ("autonomy", "ruling", "seconds"),
    [
        (Autonomy.READ_ONLY, Ruling.DENY, 0),
        (Autonomy.SUPERVISED, Ruling.ASK, 300),
        (Autonomy.FULL, Ruling.ALLOW, 0),
    ],
)
def test_tool_that_says_nothing_of_its_safety_counts_as_medium(
    autonomy: Autonomy, ruling: Ruling, seconds: int
) -> None:
    verdict = judge_call(Shout(), WordParams(), Scene(NOWHERE, autonomy))
    plan = Plan(argv=(("shout", "calm"),))
    assert verdict == Verdict(ruling, RiskLevel.MEDIUM, (), seconds, plan)


def test_findings_of_the_tool_raise_its_risk() -> None:
    verdict = judge_call(Shout(), WordParams(word="LOUD"), Scene(NOWHERE, Autonomy.FULL))
    assert (verdict.ruling, verdict.risk, verdict.reasons, verdict.timeout_seconds) == (
        Ruling.ASK,
        RiskLevel.HIGH,
        ("loud",),
        600,
    )


def test_call_that_raises_concern_is_not_planned() -> None:
    verdict = judge_call(Shout(), WordParams(word="LOUD"), Scene(NOWHERE))
    assert verdict.plan == Plan()

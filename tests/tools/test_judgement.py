from dataclasses import replace
from typing import ClassVar

import pytest

from handrail.core.hands import Hands
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.distrust import tainted
from handrail.policy.rulebook.book import operator_rules
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

    async def execute(
        self, params: WordParams, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        raise AssertionError("judging must not execute")


@pytest.mark.parametrize(
    ("autonomy", "ruling"),
    [
        (Autonomy.READ_ONLY, Ruling.DENY),
        (Autonomy.SUPERVISED, Ruling.ALLOW),
        (Autonomy.FULL, Ruling.ALLOW),
    ],
)
@pytest.mark.parametrize("word", ["calm", "LOUD"])
def test_a_call_that_changes_nothing_needs_no_approval(
    autonomy: Autonomy, ruling: Ruling, word: str
) -> None:
    scene, params = Scene(NOWHERE, autonomy), WordParams(word=word)
    verdict = judge_call(Shout(), params, scene, changes_nothing=True)
    assert verdict.ruling is ruling
    assert ruling is Ruling.DENY or verdict.risk is RiskLevel.LOW


def test_a_forbidden_call_is_refused_even_if_it_changes_nothing() -> None:
    seen = [Finding("shout.never", "never", RiskLevel.FORBIDDEN)]
    verdict = judge_call(Shout(), WordParams(), Scene(NOWHERE), seen, changes_nothing=True)
    assert verdict.ruling is Ruling.DENY


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
    reasons = [Finding("tool.shout", "shout makes changes", RiskLevel.MEDIUM)]
    if autonomy is Autonomy.READ_ONLY:
        words = "autonomy is read_only here, which allows LOW calls only"
        reasons.append(Finding("autonomy.read_only", words, RiskLevel.LOW))
    assert verdict == Verdict(ruling, RiskLevel.MEDIUM, tuple(reasons), seconds, plan)


def test_findings_of_the_tool_raise_its_risk() -> None:
    verdict = judge_call(Shout(), WordParams(word="LOUD"), Scene(NOWHERE, Autonomy.FULL))
    assert (verdict.ruling, verdict.risk, verdict.reasons, verdict.timeout_seconds) == (
        Ruling.ASK,
        RiskLevel.HIGH,
        ("loud",),
        600,
    )


def test_what_is_risky_is_planned_and_what_is_forbidden_is_not() -> None:
    risky = judge_call(Shout(), WordParams(word="LOUD"), Scene(NOWHERE))
    seen = [Finding("shout.night", "people sleep", RiskLevel.FORBIDDEN)]
    forbidden = judge_call(Shout(), WordParams(word="LOUD"), Scene(NOWHERE), seen)

    assert risky.plan == Plan(argv=(("shout", "LOUD"),))
    assert forbidden.plan == Plan()


def test_what_the_machine_shows_makes_a_verdict_stricter_and_never_milder() -> None:
    scene = Scene(NOWHERE, Autonomy.FULL)
    calm, loud = WordParams(), WordParams(word="LOUD")
    mild = [Finding("shout.soft", "soft", RiskLevel.LOW)]
    grave = [Finding("shout.night", "people sleep", RiskLevel.CRITICAL)]

    assert judge_call(Shout(), calm, scene, mild).risk is RiskLevel.MEDIUM
    assert judge_call(Shout(), loud, scene, mild).risk is RiskLevel.HIGH
    assert judge_call(Shout(), loud, scene, grave).risk is RiskLevel.CRITICAL


@pytest.mark.parametrize(
    ("ceiling", "ruling"),
    [("", Ruling.ASK), ("[policy]\nautonomy = 'read_only'\n", Ruling.DENY)],
    ids=["none", "read_only"],
)
def test_a_doubt_raises_the_risk_and_a_ceiling_still_holds(ceiling: str, ruling: Ruling) -> None:
    scene = Scene(NOWHERE, Autonomy.FULL, rules=operator_rules(ceiling, "policy.toml"))

    verdict = judge_call(Shout(), WordParams(), scene, doubts=[tainted("read_file a.md")])

    assert (verdict.risk, verdict.ruling) == (RiskLevel.HIGH, ruling)
    assert "session.tainted" in [finding.rule for finding in verdict.findings]


class Rehearsed(Shout):
    """A call whose changes a rehearsal would show."""

    def plan(self, params: WordParams, scene: Scene) -> Plan:
        return Plan(argv=(("shout", params.word),), rehearses=True)


def rehearsing(autonomy: Autonomy = Autonomy.SUPERVISED, policy: str = "", **scene: bool) -> Scene:
    rules = operator_rules(f"[policy]\ncommands = 'rehearse'\n{policy}", "policy.toml")
    return replace(Scene(NOWHERE, autonomy, rules=rules, rehearses=True), **scene)


def test_what_a_rehearsal_would_show_is_rehearsed_where_that_is_possible() -> None:
    here = judge_call(Rehearsed(), WordParams(word="LOUD"), rehearsing())
    elsewhere = judge_call(Rehearsed(), WordParams(word="LOUD"), Scene(NOWHERE))

    assert (here.ruling, here.timeout_seconds) == (Ruling.REHEARSE, 600)
    assert (elsewhere.ruling, elsewhere.timeout_seconds) == (Ruling.ASK, 600)


def test_nothing_is_rehearsed_without_a_proven_box() -> None:
    verdict = judge_call(Rehearsed(), WordParams(), rehearsing(isolated=False))
    assert verdict.ruling is Ruling.ASK


@pytest.mark.parametrize("autonomy", [Autonomy.SUPERVISED, Autonomy.FULL])
@pytest.mark.parametrize("ceiling", ["", "autonomy = 'supervised'\n"])
def test_a_doubted_call_asks_a_person_before_anything_is_run(
    autonomy: Autonomy, ceiling: str
) -> None:
    scene = rehearsing(autonomy, ceiling)
    verdict = judge_call(Rehearsed(), WordParams(), scene, doubts=[tainted("read_file a.md")])
    assert verdict.ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("ceiling", "ruling"), [("supervised", Ruling.REHEARSE), ("read_only", Ruling.DENY)]
)
def test_a_ceiling_on_autonomy_leaves_rehearsals_unless_it_permits_only_reads(
    ceiling: str, ruling: Ruling
) -> None:
    scene = rehearsing(Autonomy.FULL, f"autonomy = '{ceiling}'\n")
    assert judge_call(Rehearsed(), WordParams(), scene).ruling is ruling


class Whisper(Shout):
    name: ClassVar[str] = "whisper"
    ruled_as: ClassVar[tuple[str, ...]] = ("shout",)


@pytest.mark.parametrize(
    ("pattern", "covered"), [("shout", True), ("whisper", True), ("sh*", True), ("sing", False)]
)
def test_a_rule_about_a_tool_holds_for_those_that_are_ruled_as_it(
    pattern: str, covered: bool
) -> None:
    text = f'[[tool]]\nname = "{pattern}"\nrisk = "high"\nreason = "is loud"\n'
    scene = Scene(NOWHERE, rules=operator_rules(text, "policy.toml"))
    verdict = judge_call(Whisper(), WordParams(), scene)
    assert (verdict.risk is RiskLevel.HIGH) is covered
    assert verdict.reasons[0].startswith("whisper: is loud") is covered

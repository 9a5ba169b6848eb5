"""Words in, verdict out: what server and client both come through."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.tool import Effect, JsonObject
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.distrust import Doubt, doubt
from handrail.policy.redaction import mask
from handrail.policy.rulebook.settings import Ceiling
from handrail.policy.security import Scene, SecurityPolicy
from handrail.tools.base import AnyTool, ToolParams

_POLICY = SecurityPolicy()

# A call of more characters is judged away from the event loop: each takes up to 7 µs.
MOST_JUDGED_INLINE = 1_000
_MOST_CHARS_REMEMBERED = 2_000
# Nothing else refuses what is not forbidden, and nobody is asked about it.
_ONLY_READS = Finding(
    "autonomy.read_only",
    "autonomy is read_only here, which allows LOW calls only",
    RiskLevel.LOW,
)
_CHANGES_NOTHING = Finding("tool.changes-nothing", "it would change nothing", RiskLevel.LOW)


def judge_call(
    tool: AnyTool,
    params: ToolParams,
    scene: Scene,
    seen: Sequence[Finding] = (),
    doubts: Sequence[Doubt] = (),
    *,
    changes_nothing: bool = False,
    rehearsed: bool = False,
) -> Verdict:
    """Judge a tool with checked parameters, without running anything.

    `seen` is what a survey of the machine has added, `doubts` say why the agent is not trusted:
    both can make the verdict stricter only. A call that `changes_nothing` by its survey passes
    unasked, unless it is refused or reaches a network. One that was `rehearsed` is judged by what
    was seen instead of its words, unless these refuse it or ask beforehand. Nothing is rehearsed
    on a machine without a proven box.
    """
    base = tool.safety_level if tool.floor is None else tool.floor
    words = tool.pre_validate(params, scene)
    known = [*scene.rules.judge_tool(tool.name, *tool.ruled_as), *seen]
    is_refused = worst([*words, *known]) is RiskLevel.FORBIDDEN
    plan = Plan() if is_refused else tool.plan(params, scene)
    rehearses = scene.rehearses and scene.isolated and scene.rules.rehearses
    drafts = rehearses and plan.fits_a_draft
    if rehearsed and rehearses and plan.rehearses:
        # Its effects are known, and a second rehearsal would show nothing more.
        words, rehearses = [], False
    findings = [*words, *known]
    if worst(findings) < base:
        findings.append(_what_the_tool_is(tool, base))
    rule = partial(_POLICY.rule, plan=plan, rehearses=rehearses, drafts=drafts)
    verdict = rule(base, findings, autonomy=scene.autonomy)
    if doubts:
        acts = tool.effect is Effect.CHANGE or plan.reaches_out
        verdict = doubt(verdict, doubts, autonomy=scene.autonomy, acts=acts)
    if verdict.ruling is Ruling.DENY and verdict.risk < RiskLevel.FORBIDDEN:
        verdict = replace(verdict, findings=(*verdict.findings, _ONLY_READS))
    for ceiling in scene.rules.ceilings:
        verdict = _under(ceiling, verdict, scene.autonomy, rule)
    if changes_nothing and verdict.ruling is not Ruling.DENY and not plan.reaches_out:
        return Verdict(Ruling.ALLOW, RiskLevel.LOW, (_CHANGES_NOTHING,), plan=plan)
    return verdict


def may_be_remembered(words: JsonObject, words_json: str) -> bool:
    """Whether the verdict on these words may outlive their call: short, and with no secret."""
    return len(words_json) <= _MOST_CHARS_REMEMBERED and mask(words) == words


def _under(
    ceiling: Ceiling, verdict: Verdict, autonomy: Autonomy, rule: Callable[..., Verdict]
) -> Verdict:
    """The verdict where no more freedom is given than that; if it differs, that is a reason."""
    findings = [*verdict.findings, ceiling.finding]
    stricter = rule(verdict.risk, findings, autonomy=ceiling.lower(autonomy))
    return stricter if stricter.ruling > verdict.ruling else verdict


def _what_the_tool_is(tool: AnyTool, base: RiskLevel) -> Finding:
    """No verdict above LOW goes without a reason, be it only the tool itself."""
    changes = tool.effect is Effect.CHANGE
    what = f"changes {tool.changes}" if tool.changes else f"{tool.name} makes changes"
    reason = what if changes else f"{tool.name} is rated {base.name}"
    return Finding(f"tool.{tool.name}", reason, base)

"""run_bash: a line of bash, run without a shell wherever it is plain enough to be sure of it."""

from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import cut, visible
from handrail.policy.security import Scene
from handrail.policy.validators.commands import UNBOXED
from handrail.policy.validators.scripts import ScriptValidator
from handrail.tools.base import Tool, ToolParams
from handrail.tools.command.hosts import HOSTS, judge_hosts, plan_with_hosts, with_hosts, words_for
from handrail.tools.command.program import MAX_TIMEOUT_SECONDS
from handrail.tools.command.rehearsing import Rehearsing, may_rehearse, was_rehearsed
from handrail.tools.command.result import run_stages
from handrail.tools.command.words import FullLine

_MOST_CHARS = 100_000
_SHOWN_CHARS = 4_000


class RunBashParams(ToolParams):
    command: str = Field(
        min_length=1, max_length=_MOST_CHARS, description="The line, as it would be typed."
    )
    timeout: int = Field(
        default=30, ge=1, le=MAX_TIMEOUT_SECONDS, description="Seconds until it is ended."
    )
    working_dir: str = Field(default=".", description="The folder of the workspace to run it in.")
    hosts: list[str] = HOSTS


class RunBash(Tool[RunBashParams]):
    name: ClassVar[str] = "run_bash"
    description: ClassVar[str] = (
        "Run a line of bash in the workspace and return what it prints. Plain lines (programs with "
        "their arguments, quotes, `|`, `&&`, `||`, `;`, file patterns, `2>&1`, `<<'EOF'`) are "
        "judged program by program, and those that only read run at once. Variables, "
        "substitutions, redirections, loops and the like ask a person first."
    )
    params = RunBashParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    floor: ClassVar[RiskLevel | None] = RiskLevel.LOW

    def pre_validate(self, params: RunBashParams, scene: Scene) -> list[Finding]:
        findings = _validator(params, scene).validate_script(params.command)
        if params.hosts:
            findings += judge_hosts(params.hosts, scene.rules)
        box_matters = not scene.isolated and worst(findings) is not RiskLevel.FORBIDDEN
        return [*findings, UNBOXED] if box_matters else findings

    def plan(self, params: RunBashParams, scene: Scene) -> Plan:
        validator = _validator(params, scene)
        stages = validator.stages_of(params.command)
        if params.hosts:
            return plan_with_hosts(stages, params.hosts)
        return Plan.of(stages, rehearses=validator.rehearses(params.command))

    def preview(self, params: RunBashParams) -> str:
        where = "" if params.working_dir == "." else f" in {visible(params.working_dir)}"
        where += words_for(params.hosts)
        return f"Run{where}: {cut(visible(params.command, keep=chr(10)), _SHOWN_CHARS)}"

    def call_class(self, params: RunBashParams, scene: Scene) -> CallClass | None:
        # Which hosts a call may reach belongs to what a person sees first.
        return None if params.hosts else _validator(params, scene).class_of(params.command)

    async def survey(self, params: RunBashParams, scene: Scene, hands: Hands) -> Survey:
        found = None
        if may_rehearse(scene) and self.plan(params, scene).rehearses:
            rehearsing = _rehearsing(params, scene, self.preview(params))
            found = await rehearsing.survey(hands, scene)
        if isinstance(found, Survey):
            return found
        survey = await _line(params, scene, hands).survey()
        return survey if found is None else replace(survey, findings=(*survey.findings, found))

    async def expect(
        self, params: RunBashParams, scene: Scene, hands: Hands, facts: JsonObject | None
    ) -> ToolResult | None:
        if not was_rehearsed(facts):
            return None
        return await _rehearsing(params, scene, self.preview(params)).expect(hands)

    async def execute(
        self, params: RunBashParams, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        if was_rehearsed(facts):
            return await _rehearsing(params, scene, self.preview(params)).apply(hands)
        line = _line(params, scene, hands)
        if facts is None:
            await line.check_unsurveyed()
        return await run_stages(
            hands, line.stages, title="it", timeout_seconds=params.timeout, facts=facts
        )


def _rehearsing(params: RunBashParams, scene: Scene, preview: str) -> Rehearsing:
    stages = _validator(params, scene).stages_of(params.command)
    return Rehearsing(stages, "it", preview, params.timeout)


def _validator(params: RunBashParams, scene: Scene) -> ScriptValidator:
    return ScriptValidator(scene.workspace, scene.rules, params.working_dir)


def _line(params: RunBashParams, scene: Scene, hands: Hands) -> FullLine:
    validator = _validator(params, scene)
    stages = validator.stages_of(params.command)
    if params.hosts:
        stages = with_hosts(stages, params.hosts)
    return FullLine(hands, scene, stages, validator.validate_script(params.command))

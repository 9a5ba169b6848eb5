"""What tools have in common that run one program with its words, and no shell in between."""

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.rulebook.reading import shown
from handrail.policy.security import Scene
from handrail.policy.validators.commands import UNBOXED, CommandValidator
from handrail.tools.base import P, Tool
from handrail.tools.command.hosts import judge_hosts, plan_with_hosts, with_hosts, words_for
from handrail.tools.command.rehearsing import Rehearsing, may_rehearse, was_rehearsed
from handrail.tools.command.result import run_stages
from handrail.tools.command.words import FullLine

MAX_TIMEOUT_SECONDS = 300
_SHOWN_WORDS = 20


class ProgramTool(Tool[P]):
    """However a program is asked for, it is judged, planned and run in one way."""

    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    floor: ClassVar[RiskLevel | None] = RiskLevel.LOW

    @abstractmethod
    def words(self, params: P) -> tuple[str, list[str]]:
        """The program's name, and its arguments."""

    @abstractmethod
    def seconds(self, params: P) -> int:
        """After how many seconds it is ended."""

    def hosts(self, params: P) -> list[str]:
        """The hosts that the agent asks for."""
        del params
        return []

    def pre_validate(self, params: P, scene: Scene) -> list[Finding]:
        findings = _validator(scene).validate_command(*self.words(params))
        if hosts := self.hosts(params):
            findings += judge_hosts(hosts, scene.rules)
        box_matters = not scene.isolated and worst(findings) is not RiskLevel.FORBIDDEN
        return [*findings, UNBOXED] if box_matters else findings

    def plan(self, params: P, scene: Scene) -> Plan:
        validator, words, hosts = _validator(scene), self.words(params), self.hosts(params)
        stages = [validator.stage_of(*words)]
        if hosts:
            return plan_with_hosts(stages, hosts)
        return Plan.of(stages, rehearses=validator.rehearses(*words))

    def preview(self, params: P) -> str:
        command, args = self.words(params)
        words = [command, *args]
        more = len(words) - _SHOWN_WORDS
        rest = f" … and {more:,} more words" if more > 0 else ""
        told = " ".join(map(shown, words[:_SHOWN_WORDS]))
        return f"Run {told}{rest}{words_for(self.hosts(params))}"

    def call_class(self, params: P, scene: Scene) -> CallClass | None:
        # Which hosts a call may reach belongs to what a person sees first.
        return None if self.hosts(params) else _validator(scene).class_of(*self.words(params))

    async def survey(self, params: P, scene: Scene, hands: Hands) -> Survey:
        found = None
        if may_rehearse(scene) and self.plan(params, scene).rehearses:
            found = await self._rehearsing(params, scene).survey(hands, scene)
        if isinstance(found, Survey):
            return found
        survey = await self._line(params, scene, hands).survey()
        return survey if found is None else replace(survey, findings=(*survey.findings, found))

    async def expect(
        self, params: P, scene: Scene, hands: Hands, facts: JsonObject | None
    ) -> ToolResult | None:
        if not was_rehearsed(facts):
            return None
        return await self._rehearsing(params, scene).expect(hands)

    async def execute(
        self, params: P, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        if was_rehearsed(facts):
            return await self._rehearsing(params, scene).apply(hands)
        line = self._line(params, scene, hands)
        if facts is None:
            await line.check_unsurveyed()
        title, seconds = self.words(params)[0], self.seconds(params)
        return await run_stages(
            hands, line.stages, title=title, timeout_seconds=seconds, facts=facts
        )

    def _rehearsing(self, params: P, scene: Scene) -> Rehearsing:
        title = self.words(params)[0]
        stages = (self._stage(params, scene),)
        return Rehearsing(stages, title, self.preview(params), self.seconds(params))

    def _stage(self, params: P, scene: Scene) -> Stage:
        stage, hosts = _validator(scene).stage_of(*self.words(params)), self.hosts(params)
        return with_hosts([stage], hosts)[0] if hosts else stage

    def _line(self, params: P, scene: Scene, hands: Hands) -> FullLine:
        judged = _validator(scene).validate_command(*self.words(params))
        return FullLine(hands, scene, (self._stage(params, scene),), judged)


def _validator(scene: Scene) -> CommandValidator:
    return CommandValidator(scene.workspace, scene.rules)

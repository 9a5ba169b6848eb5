"""The tools that run commands: a line of bash or one program, judged and run in the same way."""

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.rehearsal import was_rehearsed
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.rulebook.reading import shown
from handrail.policy.security import Scene
from handrail.policy.validators.commands import UNBOXED, CommandValidator
from handrail.tools.base import P, Tool
from handrail.tools.command.git_remotes import (
    UNCHECKED,
    changes_git,
    facts_of_look,
    reaches_only_remotes,
    unchecked,
    was_unchecked,
)
from handrail.tools.command.hosts import judge_hosts, plan_with_hosts, words_for
from handrail.tools.command.rehearsing import Rehearsing, may_rehearse
from handrail.tools.command.result import run_stages
from handrail.tools.command.words import FullLine

MAX_TIMEOUT_SECONDS = 300
_SHOWN_WORDS = 20


class CommandTool(Tool[P]):
    """Its words are judged once, away from the event loop if they are long.

    `survey`, `expect` and `execute` use the verdict that their hands bring, and judge the words
    themselves only where there is none.
    """

    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    floor: ClassVar[RiskLevel | None] = RiskLevel.LOW

    @abstractmethod
    def judge_words(self, params: P, scene: Scene) -> list[Finding]:
        """The concerns about the command alone."""

    @abstractmethod
    def stages(self, params: P, scene: Scene) -> tuple[Stage, ...]:
        """What runs, without the hosts that the agent asks for."""

    @abstractmethod
    def rehearses(self, params: P, scene: Scene) -> bool:
        """Whether it can be tried first where it has no effect."""

    @abstractmethod
    def title(self, params: P) -> str:
        """The command in a sentence about its result."""

    @abstractmethod
    def seconds(self, params: P) -> int:
        """The timeout."""

    def hosts(self, params: P) -> list[str]:
        """The hosts that the agent asks for."""
        del params
        return []

    def pre_validate(self, params: P, scene: Scene) -> list[Finding]:
        findings = self.judge_words(params, scene)
        if hosts := self.hosts(params):
            findings += judge_hosts(hosts, scene.rules)
        box_matters = not scene.isolated and worst(findings) is not RiskLevel.FORBIDDEN
        return [*findings, UNBOXED] if box_matters else findings

    def plan(self, params: P, scene: Scene) -> Plan:
        stages = self.stages(params, scene)
        if hosts := self.hosts(params):
            return plan_with_hosts(stages, hosts)
        return Plan.of(stages, rehearses=self.rehearses(params, scene))

    async def survey(self, params: P, scene: Scene, hands: Hands) -> Survey:
        plan = self._plan(params, scene, hands)
        found = None
        if may_rehearse(scene) and plan.rehearses:
            found = await self._rehearsing(params, plan).survey(hands, scene)
        if isinstance(found, Survey):
            return found
        survey = await self._line(params, scene, hands, plan).survey()
        if found is not None:
            survey = replace(survey, findings=(*survey.findings, found))
        if changes_git(plan.stages) and (why := await self._why_unchecked(scene, hands, plan)):
            findings = (*survey.findings, unchecked(why))
            survey = replace(survey, findings=findings, facts={**survey.facts, **UNCHECKED})
        return survey

    async def expect(
        self, params: P, scene: Scene, hands: Hands, facts: JsonObject | None
    ) -> ToolResult | None:
        if not was_rehearsed(facts):
            return None
        return await self._rehearsing(params, self._plan(params, scene, hands)).expect(hands)

    async def execute(
        self, params: P, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        plan = self._plan(params, scene, hands)
        if was_rehearsed(facts):
            return await self._rehearsing(params, plan).apply(hands)
        if facts is None:
            await self._line(params, scene, hands, plan).check_unsurveyed()
        elif hands.in_draft or (changes_git(plan.stages) and not was_unchecked(facts)):
            return await self._rehearsing(params, plan).carry_out(hands, scene.rules, facts)
        return await run_stages(
            hands,
            plan.stages,
            title=self.title(params),
            timeout_seconds=self.seconds(params),
            facts=None if facts is None else facts_of_look(facts),
        )

    async def _why_unchecked(self, scene: Scene, hands: Hands, plan: Plan) -> str:
        """Why git would change the repository itself; empty if its effects are checked first."""
        if hands.in_draft:
            return ""
        if plan.rehearses:
            return "it could not be rehearsed"
        if not reaches_only_remotes(plan.stages):
            return "it uses the network for more than git's remotes"
        if not may_rehearse(scene) or hands.call is None:
            return "nothing can be rehearsed here"
        return await hands.rehearsals.why_not(hands.call)

    def _plan(self, params: P, scene: Scene, hands: Hands) -> Plan:
        return self.plan(params, scene) if hands.verdict is None else hands.verdict.plan

    def _rehearsing(self, params: P, plan: Plan) -> Rehearsing:
        title, preview = self.title(params), self.preview(params)
        return Rehearsing(plan.stages, title, preview, self.seconds(params))

    def _line(self, params: P, scene: Scene, hands: Hands, plan: Plan) -> FullLine:
        verdict = hands.verdict
        judged = self.judge_words(params, scene) if verdict is None else verdict.findings
        return FullLine(hands, scene, plan.stages, judged)


class ProgramTool(CommandTool[P]):
    """One program with its arguments, and no shell in between."""

    @abstractmethod
    def words(self, params: P) -> tuple[str, list[str]]:
        """The program's name, and its arguments."""

    def title(self, params: P) -> str:
        return self.words(params)[0]

    def judge_words(self, params: P, scene: Scene) -> list[Finding]:
        return _validator(scene).validate_command(*self.words(params))

    def stages(self, params: P, scene: Scene) -> tuple[Stage, ...]:
        return (_validator(scene).stage_of(*self.words(params)),)

    def rehearses(self, params: P, scene: Scene) -> bool:
        return _validator(scene).rehearses(*self.words(params))

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


def _validator(scene: Scene) -> CommandValidator:
    return CommandValidator(scene.workspace, scene.rules)

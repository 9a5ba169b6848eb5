"""execute_command: one program with its arguments, and no shell in between."""

from typing import ClassVar

from pydantic import Field

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
from handrail.tools.base import Tool, ToolParams
from handrail.tools.command_result import run_stages
from handrail.tools.command_survey import survey_stages

MAX_TIMEOUT_SECONDS = 300
_SHOWN_WORDS = 20


class ExecuteCommandParams(ToolParams):
    command: str = Field(description="Name of the program, alone, such as `npm`.")
    args: list[str] = Field(
        default=[], description="Its arguments, one word each; no shell reads or expands them."
    )
    timeout: int = Field(
        default=30, ge=1, le=MAX_TIMEOUT_SECONDS, description="Seconds until it is ended."
    )


class ExecuteCommand(Tool[ExecuteCommandParams]):
    name: ClassVar[str] = "execute_command"
    description: ClassVar[str] = (
        "Run one program in the workspace and return what it prints. There is no shell: no pipes, "
        "redirections, variables or wildcards. Only listed programs are allowed, and paths must "
        "stay in the workspace. At most 1 MB of each stream is kept."
    )
    params = ExecuteCommandParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    floor: ClassVar[RiskLevel | None] = RiskLevel.LOW

    def pre_validate(self, params: ExecuteCommandParams, scene: Scene) -> list[Finding]:
        findings = _validator(scene).validate_command(params.command, params.args)
        box_matters = not scene.isolated and worst(findings) is not RiskLevel.FORBIDDEN
        return [*findings, UNBOXED] if box_matters else findings

    def plan(self, params: ExecuteCommandParams, scene: Scene) -> Plan:
        stage = _stage(params, scene)
        return Plan(argv=(stage.argv,), profiles=(stage.profile,))

    def preview(self, params: ExecuteCommandParams) -> str:
        words = [params.command, *params.args]
        more = len(words) - _SHOWN_WORDS
        rest = f" … and {more:,} more words" if more > 0 else ""
        return f"Run {' '.join(map(shown, words[:_SHOWN_WORDS]))}{rest}"

    def call_class(self, params: ExecuteCommandParams, scene: Scene) -> CallClass | None:
        return _validator(scene).class_of(params.command, params.args)

    async def survey(self, params: ExecuteCommandParams, scene: Scene, hands: Hands) -> Survey:
        await _check_files(params, scene, hands)
        return await survey_stages(hands, (_stage(params, scene),))

    async def execute(
        self,
        params: ExecuteCommandParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        await _check_files(params, scene, hands)
        return await run_stages(
            hands,
            (_stage(params, scene),),
            title=params.command,
            timeout_seconds=params.timeout,
            facts=facts,
        )


def _validator(scene: Scene) -> CommandValidator:
    return CommandValidator(scene.workspace, scene.rules)


def _stage(params: ExecuteCommandParams, scene: Scene) -> Stage:
    return _validator(scene).stage_of(params.command, params.args)


async def _check_files(params: ExecuteCommandParams, scene: Scene, hands: Hands) -> None:
    """Commands follow links, so what a word leads to is looked at as late as can be."""
    for path, written in _validator(scene).files_of(params.command, params.args):
        await hands.files.check(path, writing=written)

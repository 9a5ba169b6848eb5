"""execute_command: one program with its arguments, and no shell in between."""

import signal
from typing import ClassVar

from pydantic import Field

from handrail.core.errors import ErrorType
from handrail.core.grant import CallClass
from handrail.core.hands import CommandOutcome, Ending, Hands
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.redaction import mask_own_tokens
from handrail.policy.rulebook.reading import shown
from handrail.policy.security import Scene
from handrail.policy.validators.commands import UNBOXED, CommandValidator, Planned
from handrail.tools.base import Tool, ToolParams

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
        planned = _planned(params, scene)
        return Plan(argv=(planned.argv,), profiles=(planned.profile,))

    def preview(self, params: ExecuteCommandParams) -> str:
        words = [params.command, *params.args]
        more = len(words) - _SHOWN_WORDS
        rest = f" … and {more:,} more words" if more > 0 else ""
        return f"Run {' '.join(map(shown, words[:_SHOWN_WORDS]))}{rest}"

    def call_class(self, params: ExecuteCommandParams, scene: Scene) -> CallClass | None:
        kind = _validator(scene).kind_of(params.command, params.args)
        if kind is None:
            return None
        words = " ".join(kind)
        return CallClass(key=f"{self.name}:{words}", words=f"{words} …")

    async def survey(self, params: ExecuteCommandParams, scene: Scene, hands: Hands) -> Survey:
        await _check_files(params, scene, hands)
        return Survey()

    async def execute(
        self,
        params: ExecuteCommandParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        await _check_files(params, scene, hands)
        argv, profile = _planned(params, scene)
        stages = [Stage(argv, profile)]
        outcome = await hands.commands.run(stages, timeout_seconds=params.timeout)
        fields: JsonObject = {
            "stdout": _text(outcome.stdout),
            "stderr": _text(outcome.stderr),
            "exit_code": outcome.exit_code,
            "execution_time": round(outcome.seconds, 3),
            "truncated": outcome.stdout_lost + outcome.stderr_lost > 0,
        }
        if outcome.walls:
            fields["box"] = {"profile": profile, "walls": list(outcome.walls)}
        error, error_type = _failure(outcome, params)
        return ToolResult(
            success=error is None and outcome.exit_code == 0,
            output=_told(outcome, fields, error),
            fields=fields,
            error=error,
            error_type=error_type,
        )


def _validator(scene: Scene) -> CommandValidator:
    return CommandValidator(scene.workspace, scene.rules)


def _planned(params: ExecuteCommandParams, scene: Scene) -> Planned:
    return _validator(scene).plan_of(params.command, params.args)


async def _check_files(params: ExecuteCommandParams, scene: Scene, hands: Hands) -> None:
    """Commands follow links, so what a word leads to is looked at as late as can be."""
    for path, written in _validator(scene).files_of(params.command, params.args):
        await hands.files.check(path, writing=written)


def _text(stream: bytes) -> str:
    return mask_own_tokens(stream.decode(errors="replace"))


def _failure(
    outcome: CommandOutcome, params: ExecuteCommandParams
) -> tuple[str, ErrorType] | tuple[None, None]:
    """A command that came to its own end has not failed, whatever its exit code."""
    match outcome.ending:
        case Ending.EXITED:
            return None, None
        case Ending.TIMED_OUT:
            reason = f"{params.command} was ended: it took more than {params.timeout} s"
            return reason, ErrorType.EXECUTION_TIMEOUT
        case Ending.KILLED:
            return f"{params.command} was killed{_by_what(outcome)}", ErrorType.EXECUTION


def _by_what(outcome: CommandOutcome) -> str:
    try:
        return f" by {signal.Signals(-(outcome.exit_code or 0)).name}"
    except ValueError:
        return ""


def _told(outcome: CommandOutcome, fields: JsonObject, error: str | None) -> str:
    """What the model reads: both streams, and in brackets what they do not say."""
    parts = [
        fields["stdout"],
        _lost("stdout", outcome.stdout_lost),
        fields["stderr"],
        _lost("stderr", outcome.stderr_lost),
    ]
    if error is not None:
        parts.append(f"[{error}]")
    elif outcome.exit_code != 0:
        parts.append(f"[exit code {outcome.exit_code}]")
    told = ""
    for part in filter(None, parts):
        told += part if not told or told.endswith("\n") else f"\n{part}"
    return told


def _lost(stream: str, count: int) -> str:
    return f"[{count:,} more bytes of {stream} were not kept]" if count else ""

"""run_bash: a line of bash, run without a shell wherever it is plain enough to be sure of it."""

from typing import ClassVar

from pydantic import Field

from handrail.core.grant import CallClass
from handrail.core.risk import Finding
from handrail.core.stage import Stage
from handrail.core.visible import cut, visible
from handrail.policy.security import Scene
from handrail.policy.validators.scripts import ScriptValidator
from handrail.tools.base import ToolParams
from handrail.tools.command.hosts import HOSTS, words_for
from handrail.tools.command.tool import MAX_TIMEOUT_SECONDS, CommandTool

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


class RunBash(CommandTool[RunBashParams]):
    name: ClassVar[str] = "run_bash"
    description: ClassVar[str] = (
        "Run a line of bash in the workspace and return what it prints. Plain lines (programs with "
        "their arguments, quotes, `|`, `&&`, `||`, `;`, file patterns, `2>&1`, `<<'EOF'`) are "
        "judged program by program, and those that only read run at once. Any other line is tried "
        "first where it can change nothing; a person is asked only if it would change something."
    )
    params = RunBashParams
    editable: ClassVar[tuple[str, ...]] = ("command",)

    def title(self, params: RunBashParams) -> str:
        del params
        return "it"

    def seconds(self, params: RunBashParams) -> int:
        return params.timeout

    def hosts(self, params: RunBashParams) -> list[str]:
        return params.hosts

    def judge_words(self, params: RunBashParams, scene: Scene) -> list[Finding]:
        return _validator(params, scene).validate_script(params.command)

    def stages(self, params: RunBashParams, scene: Scene) -> tuple[Stage, ...]:
        return _validator(params, scene).stages_of(params.command)

    def rehearses(self, params: RunBashParams, scene: Scene) -> bool:
        return _validator(params, scene).rehearses(params.command)

    def preview(self, params: RunBashParams) -> str:
        where = "" if params.working_dir == "." else f" in {visible(params.working_dir)}"
        where += words_for(params.hosts)
        return f"Run{where}: {cut(visible(params.command, keep=chr(10)), _SHOWN_CHARS)}"

    def call_class(self, params: RunBashParams, scene: Scene) -> CallClass | None:
        # Which hosts a call may reach belongs to what a person sees first.
        return None if params.hosts else _validator(params, scene).class_of(params.command)


def _validator(params: RunBashParams, scene: Scene) -> ScriptValidator:
    return ScriptValidator(scene.workspace, scene.rules, params.working_dir)

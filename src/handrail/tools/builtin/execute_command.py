"""execute_command: one program with its arguments, and no shell in between."""

from typing import ClassVar

from pydantic import Field

from handrail.tools.base import ToolParams
from handrail.tools.command.hosts import HOSTS
from handrail.tools.command.tool import MAX_TIMEOUT_SECONDS, ProgramTool


class ExecuteCommandParams(ToolParams):
    command: str = Field(description="Name of the program, alone, such as `npm`.")
    args: list[str] = Field(
        default=[], description="Its arguments, one word each; no shell reads or expands them."
    )
    timeout: int = Field(
        default=30, ge=1, le=MAX_TIMEOUT_SECONDS, description="Seconds until it is ended."
    )
    hosts: list[str] = HOSTS


class ExecuteCommand(ProgramTool[ExecuteCommandParams]):
    name: ClassVar[str] = "execute_command"
    description: ClassVar[str] = (
        "Run one program in the workspace and return what it prints. There is no shell: no pipes, "
        "redirections, variables or wildcards. Programs that only read run at once. Any other is "
        "tried first where it can change nothing; a person is asked only if it would change "
        "something. At most 1 MB of each stream is kept."
    )
    params = ExecuteCommandParams
    editable: ClassVar[tuple[str, ...]] = ("command", "args")

    def words(self, params: ExecuteCommandParams) -> tuple[str, list[str]]:
        return params.command, params.args

    def seconds(self, params: ExecuteCommandParams) -> int:
        return params.timeout

    def hosts(self, params: ExecuteCommandParams) -> list[str]:
        return params.hosts

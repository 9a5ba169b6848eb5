"""git: what agents do with a repository, by the same rules as git through any other tool."""

from typing import ClassVar, Literal

from pydantic import Field

from handrail.tools.base import ToolParams
from handrail.tools.command.tool import MAX_TIMEOUT_SECONDS, ProgramTool

Action = Literal[
    "status",
    "diff",
    "log",
    "show",
    "blame",
    "ls-files",
    "add",
    "commit",
    "branch",
    "checkout",
    "push",
    "pull",
    "fetch",
    "clone",
]


class GitParams(ToolParams):
    action: Action = Field(description="The action of git, such as `status`.")
    args: list[str] = Field(
        default=[],
        description='What follows the action, one word each, such as `["-m", "Fix the build"]`.',
    )


class Git(ProgramTool[GitParams]):
    name: ClassVar[str] = "git"
    description: ClassVar[str] = (
        "Use git in the workspace and return what it prints. Reading needs no approval; changing "
        "the repository and reaching a remote do. Forcing and deleting on a remote are refused, "
        "as is `checkout --force`. Hooks and filters of the repository run in the sandbox."
    )
    params = GitParams

    def words(self, params: GitParams) -> tuple[str, list[str]]:
        return "git", [params.action, *params.args]

    def seconds(self, params: GitParams) -> int:
        return MAX_TIMEOUT_SECONDS

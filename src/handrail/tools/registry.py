"""Which tools there are, and how a request becomes a tool with checked parameters."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from handrail.core.errors import BadInput, SetupError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject, ToolDefinition
from handrail.policy.security import Scene
from handrail.tools.aliases import ALIASES
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.defined import Executor, define_tool
from handrail.tools.unasked import run_unasked

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class ToolRegistry:
    """Name → tool."""

    def __init__(self, tools: Iterable[AnyTool] = ()):
        self._tools: dict[str, AnyTool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: AnyTool) -> None:
        """Take a tool in.

        Raises:
            SetupError: Its name is taken or cannot be one, or Handrail cannot serve it.
        """
        _check(tool.definition)
        if tool.name in self._tools:
            raise SetupError(f"two tools are named {tool.name!r}; rename or remove one")
        self._tools[tool.name] = tool

    def register_tool(self, definition: ToolDefinition, executor: Executor) -> None:
        """Add a tool that is made of a definition and an async function.

        The function gets the parameters, checked against the definition's `input_schema` and with
        its defaults filled in, and the hands if it takes a second argument. It returns a
        `ToolResult`, or the tool's fields as a dict, or a text. It fails by raising `ToolError`, or
        by returning `{"status": "error", "error": "…"}`.

        Raises:
            SetupError: As for `register`; or the schema or the function cannot be used.
        """
        self.register(define_tool(definition, executor))

    def find(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def get(self, name: str) -> AnyTool:
        tool = self.find(name)
        if tool is None:
            raise BadInput(self._unknown(name))
        return tool

    def resolve(self, name: str, params: JsonObject) -> tuple[str, JsonObject]:
        """What is meant by a name from elsewhere: the tool's own name, and its own parameters."""
        alias = ALIASES.get(name)
        return (name, params) if alias is None else (alias.tool, alias.translate(params))

    def parse(self, name: str, params: JsonObject) -> tuple[AnyTool, ToolParams]:
        """Find the tool and read its parameters; the error names the field that is wrong."""
        tool = self.get(name)
        return tool, tool.read_params(params)

    async def execute_tool(
        self,
        name: str,
        args: JsonObject,
        *,
        scene: Scene | None = None,
        hands: Hands | None = None,
    ) -> dict[str, Any]:
        """Run a LOW call in this process, without a server. No other call runs.

        The answer has the fields of the result and a `status`: `success`, `error` (refused or
        failed, `error` says why) or `approval_required`, where a person would have to be asked.
        Without `hands` a tool can touch no file, command or network.
        """
        own_name, own_args = self.resolve(name, args)
        tool = self.find(own_name)
        if tool is None:
            return {"status": "error", "success": False, "error": self._unknown(name)}
        return await run_unasked(tool, own_args, scene or Scene("/workspace"), hands or Hands())

    def _unknown(self, name: str) -> str:
        names = ", ".join(tool.name for tool in self.offered)
        return f"no tool is named {name!r}; there are: {names}"

    @property
    def offered(self) -> list[AnyTool]:
        """The tools that agents are told of."""
        return [tool for tool in self if tool.is_offered]

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _check(definition: ToolDefinition) -> None:
    name = definition.name
    if not _NAME.fullmatch(name):
        raise SetupError(
            f"a tool cannot be named {name!r}; a name is up to 64 lower-case letters, digits and "
            f"underscores, and begins with a letter"
        )
    if not isinstance(definition.safety_level, RiskLevel):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SetupError(
            f"the safety_level of {name!r} is {definition.safety_level!r}; "
            "it must be a RiskLevel or one of ToolSafety"
        )
    alias = ALIASES.get(name)
    if alias is not None and alias.tool != name:
        raise SetupError(f"{name!r} is another name of {alias.tool!r}; rename the tool")
    if definition.safety_level is RiskLevel.FORBIDDEN:
        raise SetupError(f"{name!r} is FORBIDDEN, so it could never be used; rate it lower")

"""Which tools there are, and how a request becomes a tool with checked parameters."""

import re
from collections.abc import Iterable, Iterator

from handrail.core.errors import BadInput, SetupError
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject, ToolDefinition
from handrail.tools.aliases import ALIASES
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.defined import Executor, define_tool

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
        """Take a tool in that is made of a definition and an async function.

        The function is given the parameters, checked against the definition's `input_schema` and
        with its defaults filled in, and the hands. It gives back a `ToolResult`, or the tool's
        fields as a dict, or a text; it fails by raising `ToolError`.

        Raises:
            SetupError: As for `register`; or the schema or the function cannot be used.
        """
        self.register(define_tool(definition, executor))

    def find(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def get(self, name: str) -> AnyTool:
        tool = self.find(name)
        if tool is None:
            raise BadInput(f"no tool is named {name!r}; there are: {', '.join(self._tools)}")
        return tool

    def resolve(self, name: str, params: JsonObject) -> tuple[str, JsonObject]:
        """What is meant by a name from elsewhere: the tool's own name, and its own parameters."""
        alias = ALIASES.get(name)
        return (name, params) if alias is None else (alias.tool, alias.translate(params))

    def parse(self, name: str, params: JsonObject) -> tuple[AnyTool, ToolParams]:
        """Find the tool and read its parameters; the error names the field that is wrong."""
        tool = self.get(name)
        return tool, tool.read_params(params)

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _check(definition: ToolDefinition) -> None:
    name = definition.name
    if not _NAME.fullmatch(name):
        raise SetupError(
            f"a tool cannot be named {name!r}; a name is up to 64 small letters, digits and "
            "underscores, and begins with a letter"
        )
    alias = ALIASES.get(name)
    if alias is not None and alias.tool != name:
        raise SetupError(f"{name!r} is another name of {alias.tool!r}; rename the tool")
    if definition.safety_level is RiskLevel.FORBIDDEN:
        raise SetupError(f"{name!r} is FORBIDDEN, so nobody could ever use it; rate it lower")

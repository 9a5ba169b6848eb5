"""Which tools there are, and how a request becomes a tool with checked parameters."""

from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from handrail.core.errors import BadInput, SetupError
from handrail.core.tool import JsonObject
from handrail.tools.base import AnyTool, ToolParams


class ToolRegistry:
    """Name → tool."""

    def __init__(self, tools: Iterable[AnyTool] = ()):
        self._tools: dict[str, AnyTool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: AnyTool) -> None:
        if tool.name in self._tools:
            raise SetupError(f"two tools are named {tool.name!r}; rename or remove one")
        self._tools[tool.name] = tool

    def get(self, name: str) -> AnyTool:
        tool = self._tools.get(name)
        if tool is None:
            raise BadInput(f"no tool is named {name!r}; there are: {', '.join(self._tools)}")
        return tool

    def find(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def parse(self, name: str, params: JsonObject) -> tuple[AnyTool, ToolParams]:
        """Find the tool and read its parameters; the error names the field that is wrong."""
        tool = self.get(name)
        try:
            return tool, tool.params.model_validate(params)
        except ValidationError as error:
            raise BadInput(_in_words(error)) from error

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _in_words(error: ValidationError) -> str:
    lines: list[str] = []
    for problem in error.errors(include_url=False, include_input=False):
        field = ".".join(map(str, problem["loc"])) or "parameters"
        lines.append(f"{field}: {problem['msg'][:1].lower()}{problem['msg'][1:]}")
    return "; ".join(lines)

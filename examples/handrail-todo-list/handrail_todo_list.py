"""todo_list: the promises somebody left in a file."""

import re
from typing import Any, ClassVar

from pydantic import Field

from handrail import (
    Effect,
    Finding,
    Hands,
    PathValidator,
    RiskLevel,
    Scene,
    Tool,
    ToolParams,
    ToolResult,
)

MAX_BYTES = 1_000_000

_PROMISE = re.compile(r"\b(TODO|FIXME|XXX)\b[:\s]*(.*)")


class TodoListParams(ToolParams):
    path: str = Field(description="File to look through, relative to the workspace.")


class TodoList(Tool[TodoListParams]):
    name: ClassVar[str] = "todo_list"
    description: ClassVar[str] = "Find what was left to be done (TODO, FIXME, XXX) in one file."
    params = TodoListParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    effect: ClassVar[Effect] = Effect.READ

    def pre_validate(self, params: TodoListParams, scene: Scene) -> list[Finding]:
        return PathValidator(scene.workspace, scene.rules).validate_path(params.path)

    def preview(self, params: TodoListParams) -> str:
        return f"Look for promises in {params.path}"

    async def execute(
        self, params: TodoListParams, scene: Scene, hands: Hands, facts: Any = None
    ) -> ToolResult:
        path = PathValidator(scene.workspace, scene.rules).resolve_path(params.path)
        file = await hands.files.read(path, max_bytes=MAX_BYTES)
        promises = find_promises(file.data.decode(errors="replace"))
        lines = [f"{path}:{one['line']}: {one['text']}" for one in promises]
        output = "\n".join(lines) or f"{path} keeps all its promises."
        return ToolResult(success=True, output=output, fields={"promises": promises})


def find_promises(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if (promise := _PROMISE.search(line)) is not None:
            found.append({"line": number, "kind": promise[1], "text": promise[2].strip()})
    return found

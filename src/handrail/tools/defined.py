"""Tools made in code: a definition, and an async function that does the work."""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, ClassVar, cast

from handrail.core.errors import SetupError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, JsonObject, Site, ToolDefinition, ToolResult
from handrail.core.visible import cut, visible
from handrail.policy.redaction import mask
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, Tool, ToolParams
from handrail.tools.outcome import as_result
from handrail.tools.schema import ParamsSchema

Given = ToolResult | JsonObject | str
# Takes the checked parameters, and the hands if it has a second argument. Async, because every
# call can be cancelled.
WithHands = Callable[[dict[str, Any], Hands], Awaitable[Given]]
Executor = WithHands | Callable[[dict[str, Any]], Awaitable[Given]]

_SHOWN_CHARS = 200


class DefinedParams(ToolParams):
    """Parameters that fit the schema of a definition."""

    values: dict[str, Any]


class DefinedTool(Tool[DefinedParams]):
    """A tool of which nothing is known but its definition: no class of its calls can be granted."""

    params = DefinedParams

    def __init__(self, definition: ToolDefinition, executor: WithHands, *, has_hands: bool = True):
        self._has_hands = has_hands
        self._schema = ParamsSchema(definition.input_schema, definition.name)
        self._executor = executor
        self.definition = replace(definition, input_schema=self._schema.closed)

    def read_params(self, params: JsonObject) -> DefinedParams:
        return DefinedParams(values=self._schema.read(params))

    def lasts(self, params: DefinedParams) -> bool:
        # What is changed without hands is kept nowhere.
        return self.effect is Effect.CHANGE and not self._has_hands

    def preview(self, params: DefinedParams) -> str:
        given = mask(params.values).items()
        fields = [f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in given]
        words = f"Use {self.name} with {', '.join(fields) or 'nothing'}"
        return cut(visible(words), _SHOWN_CHARS)

    async def execute(
        self,
        params: DefinedParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        return as_result(self.name, await self._executor(dict(params.values), hands))


def define_tool(definition: ToolDefinition, executor: Executor) -> AnyTool:
    """A tool like one that has a file of its own.

    Raises:
        SetupError: The schema cannot be used, or the executor is not an async function of one or
            two arguments.
    """
    if not (
        inspect.iscoroutinefunction(executor)
        or inspect.iscoroutinefunction(type(executor).__call__)
    ):
        raise SetupError(f"the executor of {definition.name!r} must be an `async def`")

    class Defined(DefinedTool):
        name: ClassVar[str] = definition.name
        description: ClassVar[str] = definition.description
        safety_level: ClassVar[RiskLevel] = definition.safety_level
        site: ClassVar[Site] = definition.site
        effect: ClassVar[Effect] = definition.effect

    signature = inspect.signature(executor)
    if _takes(signature, 2):
        return Defined(definition, cast(WithHands, executor))
    if _takes(signature, 1):
        alone = cast(Callable[[dict[str, Any]], Awaitable[Given]], executor)
        return Defined(definition, _with_hands(alone), has_hands=False)
    raise SetupError(
        f"the executor of {definition.name!r} must take the parameters, or the parameters and the "
        "hands"
    )


def _with_hands(alone: Callable[[dict[str, Any]], Awaitable[Given]]) -> WithHands:

    async def without_hands(params: dict[str, Any], hands: Hands) -> Given:
        return await alone(params)

    return without_hands


def _takes(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True

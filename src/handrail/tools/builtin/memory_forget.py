"""memory_forget: what was remembered is gone."""

from typing import ClassVar

from pydantic import Field

from handrail.core.hands import Hands
from handrail.core.memory import MOST_KEY_CHARS
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.visible import visible
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams


class MemoryForgetParams(ToolParams):
    key: str = Field(
        min_length=1, max_length=MOST_KEY_CHARS, description="The exact key of the memory."
    )


class MemoryForget(Tool[MemoryForgetParams]):
    name: ClassVar[str] = "memory_forget"
    description: ClassVar[str] = (
        "Forget one memory permanently, by its exact key. To correct one, store it again instead."
    )
    params = MemoryForgetParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    site: ClassVar[Site] = Site.SERVER
    effect: ClassVar[Effect] = Effect.CHANGE
    repeatable: ClassVar[bool] = True

    def preview(self, params: MemoryForgetParams) -> str:
        return f"Forget the memory {visible(params.key)} permanently"

    async def execute(
        self,
        params: MemoryForgetParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        forgotten = await hands.memories.forget(params.key)
        key = visible(params.key)
        words = f"Forgotten: {key}" if forgotten else f"[there is no memory with the key {key}]"
        return ToolResult(True, words, {"key": params.key, "forgotten": forgotten})

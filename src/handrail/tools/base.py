"""What a tool is: one class that says what it takes, why it may be refused and what it does."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.tool import Effect, Site, ToolDefinition, ToolResult, ToolSpec
from handrail.core.verdict import Plan
from handrail.policy.security import Scene


class ToolParams(BaseModel):
    """Parameters are closed: a field nobody declared is an error, not a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


P = TypeVar("P", bound=ToolParams)


class Tool(ABC, Generic[P]):
    """One capability. Everything but `execute` is pure and made from the words alone."""

    name: ClassVar[str]
    description: ClassVar[str]
    params: type[P]
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    site: ClassVar[Site] = Site.CLIENT
    effect: ClassVar[Effect] = Effect.CHANGE

    def __init__(self) -> None:
        self.definition = ToolDefinition(
            name=self.name,
            description=self.description,
            input_schema=self.params.model_json_schema(),
            safety_level=self.safety_level,
            site=self.site,
            effect=self.effect,
        )

    def spec(self) -> ToolSpec:
        return self.definition.spec

    def pre_validate(self, params: P, scene: Scene) -> list[Finding]:
        """Reasons for concern, before anyone is asked. Never raises."""
        return []

    def plan(self, params: P, scene: Scene) -> Plan:
        """What would really happen, for the digest and the card."""
        return Plan()

    @abstractmethod
    def preview(self, params: P) -> str:
        """What will happen, in one sentence for a person."""

    @abstractmethod
    async def execute(self, params: P, scene: Scene, hands: Hands) -> ToolResult:
        """Do it."""


AnyTool = Tool[Any]

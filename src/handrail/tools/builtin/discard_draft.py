"""discard_draft: remove steps of a session's draft that shall never be applied."""

from typing import ClassVar

from pydantic import Field

from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.visible import visible
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams

_MOST_NAMED = 20
_BY_PERSON = "The person has discarded steps of the draft of this session"


class DiscardDraftParams(ToolParams):
    step: int = Field(
        default=1,
        ge=1,
        description="The number of the first step to remove; all later ones go with it.",
    )


class DiscardDraft(Tool[DiscardDraftParams]):
    name: ClassVar[str] = "discard_draft"
    description: ClassVar[str] = (
        "Remove a step of this session's draft and all later ones, as if these calls had not been "
        "made. Without a step, the whole draft is removed. The workspace is not changed."
    )
    params = DiscardDraftParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    decides_drafts: ClassVar[bool] = True
    reserved: ClassVar[bool] = True

    def preview(self, params: DiscardDraftParams) -> str:
        return f"Remove the draft of this session from step {params.step:,} on"

    async def execute(
        self,
        params: DiscardDraftParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        session_id = "" if hands.call is None else hands.call.session_id
        why = _BY_PERSON if hands.by_person else ""
        gone = await hands.drafts.discard(session_id, params.step, why)
        if not gone:
            return ToolResult(True, f"The draft has no step {params.step:,}; nothing was removed")
        lines = [f"step {step.number}: {visible(step.title)}" for step in gone[:_MOST_NAMED]]
        if (more := len(gone) - _MOST_NAMED) > 0:
            lines.append(f"and {more:,} more")
        told = "\n".join(("Removed from the draft:", *lines))
        return ToolResult(True, told, {"removed": [step.number for step in gone]})

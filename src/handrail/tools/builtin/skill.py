"""skill: how to do something well, in the words of the person or of Handrail."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from handrail.core.errors import ToolError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.skill import MOST_NAME_CHARS, Skill
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.visible import cut, visible
from handrail.policy.security import Scene
from handrail.tools.base import Tool, ToolParams

_LISTED_CHARS = 200


class SkillParams(ToolParams):
    name: str = Field(
        min_length=1, max_length=MOST_NAME_CHARS, description="The skill, such as `careful-edit`."
    )


class LoadSkill(Tool[SkillParams]):
    name: ClassVar[str] = "skill"
    description: ClassVar[str] = (
        "Load a skill: instructions for doing a kind of work well. A name that is unknown is "
        "answered with those there are."
    )
    params = SkillParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    site: ClassVar[Site] = Site.SERVER
    effect: ClassVar[Effect] = Effect.READ

    def preview(self, params: SkillParams) -> str:
        return f"Load the skill {visible(params.name)}"

    async def execute(
        self,
        params: SkillParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        found = await asyncio.to_thread(hands.skills.find, params.name)
        if found is None:
            others = await asyncio.to_thread(hands.skills.list_all)
            raise ToolError(f"no skill is named {visible(params.name)}{_those(others)}")
        fields = {
            "name": found.name,
            "description": found.description,
            "builtin": found.builtin,
        }
        return ToolResult(True, f"# {found.name}\n\n{found.body}", fields)


def _those(skills: Sequence[Skill]) -> str:
    if not skills:
        return ", and there are none"
    lines = (f"{one.name}: {cut(visible(one.description), _LISTED_CHARS)}" for one in skills)
    return "; there are:\n" + "\n".join(lines)

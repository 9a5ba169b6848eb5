from pathlib import Path

import pytest

from handrail.core.errors import ToolError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.skill import Skill
from handrail.core.tool import Effect, Site
from handrail.knowledge.skills import SkillShelf
from handrail.policy.security import Scene
from handrail.tools.builtin.skill import LoadSkill, SkillParams

SCENE = Scene("/home/ada/project")


async def test_a_skill_is_loaded_whole() -> None:
    hands = Hands(skills=SkillShelf())

    result = await LoadSkill().execute(SkillParams(name="careful-edit"), SCENE, hands)

    assert result.output.startswith("# careful-edit\n\n")
    assert "While you write" in result.output
    assert "keywords:" not in result.output
    assert (result.fields["name"], result.fields["builtin"]) == ("careful-edit", True)


@pytest.mark.parametrize("name", ["fly", "../careful-edit", "Careful-Edit", "\n", "\ud800"])
async def test_an_unknown_name_is_answered_with_those_there_are(name: str) -> None:
    with pytest.raises(ToolError) as caught:
        await LoadSkill().execute(
            SkillParams.model_construct(name=name), SCENE, Hands(skills=SkillShelf(Path("/none")))
        )

    first, *others = caught.value.message.splitlines()
    assert first.endswith("; there are:")
    assert [line.partition(":")[0] for line in others] == [
        "careful-edit",
        "explain-risk",
        "git-hygiene",
    ]


async def test_where_there_are_none_that_is_said() -> None:
    class Empty:
        def list_all(self) -> list[Skill]:
            return []

        def find(self, name: str) -> Skill | None:
            return None

    with pytest.raises(ToolError, match=r"^no skill is named fly, and there are none$"):
        await LoadSkill().execute(SkillParams(name="fly"), SCENE, Hands(skills=Empty()))


def test_it_is_a_read_of_low_risk_on_the_server() -> None:
    tool = LoadSkill()
    assert (tool.safety_level, tool.site, tool.effect) == (
        RiskLevel.LOW,
        Site.SERVER,
        Effect.READ,
    )

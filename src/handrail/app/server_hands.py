"""What the tools that live on the server may touch there, for the person whose call it is."""

from handrail.app.affairs import Affairs
from handrail.core.execution import ToolExecution
from handrail.core.hands import Hands
from handrail.core.project import Place
from handrail.core.web import Web
from handrail.knowledge.memory import MemoryKeeper, Owner
from handrail.knowledge.skills import SkillShelf


class ServerHands:
    def __init__(self, memories: MemoryKeeper, skills: SkillShelf, web: Web, affairs: Affairs):
        self._memories = memories
        self._web = web
        self._skills = skills
        self._affairs = affairs

    async def __call__(self, call: ToolExecution, place: Place) -> Hands:
        # Those that the owner has written are for the owner's agents.
        is_owner = await self._affairs.is_owner(call.user_id)
        owner = Owner(call.user_id, call.project_id, call.agent_id, place.session.tainted_by)
        return Hands(
            memories=self._memories.of(owner),
            skills=self._skills if is_owner else SkillShelf(),
            web=self._web,
            reader=self._affairs.reader_for(call.user_id, call.project_id),
            config=self._affairs.config_of(call.user_id),
            about=self._affairs.about(call.user_id, call.project_id),
        )

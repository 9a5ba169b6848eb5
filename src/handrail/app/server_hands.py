"""What the tools that live on the server may touch there, for the person whose call it is."""

from handrail.core.execution import ToolExecution
from handrail.core.hands import Hands
from handrail.core.project import Place
from handrail.core.web import Web
from handrail.knowledge.memory import MemoryKeeper, Owner
from handrail.knowledge.skills import SkillShelf


class ServerHands:
    def __init__(self, memories: MemoryKeeper, skills: SkillShelf, web: Web):
        self._memories = memories
        self._web = web
        self._skills = skills

    def __call__(self, call: ToolExecution, place: Place) -> Hands:
        owner = Owner(call.user_id, call.project_id, call.agent_id, place.session.tainted_by)
        return Hands(memories=self._memories.of(owner), skills=self._skills, web=self._web)

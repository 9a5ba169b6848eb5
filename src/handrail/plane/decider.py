"""The person who decides."""

from dataclasses import dataclass

from handrail.core.access import Principal, Role
from handrail.core.ids import ProjectId
from handrail.core.ports import Store


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, in which project, and on which screen."""

    principal: Principal
    project_id: ProjectId
    channel: str

    async def find_name(self, store: Store) -> str:
        """The name of the person: of an approver, or of the owner of the project."""
        if self.principal.role is Role.APPROVER:
            return (await store.list_names(self.project_id))[self.principal.subject]
        return (await store.get_user(self.principal.user_id)).name

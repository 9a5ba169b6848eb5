"""The person who decides."""

from dataclasses import dataclass

from handrail.core.access import Principal
from handrail.core.ids import ProjectId


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, in which project, and on which screen."""

    principal: Principal
    project_id: ProjectId
    channel: str

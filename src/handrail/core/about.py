"""What Handrail can tell about itself, to whoever works with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from handrail.core.budget import BudgetState
from handrail.core.configuration import Configuration
from handrail.core.ids import ProjectId, UserId


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The model that Handrail's own agent asks; `key` is its beginning, to know it again.

    Where no model can be asked, `trouble` says why. None is what is not known, or not for all.
    """

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    key: str | None = None
    key_place: str | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """How it goes today. The calls are those of the project, the budget is the person's."""

    version: str
    uptime_seconds: int
    calls_today: int
    budget: BudgetState


class About(Protocol):
    """What one person and their agents may know."""

    async def paths(self) -> Mapping[str, str]:
        """Where things lie.

        Raises:
            Forbidden: It is not this person's machine.
        """
        ...

    async def model(self) -> ModelFacts: ...

    async def budget(self) -> BudgetState: ...

    async def stats(self) -> Stats: ...


class Affairs(Protocol):
    """Handrail's own affairs, for whoever asks."""

    async def is_owner(self, user_id: UserId) -> bool:
        """Whether this is who runs the server; what lies in its folder is theirs."""
        ...

    def config_of(self, user_id: UserId) -> Configuration: ...

    def about(self, user_id: UserId, project_id: ProjectId) -> About: ...

"""The port through which tools run programs."""

from collections.abc import Sequence
from typing import Protocol

from handrail.core.outcome import CommandOutcome
from handrail.core.sight import Sight
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject


class Commands(Protocol):
    """Programs, started with the workspace as their folder and an environment from nothing."""

    async def look(self, stages: Sequence[Stage]) -> Sight:
        """What these programs would run, as the machine stands; nothing is run or changed.

        Raises:
            CommandExecutionError: One of them is not here.
            PathValidationError: One of them lies elsewhere.
        """
        ...

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        """Run programs in boxes of their profiles, or in the open where there is none.

        `expected` are the facts of an earlier look. They are compared with the machine right before
        the first program is started.

        Raises:
            CommandExecutionError: It could not be started.
            StaleCommandError: They do not hold any more; nothing was started.
        """
        ...

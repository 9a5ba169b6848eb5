"""The port through which long texts are judged elsewhere."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Judging(Protocol):
    """Runs pure functions over long texts away from the event loop, agent by agent."""

    async def run(
        self, agent: str, function: Callable[..., T], shared: object, /, *arguments: object
    ) -> T:
        """What a module's function returns for `shared` and the arguments, or raises.

        Raises:
            NotJudged: It took too long, or could not be run.
            Conflict: Too many calls of this agent are waiting.
        """
        ...

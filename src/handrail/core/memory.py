"""What agents remember for one person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Memory:
    """`tainted` names what made it untrusted when it was stored; None where nothing did."""

    key: str
    content: str
    category: str
    created_at: datetime
    updated_at: datetime
    tainted: str | None = None


class Memories(Protocol):
    """The memories of one person."""

    async def store(self, key: str, content: str, category: str, tainted: str | None) -> Memory:
        """Keep it under its key, instead of what was there before."""
        ...

    async def recall(self, query: str, *, limit: int, category: str | None) -> Sequence[Memory]:
        """The memories that fit, best first; the one with exactly that key before all others."""
        ...

    async def forget(self, key: str) -> bool:
        """Whether there was one."""
        ...

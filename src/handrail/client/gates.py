"""How many calls of one session work at once."""

import asyncio
from weakref import WeakValueDictionary

# Slow commands of an agent do not keep another agent's calls waiting.
MOST_AT_ONCE = 3


class Gates:
    """One gate for each session, and another for calls that must follow one another."""

    def __init__(self) -> None:
        self._gates: WeakValueDictionary[tuple[str, bool], asyncio.Semaphore] = (
            WeakValueDictionary()
        )

    def of(self, session_id: str, *, in_turn: bool = False) -> asyncio.Semaphore:
        most = 1 if in_turn else MOST_AT_ONCE
        return self._gates.setdefault((session_id, in_turn), asyncio.Semaphore(most))

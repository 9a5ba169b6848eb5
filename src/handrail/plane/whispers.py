"""Whispers: what is told to whoever listens now, and kept nowhere.

A listener that is away loses nothing: a message comes whole, and drafts are listed.
"""

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from handrail.core.event import Topic
from handrail.core.ids import ProjectId, RunId, SessionId
from handrail.core.ports import Bus

# A listener as slow as this skips what it has not heard yet.
_MOST_WAITING = 1_000


class Whisper(NamedTuple):
    """A piece of text, of what will be the message with that number."""

    project_id: ProjectId
    session_id: SessionId
    run_id: RunId
    seq: int
    text: str


class DraftNews(NamedTuple):
    """The draft of a session was listed, has changed or is no longer listed."""

    project_id: ProjectId
    session_id: SessionId


Told = Whisper | DraftNews


class Ear:
    """What one listener has not heard yet."""

    def __init__(self) -> None:
        self._waiting: deque[Told] = deque(maxlen=_MOST_WAITING)

    def add(self, told: Told) -> None:
        self._waiting.append(told)

    def take(self) -> list[Told]:
        """Everything since the last time, what belongs together joined."""
        taken: list[Told] = []
        while self._waiting:
            last, told = taken[-1] if taken else None, self._waiting.popleft()
            if isinstance(last, Whisper) and last[:-1] == told[:-1]:
                taken[-1] = last._replace(text=last.text + told[-1])
            elif last != told:
                taken.append(told)
        return taken


class Whispers:
    def __init__(self, bus: Bus):
        self._bus = bus
        self._ears: dict[ProjectId, list[Ear]] = {}

    @contextmanager
    def listen(self, project_id: ProjectId) -> Generator[Ear]:
        ear = Ear()
        self._ears.setdefault(project_id, []).append(ear)
        try:
            yield ear
        finally:
            ears = self._ears[project_id]
            ears.remove(ear)
            if not ears:
                del self._ears[project_id]

    def tell(self, told: Told) -> None:
        for ear in self._ears.get(told.project_id, ()):
            ear.add(told)
        self._bus.ring((Topic.project(told.project_id),))

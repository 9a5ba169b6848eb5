"""Whispers: text on its way to a message, told to whoever listens now, and kept nowhere.

A listener that is away misses some of it and loses nothing: the message comes whole.
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
    """A piece of what will be the message with that number."""

    project_id: ProjectId
    session_id: SessionId
    run_id: RunId
    seq: int
    text: str


class Ear:
    """What one listener has not heard yet."""

    def __init__(self) -> None:
        self._waiting: deque[Whisper] = deque(maxlen=_MOST_WAITING)

    def add(self, whisper: Whisper) -> None:
        self._waiting.append(whisper)

    def take(self) -> list[Whisper]:
        """Everything since the last time, what belongs together joined."""
        taken: list[Whisper] = []
        while self._waiting:
            whisper = self._waiting.popleft()
            if taken and taken[-1][:-1] == whisper[:-1]:
                taken[-1] = taken[-1]._replace(text=taken[-1].text + whisper.text)
            else:
                taken.append(whisper)
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

    def tell(self, whisper: Whisper) -> None:
        for ear in self._ears.get(whisper.project_id, ()):
            ear.add(whisper)
        self._bus.ring((Topic.project(whisper.project_id),))

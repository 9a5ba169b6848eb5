"""Tools that leave their traces on a desk of the server, and a server that is at work."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from handrail.core.errors import ToolError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.policy.security import Scene
from handrail.server.services import Services
from handrail.tools.base import Tool, ToolParams
from handrail.tools.registry import ToolRegistry


class Words(ToolParams):
    text: str = ""


@dataclass
class Desk:
    """Where the tool below leaves its traces."""

    done: list[str] = field(default_factory=list[str])
    may_end: asyncio.Event = field(default_factory=asyncio.Event)


class Note(Tool[Words]):
    """Notes a text on the server's desk; `wait` waits first, `fail` and `break` do not do it."""

    name: ClassVar[str] = "note"
    description: ClassVar[str] = "Notes."
    params = Words
    site: ClassVar[Site] = Site.SERVER
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def preview(self, params: Words) -> str:
        return f"Note {params.text}"

    async def execute(
        self, params: Words, scene: Scene, hands: Hands, facts: JsonObject | None = None
    ) -> ToolResult:
        if params.text == "fail":
            raise ToolError("there is no pencil")
        if params.text == "break":
            raise RuntimeError("a bug")
        if params.text == "wait":
            await self._desk.may_end.wait()
        self._desk.done.append(params.text)
        return ToolResult(True, f"noted {params.text}")


class Look(Note):
    name: ClassVar[str] = "look"
    effect: ClassVar[Effect] = Effect.READ


class NoteAgain(Note):
    name: ClassVar[str] = "note_again"
    repeatable: ClassVar[bool] = True


class NoteAsked(Note):
    name: ClassVar[str] = "note_asked"
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM


def registry_at(desk: Desk) -> ToolRegistry:
    return ToolRegistry(kind(desk) for kind in (Note, Look, NoteAgain, NoteAsked))


@asynccontextmanager
async def at_work(services: Services) -> AsyncGenerator[None]:
    works = [services.inside.work_forever()]
    if services.runs is not None:
        works.append(services.runs.work_forever())
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in ended] == [asyncio.CancelledError] * len(tasks)

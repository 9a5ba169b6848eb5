"""A person at the terminal's screen, before a real server, with a real client beside it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from handrail.client.api import HandrailApi
from handrail.tui.app import HandrailApp
from handrail.tui.attention import Patience
from handrail.tui.line import Line
from handrail.tui.lines import Lines
from handrail.tui.show import Listen, fill, watching
from tests.journeys.conftest import Rig
from tests.journeys.conftest import asks_beforehand as asks_beforehand
from tests.journeys.conftest import rig as rig

HASTY = Patience(deaf_seconds=0.0, quiet_seconds=0.02)
WIDE = (120, 40)


class Person:
    """Looks at one screen, and presses keys."""

    def __init__(self, app: HandrailApp, pilot: Pilot[Any]):
        self.app = app
        self.pilot = pilot

    @property
    def screen_text(self) -> str:
        """Every line as it is drawn."""
        width = self.app.size.width
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.crop(0, width).text.rstrip() for strip in strips)

    @property
    def bar(self) -> str:
        return str(self.app.desk.query_one("#bar", Static).content)

    async def sees(self, words: str, *, seconds: float = 20) -> None:
        await self.until(lambda: words in self.screen_text, words, seconds=seconds)

    async def until(
        self, reached: Callable[[], bool], what: str = "it", *, seconds: float = 20
    ) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not reached():
                    await self.pilot.pause(0.02)
        except TimeoutError:
            raise AssertionError(f"{what!r} did not come:\n{self.screen_text}") from None

    async def press(self, *keys: str) -> None:
        """Press keys like somebody who looks between them."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause(0.08)

    async def type(self, words: str) -> None:
        await self.pilot.press(*("space" if char == " " else char for char in words), "enter")

    async def reads_to_the_end(self) -> None:
        card = self.app.desk.query_one("#card", Lines)
        while not card.end_was_seen:
            await self.press("space")


@asynccontextmanager
async def sit_down(
    rig: Rig, *, size: tuple[int, int] = WIDE, patience: Patience = HASTY
) -> AsyncGenerator[Person]:
    known = rig.credentials
    async with HandrailApi(known.server, known.project_id, known.user_token) as api:
        app = HandrailApp(Line(api), patience=patience)
        async with sitting(app, watching(api), size) as person:
            await person.sees("● live")
            yield person


@asynccontextmanager
async def sitting(
    app: HandrailApp, listen: Listen, size: tuple[int, int] = WIDE
) -> AsyncGenerator[Person]:
    """At an app that is open, and whose inbox is being filled."""
    async with asyncio.TaskGroup() as group, app.run_test(size=size) as pilot:
        filling = group.create_task(fill(app, listen))
        try:
            yield Person(app, pilot)
        finally:
            filling.cancel()


@pytest.fixture
async def person(rig: Rig) -> AsyncGenerator[Person]:
    """At a screen of their own, with server and client in their own processes."""
    rig.start_server()
    rig.start_client()
    async with sit_down(rig) as sitting:
        yield sitting


Asking = Callable[..., "asyncio.Task[dict[str, Any]]"]


@pytest.fixture
async def asks(rig: Rig) -> AsyncGenerator[Asking]:
    """Ask for a call as an agent would; it goes on while the person decides."""
    tasks: list[asyncio.Task[dict[str, Any]]] = []

    def ask(tool_name: str, params: dict[str, Any], call_id: str = "call-1", **more: Any):
        call: Coroutine[Any, Any, dict[str, Any]] = rig.call(tool_name, params, call_id, **more)
        tasks.append(asyncio.create_task(call))
        return tasks[-1]

    yield ask
    for task in tasks:
        task.cancel()


async def ended(call: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    async with asyncio.timeout(30):
        return await call

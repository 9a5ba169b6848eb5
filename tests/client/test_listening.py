"""The line is kept open whatever happens to it, and every event is handed over once, in order."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from handrail.client import listening
from handrail.client.api import ApiError, HandrailApi
from handrail.client.listening import Listener, Pauses
from handrail.client.sse import ServerEvent
from handrail.core.errors import SetupError
from tests.client.conftest import until
from tests.ports import free_port


@dataclass
class OddServer:
    """Says on each stream what it was given, and hangs up; then it has nothing more to say."""

    streams: list[list[bytes]]
    statuses: list[int] = field(default_factory=list[int])
    last_event_ids: list[str | None] = field(default_factory=list[str | None])

    async def stream(self, request: web.Request) -> web.StreamResponse:
        self.last_event_ids.append(request.headers.get("last-event-id"))
        if self.statuses:
            return web.json_response({"detail": "not you"}, status=self.statuses.pop(0))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        if not self.streams:
            await asyncio.Event().wait()
        for piece in self.streams.pop(0):
            await response.write(piece)
            await asyncio.sleep(0.01)
        return response

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str]:
        app = web.Application()
        app.router.add_get("/my/projects/prj_1/chat/stream", self.stream)
        runner = web.AppRunner(app, shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


@dataclass
class Ear:
    """What has been heard, and how the line was."""

    events: list[ServerEvent] = field(default_factory=list[ServerEvent])
    lines: list[bool] = field(default_factory=list[bool])

    @asynccontextmanager
    async def listening_to(self, server: str) -> AsyncGenerator[asyncio.Task[None]]:
        async with HandrailApi(server, "prj_1", "token") as api:
            listener = Listener(api, self.events.append, self.lines.append)
            running = asyncio.create_task(listener.run())
            try:
                yield running
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    @property
    def heard(self) -> list[tuple[int | None, str, bytes | str]]:
        return [(event.id, event.name, event.data) for event in self.events]


def frame(number: int, name: str = "tool.status", data: bytes = b"{}") -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, name.encode(), data)


async def test_events_are_handed_over_in_order_and_once() -> None:
    odd, ear = OddServer([[frame(1), frame(2)], [frame(3)], [frame(4)]]), Ear()
    async with odd.running() as server, ear.listening_to(server):
        await until(lambda: len(odd.last_event_ids) == 4)

    assert [event.id for event in ear.events] == [1, 2, 3, 4]
    assert odd.last_event_ids == [None, "2", "3", "4"]


async def test_an_event_that_comes_in_pieces_is_one_event() -> None:
    whole = frame(7, "tool.approval_request", '{"description":"Grüße"}'.encode())
    odd, ear = OddServer([[whole[n : n + 1] for n in range(len(whole))]]), Ear()
    async with odd.running() as server, ear.listening_to(server):
        await until(lambda: len(ear.events) == 1)

    (event,) = ear.events
    assert (event.id, event.name) == (7, "tool.approval_request")


async def test_half_an_event_before_a_break_is_no_event() -> None:
    odd, ear = OddServer([[frame(1), frame(2)[:-1]], [frame(2)]]), Ear()
    async with odd.running() as server, ear.listening_to(server):
        await until(lambda: len(odd.last_event_ids) == 3)

    assert [event.id for event in ear.events] == [1, 2]
    assert odd.last_event_ids[1] == "1"


async def test_the_line_is_announced_up_and_down() -> None:
    odd, ear = OddServer([[frame(1)], [frame(2)]], statuses=[503]), Ear()
    async with odd.running() as server, ear.listening_to(server):
        await until(lambda: len(ear.lines) == 6)

    assert ear.lines == [False, True, False, True, False, True]


async def test_a_server_that_is_not_there_yet_is_waited_for() -> None:
    ear = Ear()
    async with ear.listening_to(f"http://127.0.0.1:{free_port()}") as running:
        await until(lambda: len(ear.lines) == 2)
        assert not running.done()

    assert ear.lines == [False, False]


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_a_server_that_does_not_know_us_ends_the_listening(status: int) -> None:
    odd, ear = OddServer([], statuses=[status]), Ear()
    async with odd.running() as server, ear.listening_to(server) as running:
        with pytest.raises(ApiError) as caught:
            async with asyncio.timeout(10):
                await running

    assert (caught.value.status, caught.value.message) == (status, "not you")


@pytest.mark.parametrize("status", [400, 409, 429, 500, 502, 503])
async def test_any_other_trouble_is_waited_out(status: int) -> None:
    odd, ear = OddServer([[frame(1)]], statuses=[status]), Ear()
    async with odd.running() as server, ear.listening_to(server):
        await until(lambda: len(ear.events) == 1)

    assert ear.lines[:2] == [False, True]


async def test_pauses_grow_to_a_limit_and_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(listening.asyncio, "sleep", sleep)
    pauses = Pauses()
    for _ in range(10):
        await pauses.sleep()
    pauses.reset()
    await pauses.sleep()

    longest = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0, 0.1]
    for seconds, most in zip(slept, longest, strict=True):
        assert most / 2 <= seconds <= most


async def test_a_server_of_another_version_ends_the_listening_with_what_to_upgrade() -> None:
    greeting = b": handrail 9.0\nid: 1\nretry: 1000\n\n"
    odd, ear = OddServer([[greeting[:8], greeting[8:] + frame(2)]]), Ear()
    async with odd.running() as server, ear.listening_to(server) as running:
        with pytest.raises(SetupError, match=r"speaks wire version 9\.0.*upgrade Handrail on this"):
            async with asyncio.timeout(10):
                await running

    assert ear.events == []

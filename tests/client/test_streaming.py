"""The line to the server is kept open, and what was done is told until it is known."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from aiohttp import web

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.client.api import ApiError, HandrailApi
from handrail.client.asking import Asking
from handrail.client.handler import ToolHandler
from handrail.client.review import Reviewer
from handrail.client.streaming import StreamingClient
from handrail.core.access import Role
from handrail.core.hands import Files, Hands
from handrail.core.project import Autonomy
from handrail.policy.security import Scene
from handrail.server.services import Services
from handrail.server.serving import bind
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock, FakeCommands, ScriptedPerson
from handrail.tools.catalogue import builtin_registry
from tests.client.conftest import SlowFiles, a_journal, a_signal, until
from tests.conftest import Household
from tests.server.conftest import serving


def fresh(store: SqliteStore, bus: LocalBus, clock: FakeClock) -> Services:
    """Services as a server that was just started has them."""
    return build_services(store, bus, clock)


@asynccontextmanager
async def connected(
    server: str,
    project_id: str,
    token: str,
    files: Files,
    *,
    workspace: str = "/workspace",
    announce: Callable[[bool], None] = lambda up: None,
    person: ScriptedPerson | None = None,
) -> AsyncGenerator[asyncio.Task[None]]:
    """A client that runs for as long as the context is open."""

    scene = Scene(workspace, Autonomy.FULL)
    reviewer = Reviewer(builtin_registry(), scene, Hands(files, FakeCommands({})))
    async with HandrailApi(server, project_id, token) as api:
        asking = Asking(api, person)

        def handler(line: StreamingClient) -> ToolHandler:
            return ToolHandler(reviewer, FakeClock(), line, asking, a_journal())

        running = asyncio.create_task(StreamingClient(api, handler, asking, announce).run())
        try:
            yield running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def ask(server: str, home: Household, call_id: str, wait: float = 10.0) -> dict[str, Any]:
    async with (
        asyncio.timeout(15),
        HandrailApi(server, home.project.id, home.secrets[Role.AGENT]) as api,
    ):
        return await api.execute(
            "read_file", {"path": "README.md"}, session_id="s", call_id=call_id, wait=wait
        )


# Against the real server


async def test_a_call_is_executed_and_its_result_brought_back(
    services: Services, household: Household
) -> None:
    files = SlowFiles({"README.md": b"hello"}, slow=False)
    async with (
        serving(services) as server,
        connected(server, household.project.id, household.secrets[Role.CLIENT], files),
    ):
        answers = await asyncio.gather(*(ask(server, household, f"c{n}") for n in range(10)))

    assert [answer["status"] for answer in answers] == ["completed"] * 10
    assert [answer["result"]["content"] for answer in answers] == ["hello"] * 10
    assert len(files.read_paths) == 10


async def test_the_line_is_found_again_when_the_server_comes_back(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    with bind("127.0.0.1", 0) as probe:
        port = probe.getsockname()[1]
    server = f"http://127.0.0.1:{port}"
    files = SlowFiles({"README.md": b"hello"}, slow=False)
    lines: list[bool] = []
    async with connected(
        server,
        household.project.id,
        household.secrets[Role.CLIENT],
        files,
        announce=lines.append,
    ):
        await until(lambda: False in lines)  # Nobody is there yet.
        async with serving(fresh(store, bus, clock), port=port):
            first = await ask(server, household, "c1")
        # Asked while nobody executes; the client is signalled when it has come back.
        async with serving(fresh(store, bus, clock), port=port):
            second = await ask(server, household, "c2")

    assert [first["status"], second["status"]] == ["completed", "completed"]
    changes = [up for up, before in zip(lines, [None, *lines], strict=False) if up != before]
    assert changes[:4] == [False, True, False, True]


async def test_a_result_that_could_not_be_told_is_told_when_the_server_is_back(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    with bind("127.0.0.1", 0) as probe:
        port = probe.getsockname()[1]
    server = f"http://127.0.0.1:{port}"
    files = SlowFiles({"README.md": b"hello"})
    async with connected(server, household.project.id, household.secrets[Role.CLIENT], files):
        async with serving(fresh(store, bus, clock), port=port):
            asked = await ask(server, household, "c1", wait=0)
            await until(lambda: files.at_once == 1)
        # The server is gone when the work is done.
        files.let_go.set()
        await until(lambda: files.at_once == 0)
        async with serving(fresh(store, bus, clock), port=port):
            answer = await ask(server, household, "c1")

    assert answer["tool_id"] == asked["tool_id"]
    assert (answer["status"], answer["result"]["content"]) == ("completed", "hello")
    assert files.read_paths == ["README.md"]


@pytest.mark.parametrize(
    ("token", "project", "status"),
    [
        pytest.param("hr_client_unknown", None, 401, id="unknown-token"),
        pytest.param(Role.AGENT, None, 403, id="another-role"),
        pytest.param(Role.CLIENT, "prj_none", 404, id="unknown-project"),
    ],
)
async def test_a_client_that_is_not_known_stops_and_says_why(
    services: Services, household: Household, token: str, project: str | None, status: int
) -> None:
    secret = household.secrets[Role(token)] if token in set(Role) else token
    async with (
        serving(services) as server,
        connected(server, project or household.project.id, secret, SlowFiles({})) as running,
    ):
        with pytest.raises(ExceptionGroup) as caught:
            async with asyncio.timeout(10):
                await running

    (error,) = caught.value.exceptions
    assert isinstance(error, ApiError)
    assert error.status == status
    assert error.message


# Against a server that misbehaves


@dataclass
class OddServer:
    """Says on the stream what it was given, and takes reports as it likes."""

    frames: list[list[bytes]]
    statuses: list[int] = field(default_factory=list[int])
    last_event_ids: list[str | None] = field(default_factory=list[str | None])
    reports: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    accept: Callable[[list[dict[str, Any]]], int] = lambda results: 200

    async def stream(self, request: web.Request) -> web.StreamResponse:
        self.last_event_ids.append(request.headers.get("last-event-id"))
        if self.statuses:
            return web.json_response({"detail": "not now"}, status=self.statuses.pop(0))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        if not self.frames:
            await asyncio.Event().wait()  # Nothing more to say.
        for frame in self.frames.pop(0):
            await response.write(frame)
        return response

    async def results(self, request: web.Request) -> web.Response:
        results = (await request.json())["results"]
        self.reports.append(results)
        status = self.accept(results)
        if status != 200:
            return web.json_response({"detail": "no thanks"}, status=status)
        receipts = [
            {"success": True, "tool_id": one["tool_id"], "status": one["status"], "message": ""}
            for one in results
        ]
        return web.json_response({"results": receipts})

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str]:
        app = web.Application()
        app.router.add_get("/my/projects/prj_1/chat/stream", self.stream)
        app.router.add_post("/my/projects/prj_1/tools/results", self.results)
        runner = web.AppRunner(app, shutdown_timeout=0.01)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


def frame(number: int, name: str, data: bytes) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, name.encode(), data)


def signal_frame(number: int, tool_id: str, **fields: Any) -> bytes:
    data = msgspec.json.encode(a_signal(tool_id, **fields))
    return frame(number, "tool.execution_signal", data)


@pytest.fixture
def files() -> SlowFiles:
    return SlowFiles({"README.md": b"hello"}, slow=False)


async def test_after_a_break_the_client_says_where_it_stood(files: SlowFiles) -> None:
    odd = OddServer([[frame(4, "tool.status", b"{}"), b": ping\n\n"], [b"id: 9\ndata: x\n\n"]])
    async with odd.running() as server, connected(server, "prj_1", "t", files):
        await until(lambda: len(odd.last_event_ids) == 3)

    assert odd.last_event_ids == [None, "4", "9"]


async def test_a_server_that_is_not_ready_is_asked_again(files: SlowFiles) -> None:
    odd = OddServer([[]], statuses=[503, 500, 409])
    lines: list[bool] = []
    async with (
        odd.running() as server,
        connected(server, "prj_1", "t", files, announce=lines.append),
    ):
        await until(lambda: True in lines)

    assert lines[:4] == [False, False, False, True]


async def test_an_event_that_cannot_be_read_is_passed_over(files: SlowFiles) -> None:
    odd = OddServer(
        [
            [
                frame(1, "tool.execution_signal", b"not json"),
                frame(2, "tool.execution_signal", b'{"tool_id": 3}'),
                frame(3, "tool.result_ack", b"[]"),
                frame(4, "tool.of_tomorrow", b"{}"),
                signal_frame(5, "exe_1"),
            ]
        ]
    )
    async with odd.running() as server, connected(server, "prj_1", "t", files):
        await until(lambda: bool(odd.reports))

    assert [(one["tool_id"], one["status"]) for one in odd.reports[0]] == [("exe_1", "completed")]


async def test_a_report_is_sent_again_until_the_server_has_it(files: SlowFiles) -> None:
    odd = OddServer([[signal_frame(1, "exe_1")]])
    odd.accept = lambda results: 503 if len(odd.reports) < 3 else 200
    async with odd.running() as server, connected(server, "prj_1", "t", files):
        await until(lambda: len(odd.reports) == 3)

    assert odd.reports == [odd.reports[0]] * 3
    assert files.read_paths == ["README.md"]


async def test_a_result_that_is_refused_still_ends_its_call(files: SlowFiles) -> None:
    odd = OddServer([[signal_frame(1, "exe_1", epoch=7)]])
    odd.accept = lambda results: 413 if results[0]["status"] == "completed" else 200
    async with odd.running() as server, connected(server, "prj_1", "t", files):
        await until(lambda: len(odd.reports) == 2)

    assert odd.reports[1] == [
        {
            "tool_id": "exe_1",
            "epoch": 7,
            "status": "failed",
            "error": "the result could not be delivered: no thanks",
            "error_type": "internal",
        }
    ]


async def test_one_bad_result_does_not_hold_up_the_others(files: SlowFiles) -> None:
    ids = [f"exe_{number}" for number in range(5)]
    odd = OddServer([[b"".join(signal_frame(n, one) for n, one in enumerate(ids))]])
    odd.accept = lambda results: (
        400
        if any(one["tool_id"] == "exe_2" and one["status"] == "completed" for one in results)
        else 200
    )
    taken: dict[str, str] = {}

    def all_taken() -> bool:
        for results in odd.reports:
            if odd.accept(results) == 200:
                taken.update((one["tool_id"], one["status"]) for one in results)
        return len(taken) == 5

    async with odd.running() as server, connected(server, "prj_1", "t", files):
        await until(all_taken)

    assert taken == dict.fromkeys(ids, "completed") | {"exe_2": "failed"}
    assert json.dumps(odd.reports).count('"exe_2"') >= 2

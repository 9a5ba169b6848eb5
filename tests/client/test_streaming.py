"""The line to the server is kept open, and what was done is told until it is known."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.client.api import ApiError, HandrailApi
from handrail.client.asking import Asking
from handrail.client.handler import ToolHandler
from handrail.client.journal import Journal, Stage
from handrail.client.review import Reviewer
from handrail.client.streaming import StreamingClient
from handrail.core.access import Role
from handrail.core.card import Choice
from handrail.core.change import Change, ForgetEvents
from handrail.core.hands import Files, Hands
from handrail.core.project import Autonomy
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.plane.connections import Connection
from handrail.plane.patience import WITHOUT_WORD
from handrail.policy.security import Scene
from handrail.server.services import Services
from handrail.server.serving import bind
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock, FakeCommands, ScriptedPerson
from handrail.tools.catalogue import builtin_registry
from tests.client.conftest import (
    SlowFiles,
    a_client,
    a_journal,
    a_signal,
    meddled,
    turn_away,
    until,
)
from tests.client.disks import next_life
from tests.client.programs import Program, real_commands
from tests.conftest import Household
from tests.ports import free_port
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
    journal: Journal | None = None,
) -> AsyncGenerator[asyncio.Task[None]]:
    """A client that runs for as long as the context is open."""

    scene = Scene(workspace, Autonomy.FULL)
    reviewer = Reviewer(builtin_registry(), scene, Hands(files, FakeCommands({})))
    async with HandrailApi(server, project_id, token) as api:
        asking = Asking(api, person)

        def handler(line: StreamingClient) -> ToolHandler:
            return ToolHandler(reviewer, FakeClock(), line, asking, journal or a_journal())

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
    receipt: dict[str, Any] = field(default_factory=dict[str, Any])

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
            | self.receipt
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


# Also when somebody in between, who does not know our paths or our haste, answers in its place.
@pytest.mark.parametrize("status", [503, 404, 403, 429])
async def test_a_report_is_sent_again_until_the_server_has_it(
    files: SlowFiles, status: int
) -> None:
    odd = OddServer([[signal_frame(1, "exe_1")]])
    odd.accept = lambda results: status if len(odd.reports) < 3 else 200
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


async def told_by_an_earlier_life(folder: Path) -> Journal:
    """A journal with one report that the server has not answered yet."""
    await Journal(folder).finish("exe_1", {"tool_id": "exe_1", "status": "completed"})
    return Journal(folder)


async def test_a_receipt_is_enough_to_forget_a_report(files: SlowFiles, tmp_path: Path) -> None:
    journal = await told_by_an_earlier_life(tmp_path / "journal")
    odd = OddServer([])
    async with odd.running() as server, connected(server, "prj_1", "t", files, journal=journal):
        await until(lambda: journal.entries == [])

    assert odd.reports == [[{"tool_id": "exe_1", "status": "completed"}]]
    assert list((tmp_path / "journal").iterdir()) == []


async def test_a_report_that_the_server_does_not_want_is_told_once(
    files: SlowFiles, tmp_path: Path
) -> None:
    journal = await told_by_an_earlier_life(tmp_path / "journal")
    odd = OddServer([], receipt={"success": False, "status": "rejected", "message": "too late"})
    with capture_logs() as lines:
        async with odd.running() as server, connected(server, "prj_1", "t", files, journal=journal):
            await until(lambda: journal.entries == [])

    assert len(odd.reports) == 1
    refusals = [line for line in lines if line["event"] == "result.rejected"]
    assert [(line["execution"], line["why"]) for line in refusals] == [("exe_1", "too late")]


async def test_a_report_on_what_was_offered_anew_is_kept_to_be_told_again(
    files: SlowFiles, tmp_path: Path
) -> None:
    journal = await told_by_an_earlier_life(tmp_path / "journal")
    odd = OddServer([], receipt={"success": False, "status": "offered_anew", "message": "anew"})
    with capture_logs() as lines:
        async with odd.running() as server, connected(server, "prj_1", "t", files, journal=journal):
            await until(lambda: any(line["event"] == "result.rejected" for line in lines))

    assert [entry.tool_id for entry in next_life(tmp_path / "journal")] == ["exe_1"]


async def test_word_of_a_cancel_that_cannot_be_read_is_passed_over(files: SlowFiles) -> None:
    odd = OddServer([[frame(1, "tool.cancel", b"[]"), signal_frame(2, "exe_1")]])
    async with odd.running() as server, connected(server, "prj_1", "t", files):
        await until(lambda: bool(odd.reports))

    assert [(one["tool_id"], one["status"]) for one in odd.reports[0]] == [("exe_1", "completed")]


async def test_a_call_of_which_the_server_says_nothing_goes_on_after_a_reset() -> None:
    slow = SlowFiles({"README.md": b"hello"})
    odd = OddServer([[signal_frame(1, "exe_1")], [frame(9, "stream.reset", b"{}")]])
    with capture_logs() as lines:
        async with odd.running() as server, connected(server, "prj_1", "t", slow):
            await until(lambda: any(line["event"] == "call.not_found" for line in lines))
            slow.let_go.set()
            await until(lambda: bool(odd.reports))

    assert [(one["tool_id"], one["status"]) for one in odd.reports[0]] == [("exe_1", "completed")]


# What is ended elsewhere, and what outlives this machine's lives

YES = Choice(approved=True)


@pytest.fixture
def root(household: Household) -> Path:
    return Path(household.workspace.root)


@pytest.fixture
def program(root: Path) -> Program:
    return Program(root)


@pytest.fixture
def journal_folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@asynccontextmanager
async def a_life(
    server: str, home: Household, journal_folder: Path | None = None
) -> AsyncGenerator[ToolHandler]:
    """The household's machine with real hands, and somebody there who agrees to everything."""
    journal = None if journal_folder is None else Journal(journal_folder)
    with FileSystemExecutor(home.workspace.root) as files:
        commands = real_commands(Path(home.workspace.root))
        person = ScriptedPerson(*[YES] * 10)
        async with a_client(
            server, home, files, person, commands=commands, journal=journal
        ) as handler:
            yield handler


async def ask_to_run(
    server: str, home: Household, program: Program, call_id: str = "c1", *, wait: float = 0.0
) -> dict[str, Any]:
    async with HandrailApi(server, home.project.id, home.secrets[Role.AGENT]) as agent:
        return await agent.execute(
            "execute_command", program.params, session_id="s", call_id=call_id, wait=wait
        )


async def begin(server: str, home: Household, program: Program, call_id: str = "c1") -> str:
    """Have it run on the client; gives the call's id."""
    asked = await ask_to_run(server, home, program, call_id)
    await until(lambda: program.runs == 1)
    return asked["tool_id"]


async def cancel(server: str, home: Household, tool_id: str) -> dict[str, Any]:
    async with HandrailApi(server, home.project.id, home.secrets[Role.USER]) as person:
        return await person.post(f"/tools/{tool_id}/cancel", {"reason": "not now"})


async def late_result(server: str, home: Household, tool_id: str) -> dict[str, Any]:
    """Wait for what was told after the end, and see that the end has stayed what it was."""
    async with HandrailApi(server, home.project.id, home.secrets[Role.USER]) as person:

        async def is_told() -> bool:
            return (await person.get(f"/tools/{tool_id}"))["late_result"] is not None

        await until(is_told)
        found = await person.get(f"/tools/{tool_id}")
    assert found["status"] == "failed"
    assert found["result"] is None
    return found["late_result"]


STOPPED = {
    "status": "failed",
    "result": None,
    "error": "it was stopped here when it was cancelled; how far it got is unknown",
    "error_type": "cancelled",
}


async def test_what_a_person_cancels_ends_on_the_machine_and_its_word_is_kept(
    services: Services, household: Household, program: Program, journal_folder: Path
) -> None:
    async with (
        serving(services) as server,
        a_life(server, household, journal_folder) as handler,
    ):
        tool_id = await begin(server, household, program)
        ended = await cancel(server, household, tool_id)
        late = await late_result(server, household, tool_id)
        await until(lambda: handler._unacknowledged == {})

    assert (ended["status"], ended["error_type"]) == ("failed", "cancelled")
    assert "it had started" in ended["error"]
    assert late | STOPPED == late
    assert not program.is_alive()
    assert next_life(journal_folder) == []


async def test_a_cancel_leaves_other_calls_alone(
    services: Services, household: Household, root: Path
) -> None:
    one, other = Program(root, "one"), Program(root, "other")
    async with serving(services) as server, a_life(server, household):
        cancelled = await begin(server, household, one, "c1")
        await begin(server, household, other, "c2")
        await cancel(server, household, cancelled)
        await until(lambda: not one.is_alive())
        assert other.is_alive()
        other.let_go()
        answer = await ask_to_run(server, household, other, "c2", wait=10)

    assert (answer["status"], answer["result"]["exit_code"]) == ("completed", 0)


async def test_a_cancel_while_the_line_was_down_is_heard_when_it_is_up_again(
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    program: Program,
) -> None:
    port = free_port()
    async with AsyncExitStack() as stack:
        async with serving(fresh(store, bus, clock), port=port) as server:
            await stack.enter_async_context(a_life(server, household))
            tool_id = await begin(server, household, program)
        async with serving(fresh(store, bus, clock)) as elsewhere:
            await cancel(elsewhere, household, tool_id)
        assert program.is_alive()
        async with serving(fresh(store, bus, clock), port=port) as server:
            late = await late_result(server, household, tool_id)

    assert late | STOPPED == late
    assert not program.is_alive()


async def test_a_cancel_that_is_forgotten_while_the_line_was_down_is_seen_all_the_same(
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    root: Path,
) -> None:
    one, other = Program(root, "one"), Program(root, "other")
    port = free_port()
    async with AsyncExitStack() as stack:
        async with serving(fresh(store, bus, clock), port=port) as server:
            await stack.enter_async_context(a_life(server, household))
            tool_id = await begin(server, household, one, "c1")
            await begin(server, household, other, "c2")
        async with serving(fresh(store, bus, clock)) as elsewhere:
            await cancel(elsewhere, household, tool_id)
        _, last = await store.event_range(household.project.id)
        forget = Change(household.project.id, clock.now(), (ForgetEvents(last),))
        await store.submit(forget)
        async with serving(fresh(store, bus, clock), port=port) as server:
            late = await late_result(server, household, tool_id)
            # What nobody has cancelled goes on.
            assert other.is_alive()
            other.let_go()
            answer = await ask_to_run(server, household, other, "c2", wait=10)

    assert late | STOPPED == late
    assert not one.is_alive()
    assert answer["status"] == "completed"


async def finish_untold(services: Services, home: Household, program: Program, folder: Path) -> str:
    """A life that does its work, and ends before the server has heard of it; gives the call."""
    deaf = meddled(services, "/tools/results", *[turn_away(503)] * 1000)
    async with serving(services, app=deaf) as server, a_life(server, home, folder):
        tool_id = await begin(server, home, program)
        program.let_go()
        await until(lambda: [one.stage for one in next_life(folder)] == [Stage.FINISHED])
    return tool_id


async def test_what_one_life_has_done_is_told_by_the_next(
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    program: Program,
    journal_folder: Path,
) -> None:
    await finish_untold(fresh(store, bus, clock), household, program, journal_folder)

    async with (
        serving(fresh(store, bus, clock)) as server,
        a_life(server, household, journal_folder) as handler,
    ):
        answer = await ask_to_run(server, household, program, wait=10)
        await until(lambda: handler._unacknowledged == {})

    assert (answer["status"], answer["result"]["exit_code"]) == ("completed", 0)
    assert program.runs == 1
    assert next_life(journal_folder) == []


async def test_what_one_life_has_done_is_told_by_the_next_also_when_nobody_waits_for_it(
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    program: Program,
    journal_folder: Path,
) -> None:
    tool_id = await finish_untold(fresh(store, bus, clock), household, program, journal_folder)
    services = fresh(store, bus, clock)
    clock.advance(WITHOUT_WORD.total_seconds() + 1)
    await services.sweeper.sweep()

    async with serving(services) as server:
        given_up = await ask_to_run(server, household, program)
        async with a_life(server, household, journal_folder) as handler:
            late = await late_result(server, household, tool_id)
            await until(lambda: handler._unacknowledged == {})

    assert (given_up["status"], given_up["error_type"]) == ("failed", "outcome_unknown")
    assert (late["status"], late["result"]["exit_code"]) == ("completed", 0)
    assert program.runs == 1
    assert next_life(journal_folder) == []


async def test_what_was_running_when_the_machine_was_told_to_stop_is_told_before_it_goes(
    services: Services, household: Household, program: Program, journal_folder: Path
) -> None:
    async with serving(services) as server:
        async with a_life(server, household, journal_folder):
            await begin(server, household, program)
        assert not program.is_alive()
        answer = await ask_to_run(server, household, program, wait=10)

    assert (answer["status"], answer["error_type"]) == ("failed", "outcome_unknown")
    assert next_life(journal_folder) == []
    assert program.runs == 1


async def test_what_could_not_be_told_before_it_went_is_told_by_the_next_life(
    store: SqliteStore,
    bus: LocalBus,
    clock: FakeClock,
    household: Household,
    program: Program,
    journal_folder: Path,
) -> None:
    async with AsyncExitStack() as stack, serving(fresh(store, bus, clock)) as server:
        await stack.enter_async_context(a_life(server, household, journal_folder))
        tool_id = await begin(server, household, program)
    left = next_life(journal_folder)
    async with (
        serving(fresh(store, bus, clock)) as server,
        a_life(server, household, journal_folder),
    ):
        answer = await ask_to_run(server, household, program, wait=10)

    assert [(entry.tool_id, entry.stage) for entry in left] == [(tool_id, Stage.FINISHED)]
    assert (answer["status"], answer["error_type"]) == ("failed", "outcome_unknown")
    assert program.runs == 1


async def test_a_report_that_crosses_with_an_offer_anew_counts_under_the_new_epoch(
    services: Services, household: Household
) -> None:
    async def offer_anew(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        at = services.clock.now()
        connection = Connection(household.client_id, household.workspace.id, at)
        await services.dispatcher.offer_open_calls(connection)
        await app(scope, receive, send)

    reading = SlowFiles({"README.md": b"hello"}, slow=False)
    app = meddled(services, "/tools/results", offer_anew)
    async with (
        serving(services, app=app) as server,
        a_client(server, household, reading) as handler,
    ):
        answer = await ask(server, household, "c1")
        await until(lambda: handler._unacknowledged == {})

    assert (answer["status"], answer["result"]["content"]) == ("completed", "hello")
    assert reading.read_paths == ["README.md"]


async def test_a_cancel_among_lost_events_is_found_though_the_server_has_trouble_first(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household, root: Path
) -> None:
    program, port = Program(root, "one"), free_port()
    async with AsyncExitStack() as stack:
        async with serving(fresh(store, bus, clock), port=port) as server:
            await stack.enter_async_context(a_life(server, household))
            tool_id = await begin(server, household, program, "c1")
        async with serving(fresh(store, bus, clock)) as elsewhere:
            await cancel(elsewhere, household, tool_id)
        _, last = await store.event_range(household.project.id)
        await store.submit(Change(household.project.id, clock.now(), (ForgetEvents(last),)))
        services = fresh(store, bus, clock)
        troubled = meddled(services, f"/tools/{tool_id}", turn_away(503))

        async with serving(services, port=port, app=troubled):
            await until(lambda: not program.is_alive())

"""Each listener hears its events once and in order, whatever happens to the line or the server."""

import asyncio
import json
import random
import signal
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest

from handrail.app.home import Credentials, Home
from handrail.bus.local import LocalBus
from handrail.client import listening
from handrail.client.api import HandrailApi, ServerUnreachable
from handrail.client.listening import Listener
from handrail.client.sse import ServerEvent
from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.client.conftest import until
from tests.conftest import Household, settle_in
from tests.journeys.conftest import FINAL_WORDS, Rig
from tests.journeys.cutting import CuttingProxy
from tests.server.conftest import add_machine

EVENTS = 5_000
DROPS = 200
CALLS = 500
STREAMS = 50
LONGEST_SECONDS = 100


class Ear:
    """What one listener was handed, in the order in which it was handed over."""

    def __init__(self) -> None:
        self.events: list[ServerEvent] = []
        self._heard = asyncio.Event()

    def hear(self, event: ServerEvent) -> None:
        self.events.append(event)
        self._heard.set()

    @property
    def numbers(self) -> list[int | None]:
        return [event.id for event in self.events]

    @property
    def calls(self) -> set[str]:
        return {json.loads(event.data)["tool_id"] for event in self.events}

    async def hears(self, number: int) -> None:
        """Wait until it has come to an event, or past it."""
        while not self.events or (self.events[-1].id or 0) < number:
            self._heard.clear()
            await self._heard.wait()

    @asynccontextmanager
    async def listening(self, server: str, project_id: str, token: str) -> AsyncGenerator[None]:
        """Listen by the product's own listener; begins when the line is up."""
        lines: list[bool] = []
        async with HandrailApi(server, project_id, token) as api:
            running = asyncio.create_task(Listener(api, self.hear, lines.append).run())
            try:
                await until(lambda: True in lines)
                yield
                assert not running.done(), "the listener has ended by itself"
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


class Machine(Ear):
    """A client that answers every signal it hears, on a line of its own."""

    def __init__(self, client_id: str, token: str) -> None:
        super().__init__()
        self.client_id = client_id
        self.token = token
        self._signals: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def hear(self, event: ServerEvent) -> None:
        super().hear(event)
        if event.name == "tool.execution_signal":
            self._signals.put_nowait(json.loads(event.data))

    async def answer_signals(self, known: Credentials) -> None:
        async with HandrailApi(known.server, known.project_id, self.token) as api:
            while True:
                heard = [await self._signals.get()]
                while not self._signals.empty():
                    heard.append(self._signals.get_nowait())
                await api.send_results([an_answer(one) for one in heard])


def an_answer(heard: dict[str, Any]) -> dict[str, Any]:
    named = {"tool_id": heard["tool_id"], "epoch": heard["epoch"]}
    return named | {"status": "completed", "result": {"success": True, "content": "hello"}}


def a_read(number: int) -> dict[str, Any]:
    return {"path": f"{number}.txt"}


async def ask_for_reads(
    known: Credentials,
    numbers: Iterable[int],
    params: Callable[[int], dict[str, Any]] = a_read,
    *,
    at_once: int = 16,
    wait: float = 0.0,
) -> None:
    """Let an agent ask for reads, several at once; each again until the server has taken it.

    With `wait`, until it has ended.
    """
    waiting = iter(numbers)
    async with HandrailApi(known.server, known.project_id, known.agent_token) as api:

        async def ask_one_by_one() -> None:
            for number in waiting:
                while not await is_done(number):
                    await asyncio.sleep(0.05)

        async def is_done(number: int) -> bool:
            try:
                answer = await api.execute(
                    "read_file",
                    params(number),
                    session_id="journey",
                    call_id=f"call-{number}",
                    wait=wait,
                )
            except ServerUnreachable:
                return False
            return wait == 0 or answer["status"] in FINAL_WORDS

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(ask_one_by_one())


@asynccontextmanager
async def a_stream(
    server: str, project_id: str, token: str, last_event_id: int | None = None
) -> AsyncGenerator[aiohttp.ClientResponse]:
    """The stream as it comes over the line."""
    async with (
        HandrailApi(server, project_id, token) as api,
        api.stream(last_event_id) as response,
    ):
        yield response


@asynccontextmanager
async def database_of(rig: Rig) -> AsyncGenerator[SqliteStore]:
    """The database of a server that is not running yet."""
    home = Home(rig.home)
    home.create()
    store = SqliteStore(home.database, LocalBus())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def credentials_of(rig: Rig, home: Household) -> Credentials:
    secrets = home.secrets
    return Credentials(
        f"http://127.0.0.1:{rig.port}",
        home.project.id,
        home.workspace.root,
        secrets[Role.USER],
        secrets[Role.CLIENT],
        secrets[Role.AGENT],
    )


async def move_in(rig: Rig, *names: str) -> list[Credentials]:
    """Make further users with a project each known to a server that is not running yet."""
    async with database_of(rig) as store:
        homes = [await settle_in(store, FakeClock(), name, f"/home/{name}") for name in names]
    return [credentials_of(rig, home) for home in homes]


def numbers_in_database(rig: Rig, known: Credentials, client_id: str | None = None) -> list[int]:
    """The events of a project; for a client those that are its own, and those for everyone."""
    mine = "" if client_id is None else f"AND (client_id IS NULL OR client_id = '{client_id}')"
    rows = rig.rows(
        f"SELECT seq FROM events WHERE project_id = '{known.project_id}' {mine} ORDER BY seq"
    )
    return [number for (number,) in rows]


def void_signals(rig: Rig, known: Credentials) -> set[int]:
    rows = rig.rows(
        "SELECT seq FROM events JOIN tool_executions ON id = execution_id WHERE"
        f" events.project_id = '{known.project_id}' AND kind = 'tool.execution_signal'"
        " AND events.epoch < tool_executions.epoch"
    )
    return {number for (number,) in rows}


def calls_in_database(rig: Rig, known: Credentials) -> set[str]:
    rows = rig.rows(f"SELECT id FROM tool_executions WHERE project_id = '{known.project_id}'")
    return {call for (call,) in rows}


@pytest.fixture
def chance() -> random.Random:
    """Chance that can be had again: a test that fails shows what was printed."""
    seed = random.randrange(2**32)
    print(f"the cuts came from random.Random({seed})")
    return random.Random(seed)


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listeners come back at once: this is about what they hear, not about how long they wait."""
    monkeypatch.setattr(listening, "_FIRST_PAUSE_SECONDS", 0.002)
    monkeypatch.setattr(listening, "_LONGEST_PAUSE_SECONDS", 0.05)


def assert_was_cut_everywhere(proxy: CuttingProxy) -> None:
    assert proxy.cuts >= DROPS
    assert proxy.cuts_within_frames >= DROPS / 4
    assert proxy.cuts_between_frames >= DROPS / 4


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.behaviour("stream.drops")
@pytest.mark.usefixtures("impatience")
async def test_a_person_whose_line_keeps_breaking_hears_every_event_once_and_in_order(
    rig: Rig, chance: random.Random
) -> None:
    rig.start_server()
    known, ear = rig.credentials, Ear()
    proxy = CuttingProxy(rig.port, chance, most_bytes=6_000)

    async with (
        asyncio.timeout(LONGEST_SECONDS),
        proxy.running() as line,
        ear.listening(line, known.project_id, known.user_token),
    ):
        proxy.begin()
        await ask_for_reads(known, range(EVENTS))
        await ear.hears(EVENTS)

    assert ear.numbers == list(range(1, EVENTS + 1))
    assert ear.numbers == numbers_in_database(rig, known)
    assert_was_cut_everywhere(proxy)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.behaviour("stream.drops")
@pytest.mark.usefixtures("impatience")
async def test_machines_whose_lines_keep_breaking_hear_their_own_events_once_and_in_order(
    rig: Rig, chance: random.Random
) -> None:
    async with database_of(rig) as store:
        home = await settle_in(store, FakeClock(), "ada", "/home/ada")
        machines = [
            Machine(home.client_id, home.secrets[Role.CLIENT]),
            Machine(*await add_machine(store, home)),
        ]
    known = credentials_of(rig, home)
    rig.start_server()
    proxies = [CuttingProxy(rig.port, chance, most_bytes=8_000) for _ in machines]

    def senseless_every_third_time(number: int) -> dict[str, Any]:
        """What makes no sense is handed to no machine; everyone hears of its end."""
        return {} if number % 3 == 0 else a_read(number)

    async with asyncio.timeout(LONGEST_SECONDS), AsyncExitStack() as stack:
        for machine, proxy in zip(machines, proxies, strict=True):
            line = await stack.enter_async_context(proxy.running())
            await stack.enter_async_context(
                machine.listening(line, known.project_id, machine.token)
            )
        group = await stack.enter_async_context(asyncio.TaskGroup())
        answering = [group.create_task(machine.answer_signals(known)) for machine in machines]
        await ask_for_reads(known, range(1), senseless_every_third_time)
        for machine, proxy in zip(machines, proxies, strict=True):
            await machine.hears(1)
            proxy.begin()
        await ask_for_reads(
            known, range(1, EVENTS * 3 // 5), senseless_every_third_time, at_once=12, wait=10
        )
        void = void_signals(rig, known)
        for machine in machines:
            own = numbers_in_database(rig, known, machine.client_id)
            await machine.hears(max(set(own) - void))
        for task in answering:
            task.cancel()

    assert len(numbers_in_database(rig, known)) >= EVENTS
    for machine, proxy in zip(machines, proxies, strict=True):
        own = numbers_in_database(rig, known, machine.client_id)
        assert machine.numbers == [number for number in own if number in set(machine.numbers)]
        # A signal that was given anew before it could be heard is void, and not told any more.
        assert set(own) - set(machine.numbers) <= void_signals(rig, known)
        assert len(machine.numbers) < len(numbers_in_database(rig, known))
        assert_was_cut_everywhere(proxy)


@pytest.mark.behaviour("stream.apart")
async def test_two_users_of_one_server_hear_only_of_their_own_calls(rig: Rig) -> None:
    users = await move_in(rig, "ada", "bea")
    rig.start_server()
    ears = [{known.user_token: Ear(), known.client_token: Ear()} for known in users]

    async with AsyncExitStack() as stack:
        for known, own_ears in zip(users, ears, strict=True):
            for token, ear in own_ears.items():
                await stack.enter_async_context(
                    ear.listening(known.server, known.project_id, token)
                )
        async with asyncio.TaskGroup() as group:
            for known in users:
                group.create_task(ask_for_reads(known, range(CALLS)))
        for own_ears in ears:
            for ear in own_ears.values():
                await ear.hears(CALLS)

    for known, own_ears in zip(users, ears, strict=True):
        for ear in own_ears.values():
            assert ear.numbers == list(range(1, CALLS + 1))
            assert ear.calls == calls_in_database(rig, known)


@pytest.mark.behaviour("stream.apart")
async def test_nobody_is_let_into_the_stream_of_another(rig: Rig) -> None:
    users = await move_in(rig, "ada", "bea")
    rig.start_server()
    for known in users:
        await ask_for_reads(known, range(3))

    async def knock(project_id: str, token: str, last_event_id: int | None) -> int:
        async with a_stream(users[0].server, project_id, token, last_event_id) as response:
            return response.status

    answers = [
        await knock(other.project_id, token, last_event_id)
        for own, other in (users, users[::-1])
        for token in (own.user_token, own.client_token, own.agent_token)
        for last_event_id in (None, 0, 1, 3, 1_000)
    ]
    at_home = [await knock(own.project_id, own.user_token, 0) for own in users]

    assert set(answers) == {404}
    assert at_home == [200, 200]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.behaviour("stream.server-dies")
@pytest.mark.usefixtures("impatience")
async def test_a_listener_hears_every_event_once_though_the_server_keeps_being_killed(
    rig: Rig,
) -> None:
    server = rig.start_server()
    known, ear = rig.credentials, Ear()

    async def kill_and_go_on() -> None:
        nonlocal server
        for number in range(EVENTS // 4, EVENTS, EVENTS // 4):
            await ear.hears(number)
            await asyncio.to_thread(rig.kill, server)
            server = await asyncio.to_thread(rig.start_server)

    async with (
        asyncio.timeout(LONGEST_SECONDS),
        ear.listening(known.server, known.project_id, known.user_token),
    ):
        async with asyncio.TaskGroup() as group:
            group.create_task(kill_and_go_on())
            group.create_task(ask_for_reads(known, range(EVENTS)))
        await ear.hears(EVENTS)

    assert ear.numbers == list(range(1, EVENTS + 1))
    assert ear.numbers == numbers_in_database(rig, known)
    rig.assert_told_once_and_provable(calls=EVENTS)


@pytest.mark.behaviour("stream.ends-in-order")
async def test_a_server_told_to_stop_lets_streams_and_askers_go_in_good_order(rig: Rig) -> None:
    server = rig.start_server()
    known = rig.credentials
    tokens = [known.client_token, *[known.user_token] * (STREAMS - 1)]

    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(a_stream(known.server, known.project_id, token))
            for token in tokens
        ]
        agent = await stack.enter_async_context(
            HandrailApi(known.server, known.project_id, known.agent_token)
        )
        group = await stack.enter_async_context(asyncio.TaskGroup())
        asking = group.create_task(
            agent.execute("read_file", a_read(1), session_id="journey", call_id="1", wait=60)
        )
        # Once everyone has heard of the call, its asker waits.
        for stream in streams:
            async for line in stream.content:
                if line.startswith(b"data:"):
                    break

        server.send_signal(signal.SIGTERM)
        # It takes a fraction of a second, but nobody knows how busy this machine is.
        ending = await asyncio.to_thread(server.wait, 20)

        answer = await asking
        rest = [await stream.content.read() for stream in streams]

    assert ending == 0
    assert answer["status"] == "executing"
    # Each ends where an event ends, and as HTTP wants it: a line that just broke cannot be read.
    assert rest == [b"\n"] * STREAMS
    assert server.stdout is not None
    assert "Traceback" not in server.stdout.read()

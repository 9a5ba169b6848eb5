"""A client is connected while it sends heartbeats: one that hangs is missed, and comes back."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from handrail.app.build_server import build_services
from handrail.app.home import Credentials, Home
from handrail.bus.local import LocalBus
from handrail.client.api import HandrailApi
from handrail.core.access import Role
from handrail.core.card import Choice
from handrail.core.ids import ClientId
from handrail.plane.connections import Connection
from handrail.plane.patience import WITHOUT_WORD
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.client.conftest import SlowFiles, a_client
from tests.conftest import Household
from tests.forge import Forged
from tests.server.conftest import add_machine, serving

LEASE_SECONDS = 1.5
SLOW = "import time; time.sleep(2); open('effect.txt', 'a').write('once\\n')"


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await reached():
            await asyncio.sleep(0.01)


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock) -> Services:
    return build_services(store, bus, clock, lease_seconds=LEASE_SECONDS)


@contextmanager
def client_process(server: str, home: Household, folder: Path) -> Generator[Forged]:
    """The household's client as a process of its own, connected."""
    own = Home(folder / "home")
    own.create()
    own.save_credentials(
        Credentials(
            server,
            home.project.id,
            home.workspace.root,
            *(home.secrets[role] for role in (Role.USER, Role.CLIENT, Role.AGENT)),
        )
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HANDRAIL")}
    environment = {**kept, "HANDRAIL_HOME": str(own.path)}
    process = Forged("connect", home.workspace.root, environment=environment)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate(timeout=10)


@asynccontextmanager
async def running_client(
    services: Services, server: str, home: Household, folder: Path
) -> AsyncGenerator[tuple[Forged, Connection]]:
    with client_process(server, home, folder) as process:

        async def connected() -> bool:
            return home.client_id in services.connections.connected

        await until(connected)
        yield process, services.connections._open[home.client_id]


async def renewals(connection: Connection, count: int) -> None:
    """Wait for so many heartbeats."""
    async with asyncio.timeout(30):
        for _ in range(count):
            left = connection.checks_left
            while connection.checks_left <= left and not connection.ended:
                left = connection.checks_left
                await asyncio.sleep(LEASE_SECONDS / 100)


async def test_a_quiet_client_stays_connected_also_when_the_server_stalls(
    services: Services, household: Household, tmp_path: Path
) -> None:
    async with (
        serving(services) as server,
        running_client(services, server, household, tmp_path) as (_, connection),
    ):
        # Four of them take longer than one lease.
        await renewals(connection, 4)
        assert not connection.ended
        # The server runs on this loop.
        time.sleep(2 * LEASE_SECONDS)
        await renewals(connection, 1)
        assert not connection.ended


async def ask(api: HandrailApi, tool: str, wait: float = 0, **params: Any) -> dict[str, Any]:
    return await api.execute(tool, params, session_id="s", call_id=tool, wait=wait)


async def approve_the_only_question(person: HandrailApi) -> None:
    async def is_asked() -> bool:
        return bool(await person.pending_approvals())

    await until(is_asked)
    (card,) = await person.pending_approvals()
    await person.decide(await person.unmask(card), Choice(approved=True), channel="test")


@pytest.mark.behaviour("clients.hang")
async def test_a_client_that_hangs_is_missed_and_comes_back(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    tmp_path: Path,
) -> None:
    effect = Path(household.workspace.root, "effect.txt")
    effect.with_name("slow.py").write_text(SLOW)
    project = household.project.id
    async with (
        serving(services) as server,
        HandrailApi(server, project, household.secrets[Role.AGENT]) as agent,
        HandrailApi(server, project, household.secrets[Role.USER]) as person,
        running_client(services, server, household, tmp_path) as (process, _),
    ):

        async def is_connected(client_id: ClientId = household.client_id) -> bool:
            found = (await person.get("/clients"))["clients"]
            return next(one["connected"] for one in found if one["client_id"] == client_id)

        async def state(tool_id: str) -> dict[str, Any]:
            return await person.get(f"/tools/{tool_id}")

        asked = await ask(agent, "execute_command", command="python3", args=["slow.py"])
        change = asked["tool_id"]
        await approve_the_only_question(person)

        async def is_executing() -> bool:
            return (await state(change))["status"] == "executing"

        await until(is_executing)
        process.send_signal(signal.SIGSTOP)
        assert await is_connected()
        read = await ask(agent, "read_file", path="README.md")
        assert read["status"] == "executing"

        second = await add_machine(store, household)
        files = SlowFiles({"README.md": b"hello"}, slow=False)
        async with a_client(server, household, files, machine=second):
            # The read goes to the other client, the change can only be known by its own.
            answer = await ask(agent, "read_file", 20, path="README.md")
            assert (answer["status"], answer["result"]["content"]) == ("completed", "hello")
            assert not await is_connected()
            assert await is_connected(second[0])
            assert await is_executing()

            clock.advance(WITHOUT_WORD.total_seconds())

            async def has_ended() -> bool:
                return not await is_executing()

            await until(has_ended)
            assert (await state(change))["error_type"] == "outcome_unknown"

            process.send_signal(signal.SIGCONT)

            async def has_late_result() -> bool:
                return (await state(change))["late_result"] is not None

            await until(has_late_result)
            await until(is_connected)
            end = await state(change)

    assert (end["status"], end["error_type"]) == ("failed", "outcome_unknown")
    assert end["late_result"]["status"] == "completed"
    assert effect.read_text() == "once\n"


async def test_a_client_whose_lease_lapsed_unheard_opens_its_stream_again(
    services: Services, household: Household
) -> None:
    lines: list[bool] = []
    async with (
        serving(services) as server,
        a_client(server, household, SlowFiles({}), announce=lines.append),
    ):
        first = services.connections._open[household.client_id]
        # As if the end of the stream were lost: only the next heartbeat can tell.
        services.connections._open.clear()

        async def is_back() -> bool:
            return household.client_id in services.connections.connected

        await until(is_back)
        assert services.connections._open[household.client_id] is not first

    assert lines[:3] == [True, False, True]

"""Real processes: a server and clients by the `handrail` command, the asker is the test."""

import asyncio
import json
import os
import secrets
import signal
import sqlite3
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import pytest

from handrail.agent.providers.party import KEY_VARIABLES
from handrail.app.home import Credentials, Home
from handrail.bus.local import LocalBus
from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.core.card import Card, Choice
from handrail.core.execution import FINAL
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.forge import Forged, run_forged
from tests.journeys.playing import Play
from tests.ports import free_port
from tests.server.conftest import Caller

T = TypeVar("T")

MORTAL = Path(__file__).with_name("mortal.py")
FINAL_WORDS = {str(status) for status in FINAL}


class Rig:
    """One home, one workspace, one port, and the processes that were started on them."""

    def __init__(self, folder: Path):
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.port = free_port()
        self.environment: dict[str, str] = {}
        self._processes: list[Forged] = []

    def start_server(self, *, dies: str | None = None) -> Forged:
        """Start a server and wait until it listens, or is dead."""
        arguments = ["serve", "--workspace", str(self.workspace), "--port", str(self.port)]
        return self._start(arguments, dies, until="Connect this machine")

    def start_client(self, *, dies: str | None = None) -> Forged:
        """Start a client and wait until it is connected, or is dead."""
        return self._start(["connect", str(self.workspace)], dies, until="connected")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `handrail` to its end."""
        return run_forged(*arguments, environment=self._environment(None))

    def kill(self, process: Forged) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)

    def end(self, process: Forged) -> str:
        """Ask a process to stop; gives what it has said since it was ready."""
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=10)
        return said

    @property
    def credentials(self) -> Credentials:
        found = Home(self.home).find_credentials(self.workspace)
        assert found is not None, "the server has not introduced itself yet"
        return found

    async def ask(self, path: str, call_id: str) -> dict[str, Any]:
        """Ask to read a file, and ask again with the same words until there is an end."""
        return await self.call("read_file", {"path": path}, call_id)

    async def call(
        self,
        tool_name: str,
        params: dict[str, Any],
        call_id: str = "call-1",
        *,
        session_id: str = "journey",
        reasoning: str | None = None,
    ) -> dict[str, Any]:
        """Ask for a call, and ask again with the same words until there is an end."""
        known = self.credentials
        async with (
            asyncio.timeout(40),
            HandrailApi(known.server, known.project_id, known.agent_token) as api,
        ):
            while True:
                try:
                    answer = await api.execute(
                        tool_name,
                        params,
                        session_id=session_id,
                        call_id=call_id,
                        reasoning=reasoning,
                        wait=10,
                    )
                except ServerUnreachable:
                    await asyncio.sleep(0.05)
                    continue
                if answer["status"] in FINAL_WORDS:
                    return answer

    async def question(self) -> Card:
        """The next question that waits for a person."""
        async with asyncio.timeout(40):
            while True:
                cards = await self.as_person(lambda api: api.pending_approvals())
                if cards:
                    return cards[0]
                await asyncio.sleep(0.05)

    async def answer(self, choice: Choice) -> Card:
        """Wait for a question and answer it; gives the card that was answered, in full."""
        masked = await self.question()
        card = await self.as_person(lambda api: api.unmask(masked))
        try:
            await self.as_person(lambda api: api.decide(card, choice, channel="journey"))
        except ApiError as error:
            # The facts came after the card was read: a person would look again.
            if "not the call that you were shown" in str(error):
                return await self.answer(choice)
            # Said before a crash, and said again: the first answer counts.
            if error.status != 409:
                raise
        return card

    async def as_person(self, use: Callable[[HandrailApi], Awaitable[T]]) -> T:
        """Ask as the user, and ask again until the server answers."""
        known = self.credentials
        async with (
            asyncio.timeout(40),
            HandrailApi(known.server, known.project_id, known.user_token) as api,
        ):
            while True:
                try:
                    return await use(api)
                except ServerUnreachable:
                    await asyncio.sleep(0.05)

    async def hears_of_rules(self) -> None:
        """Until the server knows the project's own, which its machine looks at once a second."""
        async with asyncio.timeout(20):
            while True:
                shown = await self.as_person(lambda api: api.get("/policy"))
                if shown["layers"][-1]["layer"] == "project":
                    return
                await asyncio.sleep(0.05)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Look into the database from outside, past all of our own code."""
        # `with connect()` alone would leave the connection to the garbage collector.
        with closing(sqlite3.connect(self.home / "handrail.db")) as database:
            return database.execute(statement).fetchall()

    def assert_told_once_and_provable(self, calls: int) -> None:
        """Every call is there once, its events have no gap, and the record is whole."""
        assert self.rows("SELECT count(*), count(DISTINCT call_id) FROM tool_executions") == [
            (calls, calls)
        ]
        assert self.rows("SELECT count(*), max(seq), min(seq) FROM events") == self.rows(
            "SELECT last_event, last_event, 1 FROM projects"
        )
        assert self.rows("SELECT count(*) FROM raw_params") == [(0,)]
        verdict = self.run("audit", "verify", "--json", "--workspace", str(self.workspace))
        assert json.loads(verdict.stdout)["whole"] is True

    def stop(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def _start(self, arguments: list[str], dies: str | None, until: str) -> Forged:
        program = None if dies is None else MORTAL
        process = Forged(*arguments, environment=self._environment(dies), program=program)
        self._processes.append(process)
        said = ""
        for line in process.stdout:
            said += line
            if until in line:
                break
        else:
            process.wait(timeout=10)
            assert dies is not None, f"{arguments} ended with {process.returncode}: {said}"
        return process

    def _environment(self, dies: str | None) -> dict[str, str]:
        ours = ("HANDRAIL", *KEY_VARIABLES.values())
        kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        kept |= {"HANDRAIL_HOME": str(self.home), **self.environment}
        return kept if dies is None else {**kept, "HANDRAIL_DIES": dies}


@pytest.fixture
def rig(tmp_path: Path) -> Generator[Rig]:
    made = Rig(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def asks_beforehand(rig: Rig) -> None:
    """The policy of this machine: a person is asked before commands run."""
    rig.home.mkdir(mode=0o700)
    (rig.home / "policy.toml").write_text('[policy]\ncommands = "ask"\n')


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Rig]:
    """A server and a client in their own processes, which stand for many tests."""
    made = Rig(tmp_path_factory.mktemp("standing"))
    try:
        made.start_server()
        made.start_client()
        yield made
    finally:
        made.stop()


@pytest.fixture
async def newcomers(standing: Rig) -> AsyncGenerator[SqliteStore]:
    """The way by which further people and machines become known to a server that stands."""
    store = SqliteStore(standing.home / "handrail.db", LocalBus())
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def ada(newcomers: SqliteStore) -> Household:
    """Somebody new on a server that stands; her machine is played over HTTP.

    Her project has her name, and no other test has heard of her.
    """
    return await settle_in(newcomers, FakeClock(), f"ada-{secrets.token_hex(4)}", "/home/ada")


@pytest.fixture
async def caller(standing: Rig) -> AsyncGenerator[Caller]:
    """Speaks HTTP to a server that stands, in whoever's name, and holds it to its description."""
    address = standing.credentials.server
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        async with session.get(f"{address}/openapi.json") as response:
            document = await response.json()
        yield Caller(session, address, document)


@pytest.fixture
def play(caller: Caller, ada: Household) -> Play:
    return Play(caller, ada)


@pytest.fixture
async def stranger(newcomers: SqliteStore) -> Household:
    """Somebody else on the same server."""
    return await settle_in(newcomers, FakeClock(), f"bea-{secrets.token_hex(4)}", "/home/bea")

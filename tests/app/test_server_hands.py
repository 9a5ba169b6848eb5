"""The tools of the server, with the hands that a server really gives them."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from handrail.agent.providers.script import read_script
from handrail.app.affairs import Affairs
from handrail.app.build_server import build_services
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.bus.local import LocalBus
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import CallId, SessionId
from handrail.core.tool import ToolCall
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.model_server.server import serving
from tests.plane.desk import at_work

SCRIPT = 'aside = "12 euros"\n[[steps]]\ntext = "not this"\n'


class Greeter(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write(b"hello from the wiki")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def page_of(handler: type[BaseHTTPRequestHandler]) -> Generator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def wiki() -> Generator[HTTPServer]:
    with page_of(Greeter) as server:
        yield server


async def ask(
    services: Services, home: Household, call_id: str, tool_name: str, **params: Any
) -> ToolExecution:
    call = ToolCall(home.project.id, SessionId("s"), CallId(call_id), tool_name, params)
    async with asyncio.timeout(30):
        return await services.executor.execute_tool(call, home.agent)


async def test_a_page_is_fetched_from_a_host_that_the_operator_lists(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household, wiki: HTTPServer
) -> None:
    place = f"127.0.0.1:{wiki.server_port}"
    rules = operator_rules(f'[http]\nallowed_hosts = ["{place}"]\n', "policy.toml")
    services = build_services(store, bus, clock, rulebook=Rulebook(rules))
    async with at_work(services):
        fetched = await ask(services, household, "1", "http_request", url=f"http://{place}/")
        refused = await ask(services, household, "2", "http_request", url="http://127.0.0.1/")

    assert (fetched.status, fetched.error) == (Status.COMPLETED, None)
    assert fetched.result is not None
    assert fetched.result["body"] == "hello from the wiki"
    assert refused.status is Status.FAILED


async def test_what_one_agent_stores_is_recalled_for_its_person(
    services: Services, household: Household
) -> None:
    async with at_work(services):
        stored = await ask(
            services, household, "1", "memory_store", key="release-day", content="It is Tuesday."
        )
        recalled = await ask(services, household, "2", "memory_recall", query="release-day")
        learnt = await ask(services, household, "3", "skill", name="careful-edit")

    assert [one.status for one in (stored, recalled, learnt)] == [Status.COMPLETED] * 3
    assert recalled.result is not None
    assert "It is Tuesday." in recalled.result["output"]


class LongPage(Greeter):
    """A page that is too long to be shown."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write(b"The ticket is 12 euros. " * 10_000)


async def test_a_long_page_is_read_by_the_model_that_is_set_up(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household, tmp_path: Path
) -> None:
    with page_of(LongPage) as page, serving(read_script(SCRIPT)) as model:
        place = f"127.0.0.1:{page.server_port}"
        rules = operator_rules(f'[http]\nallowed_hosts = ["{place}"]\n', "policy.toml")
        home = Home(tmp_path / "home")
        said = {"agent.provider": "openai", "agent.model": "m"}
        config = Config(home, {**said, "agent.base_url": f"{model.url}/v1"})
        affairs = Affairs(store, clock, home, config)
        services = build_services(store, bus, clock, rulebook=Rulebook(rules), affairs=affairs)
        async with at_work(services):
            wanted = {"url": f"http://{place}/", "extract": "the price"}
            fetched = await ask(services, household, "1", "http_request", **wanted)

    assert (fetched.status, fetched.error) == (Status.COMPLETED, None)
    assert fetched.result is not None
    assert fetched.result["body"] == "12 euros"
    assert (await store.read_usage(household.user.user_id, "2026-01-01")).total > 0

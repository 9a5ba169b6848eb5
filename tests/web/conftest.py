"""A real browser before a real server, with a real client beside it."""

import asyncio
import inspect
import json
import shutil
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from handrail.server.console.files import ConsoleFiles
from tests.journeys.conftest import Rig
from tests.journeys.conftest import asks_beforehand as asks_beforehand
from tests.journeys.conftest import rig as rig

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIETLY = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE = {"width": 1360, "height": 760}
PHONE = {"width": 360, "height": 740}

expect.set_options(timeout=20_000)

# What a browser complains of while a server is being started anew.
_EXPECTED_TROUBLE = (
    "ERR_CONNECTION_REFUSED",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
    "ERR_EMPTY_RESPONSE",
)


def pytest_itemcollected(item: pytest.Item) -> None:
    """All tests here share a browser, so they share the loop that speaks to it."""
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    """To start a browser takes longer than most tests."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here; as root, `make test` installs one")
    if not ConsoleFiles().are_built:
        pytest.skip("the console is not built; `make test` builds it")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=CHROMIUM, chromium_sandbox=False, args=[*QUIETLY]
        )
        yield launched
        await launched.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncGenerator[Browser]:
    yield chromium
    for context in chromium.contexts:
        await context.close()


class Console:
    """The console of one rig, and the agent whose calls are decided there."""

    def __init__(self, rig: Rig, browser: Browser):
        self.rig = rig
        self.troubles: list[str] = []
        self._browser = browser

    @property
    def address(self) -> str:
        return self.rig.credentials.server

    def link(self) -> str:
        said = self.rig.run("console", "--json", "--workspace", str(self.rig.workspace))
        return json.loads(said.stdout)["address"]

    async def new_page(self, **options: Any) -> Page:
        """A browser that nobody has used, whose complaints are kept."""
        wanted: dict[str, Any] = {"viewport": WIDE, **options}
        context = await self._browser.new_context(**wanted)
        page = await context.new_page()
        self.watch(page)
        return page

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on(
            "console",
            lambda told: (
                self.troubles.append(told.text)
                if told.type == "error" and not any(one in told.text for one in _EXPECTED_TROUBLE)
                else None
            ),
        )

    async def signed_in(self, **options: Any) -> Page:
        page = await self.new_page(**options)
        await page.goto(self.link())
        await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
        await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        return page


@pytest_asyncio.fixture(loop_scope="session")
async def console(rig: Rig, browser: Browser) -> AsyncGenerator[Console]:
    rig.start_server()
    rig.start_client()
    made = Console(rig, browser)
    yield made
    assert made.troubles == []


Asking = Callable[..., "asyncio.Task[dict[str, Any]]"]


@pytest_asyncio.fixture(loop_scope="session")
async def asks(console: Console) -> AsyncGenerator[Asking]:
    """Ask for a call as an agent would; it goes on while the person decides."""
    tasks: list[asyncio.Task[dict[str, Any]]] = []

    def ask(tool_name: str, params: dict[str, Any], call_id: str = "call-1", **more: Any):
        call: Coroutine[Any, Any, dict[str, Any]] = console.rig.call(
            tool_name, params, call_id, **more
        )
        tasks.append(asyncio.create_task(call))
        return tasks[-1]

    yield ask
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def seen_for_a_moment(page: Page) -> None:
    """Until the card has been on the screen so long that keys count."""
    await expect(page.get_by_role("button", name="Refuse…")).to_be_enabled()


async def press_alone(page: Page, key: str) -> None:
    """As a person does who decides: no other key comes right before it."""
    await page.wait_for_timeout(450)
    await page.keyboard.press(key)

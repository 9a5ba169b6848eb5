"""A line that is slow, silent or gone: what is shown stays true, and comes back by itself."""

import asyncio
import re
import signal

import pytest
from playwright.async_api import Page, Route, expect

from handrail.server.console.files import PAGES
from tests.web.conftest import Asking, Console, seen_for_a_moment

CHANGE = {"path": "notes.txt", "content": "1\n"}


def line(page: Page, words: str):
    return page.get_by_role("navigation").get_by_role("status").filter(has_text=words)


async def test_a_server_that_stands_still_is_not_called_live(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE)
    await seen_for_a_moment(page)
    server = console.rig._processes[0]
    server.send_signal(signal.SIGSTOP)
    try:
        await page.get_by_role("button", name="Approve once").click()
        await expect(line(page, "Reconnecting")).to_be_visible()
        await expect(page.get_by_role("alert")).to_contain_text("The server has not answered")
    finally:
        server.send_signal(signal.SIGCONT)

    await expect(line(page, "Live")).to_be_visible()
    assert (await call)["status"] == "completed"


async def test_what_comes_while_the_list_is_read_is_not_lost(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    is_read, goes_on = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        answer = await route.fetch()
        is_read.set()
        await goes_on.wait()
        await route.fulfill(response=answer)

    await page.route("**/approvals?status=pending*", late, times=1)
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    await is_read.wait()
    asks("write_file", CHANGE)
    await expect(page.locator("li[aria-posinset]")).to_have_count(1)
    goes_on.set()

    await page.wait_for_timeout(500)
    await expect(page.locator("li[aria-posinset]")).to_have_count(1)


async def test_a_page_that_could_not_be_fetched_comes_with_the_line(console: Console) -> None:
    page = await console.signed_in()
    await page.context.set_offline(True)
    await page.get_by_role("link", name="Activity").click()
    await expect(page.get_by_text("Loading this page")).to_be_visible()
    await page.context.set_offline(False)

    await expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    console.troubles.clear()


async def test_nothing_is_fetched_from_anywhere_else(console: Console) -> None:
    page = await console.new_page()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add("/".join(request.url.split("/")[:3])))
    await page.goto(console.link())
    await expect(line(page, "Live")).to_be_visible()
    for name in PAGES:
        await page.goto(f"{console.address}/{name}")
        await expect(line(page, "Live")).to_be_visible()

    assert asked == {console.address}


@pytest.mark.parametrize("hours", [-1, 1])
async def test_the_time_that_is_left_is_the_servers(
    console: Console, asks: Asking, hours: int
) -> None:
    page = await console.new_page()
    await page.add_init_script(
        f"{{ const now = Date.now; Date.now = () => now() + {hours} * 3_600_000; }}"
    )
    await page.goto(console.link())
    asks("write_file", CHANGE)
    await seen_for_a_moment(page)

    # Of five minutes, whatever this browser takes for the time.
    await expect(page.locator("article header")).to_contain_text(re.compile(r"in\s*4:[0-5]\d"))

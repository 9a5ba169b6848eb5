"""Several tabs of one browser: one of them reads what is told, for all."""

from playwright.async_api import Page, expect

from tests.web.conftest import Asking, Console, seen_for_a_moment

CHANGE = {"path": "notes.txt", "content": "retries = 5\n"}


async def another_tab(console: Console, beside: Page) -> Page:
    page = await beside.context.new_page()
    console.watch(page)
    await page.goto(f"{console.address}/approvals")
    await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
    return page


def streams_of(page: Page) -> list[str]:
    """What is asked for from now on, in all tabs, to hear what happens."""
    asked: list[str] = []
    page.context.on(
        "request", lambda sent: asked.append(sent.url) if "/stream" in sent.url else None
    )
    return asked


async def test_two_tabs_tell_the_same(console: Console, asks: Asking) -> None:
    one = await console.signed_in()
    streams = streams_of(one)
    other = await another_tab(console, one)
    # A browser has six lines to a server, and all tabs together need one.
    assert streams == []
    call = asks("write_file", CHANGE)
    for page in (one, other):
        await seen_for_a_moment(page)

    await one.get_by_role("button", name="Approve once").click()
    await call

    await expect(other.get_by_role("status").filter(has_text="You approved it")).to_be_visible()


async def test_when_the_tab_that_reads_is_closed_another_reads(
    console: Console, asks: Asking
) -> None:
    one = await console.signed_in()
    other = await another_tab(console, one)
    streams = streams_of(one)
    await one.close()

    asks("write_file", CHANGE)

    await expect(other.get_by_role("button", name="notes.txt")).to_be_visible()
    assert len(streams) == 1


async def test_a_tab_that_sleeps_keeps_nothing_from_the_others(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    streams = streams_of(page)
    asleep = await page.context.new_page()
    await asleep.goto(f"{console.address}/health")
    # As it looks from outside: one holds the lock, and neither tells nor answers anything.
    await asleep.evaluate(
        "name => void navigator.locks.request(name, { steal: true }, () => new Promise(() => {}))",
        f"handrail.stream.{console.rig.credentials.project_id}",
    )
    await page.bring_to_front()

    asks("write_file", CHANGE)

    await expect(page.get_by_role("button", name="notes.txt")).to_be_visible()
    assert len(streams) == 1

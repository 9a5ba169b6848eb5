"""Several decided together: all of them are shown, and nothing else is decided."""

import asyncio

import pytest
from playwright.async_api import Page, Route, expect

from tests.web.conftest import PHONE, Asking, Console

FILES = ("one.txt", "two.txt", "three.txt")


async def wait_for(page: Page, count: int) -> None:
    # Not by its role: behind an open dialog it has none.
    await expect(page.locator("li[aria-posinset]")).to_have_count(count)


def ask_for_all(asks: Asking):
    return [
        asks("write_file", {"path": name, "content": f"{name}\n"}, f"call-{name}") for name in FILES
    ]


@pytest.mark.behaviour("console.several")
async def test_all_that_is_chosen_is_approved_and_nothing_else(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    calls = ask_for_all(asks)
    await wait_for(page, 3)
    await page.keyboard.press("d")
    dialog = page.get_by_role("dialog")
    for name in FILES:
        await expect(dialog.get_by_text(f"+{name}", exact=False).first).to_be_attached()
    await dialog.get_by_role("checkbox", name="two.txt").uncheck()
    late = asks("write_file", {"path": "late.txt", "content": "late\n"}, "call-late")
    await wait_for(page, 4)
    await dialog.get_by_role("region", name="All requests").press("End")
    await dialog.get_by_role("button", name="Approve 2, once each").click()
    await expect(dialog).to_have_count(0)

    assert [(await calls[at])["status"] for at in (0, 2)] == ["completed", "completed"]
    assert not calls[1].done()
    assert not late.done()
    made = {path.name for path in console.rig.workspace.glob("*.txt")}
    assert made == {"one.txt", "three.txt"}


async def test_nothing_is_decided_before_the_last_was_seen(console: Console, asks: Asking) -> None:
    page = await console.signed_in(viewport=PHONE)
    calls = ask_for_all(asks)
    await wait_for(page, 3)
    await page.get_by_role("button", name="Several…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("checkbox")).to_have_count(3)
    refuse = dialog.get_by_role("button", name="Refuse 3")
    await expect(refuse).to_be_disabled()

    await dialog.get_by_role("checkbox").last.scroll_into_view_if_needed()
    await dialog.get_by_role("region", name="All requests").press("End")
    await refuse.click()

    assert {(await call)["status"] for call in calls} == {"rejected"}


async def test_what_is_high_among_them_needs_a_second_step(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    calls = ask_for_all(asks)
    risky = asks("write_file", {"path": "setup.cfg", "content": "[tool]\n"}, "call-risky")
    await wait_for(page, 4)
    await page.keyboard.press("d")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("region", name="All requests").press("End")
    # Only what is shown scrolls: the dialog itself stays, with its heading and its buttons.
    assert await dialog.evaluate("it => it.scrollHeight - it.clientHeight") <= 1
    await dialog.get_by_role("button", name="Approve 4, once each").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("1 of these is high or critical")
    assert not any(call.done() for call in (*calls, risky))
    await dialog.get_by_role("button", name="Back").focus()
    for _ in range(3):
        await page.keyboard.press("Enter")
    await page.wait_for_timeout(300)
    assert not any(call.done() for call in (*calls, risky))
    await dialog.get_by_role("button", name="Yes, approve all 4").click()

    assert {(await call)["status"] for call in (*calls, risky)} == {"completed"}


async def test_two_taps_in_a_hurry_are_one(console: Console, asks: Asking) -> None:
    page = await console.signed_in(viewport=PHONE)
    calls = [*ask_for_all(asks), asks("write_file", {"path": "setup.cfg", "content": "x\n"})]
    await wait_for(page, 4)
    await page.get_by_role("button", name="Several…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("region", name="All requests").press("End")
    first = dialog.get_by_role("button", name="Approve 4, once each")
    await expect(first).to_be_enabled()
    box = await first.bounding_box()
    assert box is not None
    # All over it: wherever the second step comes, it is not awake yet.
    for part in (0.1, 0.5, 0.9):
        await page.mouse.dblclick(box["x"] + part * box["width"], box["y"] + box["height"] / 2)

    await expect(dialog.get_by_role("button", name="Yes, approve all 4")).to_be_enabled()
    assert not any(call.done() for call in calls)


async def test_an_answer_that_fails_keeps_its_words(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    ask_for_all(asks)
    await wait_for(page, 3)
    waiting = (await console.rig.as_person(lambda api: api.get("/approvals")))["approvals"]
    (unlucky,) = (one for one in waiting if "two.txt" in one["description"])
    goes_on = asyncio.Event()

    async def fail(route: Route) -> None:
        await goes_on.wait()
        await route.fulfill(status=503, json={"title": "Busy", "detail": "The database is busy."})

    await page.route(f"**/approvals/{unlucky['approval_id']}/approve", fail)
    await page.keyboard.press("d")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("region", name="All requests").press("End")
    await dialog.get_by_role("button", name="Approve 3, once each").click()
    await expect(dialog.get_by_role("button", name="Approve 1, once each")).to_be_disabled()
    goes_on.set()

    words = f"{unlucky['description']}: The database is busy."
    await expect(dialog.get_by_role("alert")).to_have_text(words)
    await expect(dialog.get_by_role("button", name="Refuse 1")).to_be_enabled()
    console.troubles.clear()


async def test_what_is_long_is_decided_alone(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    asks("write_file", {"path": "long.txt", "content": "a line\n" * 1_000}, "call-long")
    asks("write_file", {"path": "short.txt", "content": "a line\n"}, "call-short")
    posted = {"url": "https://a.example/", "method": "POST", "body": "z" * 30_000 + "\nEVIL"}
    asks("http_request", posted, "call-post")
    await wait_for(page, 3)
    await page.keyboard.press("d")

    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("checkbox")).to_have_count(1)
    await expect(
        dialog.get_by_text("2 more requests have to be decided one at a time")
    ).to_be_visible()
    await page.keyboard.press("Escape")
    await page.locator("li[aria-posinset]").filter(has_text="a.example").click()
    await expect(page.get_by_role("definition").first).to_contain_text("zzz\nEVIL")

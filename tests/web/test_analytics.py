"""The numbers: counted as calls are decided, read with eyes, keys or ears, and made into rules."""

import re

import pytest
from playwright.async_api import Page, expect

from handrail.core.card import Choice
from tests.web.conftest import PHONE, Asking, Console

NOTE = {"path": "notes.md", "content": "hello\n"}
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


async def go_to_numbers(page: Page) -> None:
    # By its address: on a phone the pages stand in a menu.
    await page.goto(page.url.partition("/approvals")[0] + "/analytics")
    await expect(page.get_by_role("heading", name="Analytics")).to_be_visible()


async def refuse_a_note(console: Console, asks: Asking, call_id: str = "call-1") -> None:
    call = asks("write_file", NOTE, call_id)
    await console.rig.answer(Choice(approved=False, reason="not now"))
    assert (await call)["status"] == "rejected"


@pytest.mark.behaviour("console.analytics")
async def test_what_was_refused_is_counted_and_becomes_a_rule(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    await go_to_numbers(page)
    await expect(page.get_by_text("No calls in the last 7 days")).to_be_visible()

    await refuse_a_note(console, asks)
    await page.get_by_role("button", name="Refresh").click()
    await expect(page.get_by_text("asked once: 1 refused")).to_be_visible()
    await page.get_by_role("button", name="Always refuse this").click()
    rule = await page.get_by_label("The rule").inner_text()
    policy = console.rig.workspace / ".handrail" / "policy.toml"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text(rule)
    checked = console.rig.run("policy", "check", "--workspace", str(console.rig.workspace))
    assert "good" in checked.stdout

    await console.rig.hears_of_rules()
    again = await asks("write_file", NOTE, "call-2")

    assert (again["status"], again["error_type"]) == ("failed", "denied")
    assert "refused here" in again["error"]


async def test_every_plot_can_be_read_as_a_table_and_walked_with_keys(
    console: Console, asks: Asking
) -> None:
    await asks("read_file", {"path": "README.md"})
    await refuse_a_note(console, asks, "call-2")
    page = await console.signed_in()
    await go_to_numbers(page)
    await page.get_by_role("button", name="30 days").click()
    plot = page.get_by_role("slider", name="Decisions over time")
    await expect(plot).to_have_attribute("data-ready", "true")
    await expect(plot).to_have_attribute("aria-valuetext", re.compile("^Total: 1 auto-approved"))

    await plot.focus()
    await page.keyboard.press("End")
    told = re.compile(r"\w: 1 auto-approved, 0 approved, 1 refused, 0 expired, 0 refused by a rule")
    await expect(plot).to_have_attribute("aria-valuetext", told)
    await page.keyboard.press("ArrowLeft")
    await expect(plot).to_have_attribute("aria-valuetext", re.compile(": 0 auto-approved"))

    for name in ("Decisions over time", "Time to decision", "Tokens by day"):
        toggle = page.get_by_role("button", name=f"{name} as a table")
        await toggle.press("Enter")
        await expect(toggle).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("slider")).to_have_count(0)
    row = page.get_by_role("row", name=re.compile("^Total 1 .* 0 .* 1 "))
    await expect(row.first).to_be_visible()


async def test_the_time_that_is_shown_is_in_the_address(console: Console, asks: Asking) -> None:
    await asks("read_file", {"path": "README.md"})
    page = await console.signed_in()
    await go_to_numbers(page)
    month = page.get_by_role("button", name="30 days")

    await month.click()
    await expect(page).to_have_url(f"{console.address}/analytics?range=30d")
    await page.reload()

    await expect(month).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("slider", name="Decisions over time")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("button", name="7 days")).to_have_attribute(
        "aria-pressed", "true"
    )


async def test_what_strangers_have_named_is_shown_inert_on_a_phone(
    console: Console, asks: Asking
) -> None:
    assert (await asks(HOSTILE, {}))["status"] == "failed"
    page = await console.signed_in(viewport=PHONE)
    await go_to_numbers(page)

    await expect(page.get_by_text("onerror=alert(1)>\\u{202e}").last).to_be_visible()
    assert await page.locator("main img").count() == 0
    assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]

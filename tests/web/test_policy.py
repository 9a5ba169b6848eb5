"""The rules can be read and searched, and a call can be tried while it is typed."""

import pytest
from playwright.async_api import Page, expect

from tests.web.conftest import PHONE, Console

BOX = "A command or a call to try"


async def at_policy(console: Console) -> Page:
    page = await console.signed_in()
    await page.get_by_role("link", name="Policy").click()
    await expect(page.get_by_role("heading", name="Try it")).to_be_visible()
    return page


@pytest.mark.behaviour("console.try-it")
async def test_a_command_is_judged_while_it_is_typed_and_nothing_comes_of_it(
    console: Console,
) -> None:
    page = await at_policy(console)
    box, said = page.get_by_label(BOX), page.get_by_role("region", name="Try it")

    await box.fill("git status")
    await expect(said.get_by_text("Runs at once")).to_be_visible()
    await expect(said.get_by_text("can only read")).to_be_visible()
    await box.fill("git push origin main")
    await expect(said.get_by_text("Asks a person")).to_be_visible()
    await expect(said.get_by_text("git push sends commits to a remote")).to_be_visible()
    await box.fill("rm -rf /")
    await expect(said.get_by_text("Refused", exact=True)).to_be_visible()

    assert console.rig.rows("SELECT count(*) FROM tool_executions") == [(0,)]


async def test_a_call_of_a_tool_is_tried_by_its_name_and_what_is_unfinished_says_so(
    console: Console,
) -> None:
    page = await at_policy(console)
    box, said = page.get_by_label(BOX), page.get_by_role("region", name="Try it")

    await box.fill("read_file path=.env")
    await expect(said.get_by_text("Refused", exact=True)).to_be_visible()
    await expect(said.get_by_text("Read .env")).to_be_visible()
    await box.fill('write_file {"path": "a.md", "content": "x"}')
    await expect(said.get_by_text("Write 1 line to a.md")).to_be_visible()
    await expect(said.get_by_text("Asks a person")).to_be_visible()
    await box.fill('write_file {"path": "a.md", "con')
    await expect(said.get_by_text("This cannot be evaluated yet")).to_be_visible()


async def test_what_the_agent_may_do_unasked_changes_what_is_said(console: Console) -> None:
    page = await at_policy(console)
    said = page.get_by_role("region", name="Try it")
    await page.get_by_label(BOX).fill("write_file path=a.md content=x")
    await expect(said.get_by_text("Asks a person")).to_be_visible()

    await page.get_by_label("Agent").select_option("full")
    await expect(said.get_by_text("Runs at once")).to_be_visible()
    await page.get_by_label("Agent").select_option("read_only")
    await expect(said.get_by_text("Refused", exact=True)).to_be_visible()


async def test_rules_are_found_by_their_words_and_their_risk(console: Console) -> None:
    page = await at_policy(console)
    shipped = page.get_by_role("region", name="Shipped with Handrail")
    rows = shipped.get_by_role("row")
    await expect(rows.filter(has_text="private keys stay unread")).to_be_visible()

    await page.get_by_role("searchbox", name="Search rules").fill("private unread")
    await expect(rows).to_have_count(2)  # One of them is the head.
    await page.get_by_role("combobox", name="Risk").select_option("LOW")
    await expect(shipped.get_by_text("No rule matches.")).to_be_visible()


async def test_what_is_typed_is_shown_and_never_acts(console: Console) -> None:
    page = await at_policy(console)

    await page.get_by_label(BOX).fill("echo '<img src=x onerror=alert(1)>' \u202etxt\u200b")

    said = page.get_by_role("region", name="Try it")
    await expect(said.get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
    await expect(said.get_by_text("\\u{202e}").first).to_be_visible()
    assert await page.locator("img[src=x]").count() == 0


async def test_on_a_phone_the_pages_are_behind_a_menu_and_nothing_is_cut_off(
    console: Console,
) -> None:
    page = await console.signed_in(viewport=PHONE)

    await page.get_by_role("navigation").get_by_role("button", name="Approvals").click()
    await page.get_by_role("menuitem", name="Policy").click()
    await page.get_by_label(BOX).fill("git push origin main && npm install left-pad")
    await expect(page.get_by_text("Asks a person")).to_be_visible()

    parts = "[...document.querySelectorAll('html, main')]"
    assert await page.evaluate(f"{parts}.some((one) => one.scrollWidth > one.clientWidth)") is False

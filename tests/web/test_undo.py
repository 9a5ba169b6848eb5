"""Undoing in the console: one call, or what a session has changed, and why a call cannot be."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from handrail.core.card import Choice
from tests.web.conftest import Asking, Console
from tests.web.test_accessibility import AXE, violations

YES = Choice(approved=True)


async def write(console: Console, asks: Asking, path: str, content: str) -> dict[str, Any]:
    call = asks("write_file", {"path": path, "content": content}, path)
    await console.rig.answer(YES)
    return await call


async def details_of(page: Page, tool_id: str) -> Locator:
    address = page.url.split("/approvals", 1)[0].split("/activity", 1)[0]
    await page.goto(f"{address}/activity/{tool_id}")
    return page.get_by_role("complementary", name="One call")


@pytest.mark.behaviour("undo.console")
async def test_a_call_is_undone_by_the_keyboard_and_every_screen_says_so(
    console: Console, asks: Asking
) -> None:
    (console.rig.workspace / "a.txt").write_text("old\n")
    page = await console.signed_in()
    call = await write(console, asks, "a.txt", "new\n")
    details = await details_of(page, call["tool_id"])
    row = page.get_by_role("row").filter(has_text="a.txt")
    await expect(row).to_contain_text("done")

    await details.get_by_role("button", name="Undo…").focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Undo this call?")
    await expect(dialog).to_contain_text("If one of them was changed since, nothing is undone.")
    await dialog.get_by_role("button", name="Undo the call").focus()
    await page.keyboard.press("Enter")

    await expect(
        details.get_by_role("status").filter(has_text="1 call was undone.")
    ).to_be_visible()
    await expect(details.get_by_text("Undone by you, ")).to_be_visible()
    await expect(details.get_by_role("button", name="Undo…")).to_have_count(0)
    await expect(row).to_contain_text("undone")
    assert (console.rig.workspace / "a.txt").read_text() == "old\n"


@pytest.mark.behaviour("undo.console")
async def test_a_file_that_was_changed_since_is_named(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    call = await write(console, asks, "a.txt", "new\n")
    (console.rig.workspace / "a.txt").write_text("by a person\n")
    details = await details_of(page, call["tool_id"])

    await details.get_by_role("button", name="Undo…").click()
    await page.get_by_role("button", name="Undo the call").click()

    reason = "a.txt has other content now; nothing was undone"
    await expect(details.get_by_role("status").filter(has_text=reason)).to_be_visible()
    await expect(details.get_by_role("button", name="Undo…")).to_be_enabled()
    assert (console.rig.workspace / "a.txt").read_text() == "by a person\n"
    # The browser complains about each answer of 409; the page says it in words.
    assert all("409" in trouble for trouble in console.troubles)
    console.troubles.clear()


@pytest.mark.behaviour("undo.console")
@pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed; `make test` does that")
async def test_a_session_is_undone_after_its_files_were_shown(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    await write(console, asks, "a.txt", "new\n")
    call = await write(console, asks, "b.txt", "new\n")
    details = await details_of(page, call["tool_id"])

    await details.get_by_role("button", name=re.compile("undo the session")).click()
    dialog = page.get_by_role("dialog", name=re.compile("Undo the session"))
    shown = dialog.get_by_role("list", name="Calls to undo").get_by_role("listitem")
    await expect(shown).to_have_count(2)
    await expect(shown.nth(0)).to_contain_text("b.txt")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Undo 2 calls").click()

    told = details.get_by_role("status").filter(has_text="2 calls were undone.")
    await expect(told).to_be_visible()
    assert [path.name for path in console.rig.workspace.glob("*.txt")] == []


@pytest.mark.behaviour("undo.console")
async def test_the_details_of_a_call_that_cannot_be_undone_say_why(
    console: Console, asks: Asking
) -> None:
    (console.rig.workspace / "a.txt").write_text("one\n")
    page = await console.signed_in()
    call = await asyncio.wait_for(asks("read_file", {"path": "a.txt"}), 40)
    details = await details_of(page, call["tool_id"])

    await expect(details.get_by_text("Cannot be undone: it changed nothing.")).to_be_visible()
    await expect(details.get_by_role("button", name="Undo…")).to_have_count(0)

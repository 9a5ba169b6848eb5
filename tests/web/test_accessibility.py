"""Every page for everybody: axe looks at each of them, in both themes, wide and on a phone."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from handrail.core.card import Choice
from handrail.core.grant import Scope
from tests.web.conftest import PHONE, WIDE, Asking, Console, press_alone, seen_for_a_moment

WEB = Path(__file__).parents[2] / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
PAGES = re.findall(r'\{ name: "(\w+)"', (WEB / "src" / "pages.tsx").read_text())
DIALOGS = {
    "e": "Ctrl+Enter saves.",
    "r": "Refuse this call",
    "d": "Decide several together",
    "?": "Keys",
}


async def violations(page: Page) -> list[str]:
    """What axe has against a page as it stands, in words that lead to the place."""
    await page.evaluate(AXE.read_text() + "\nundefined")
    found: list[dict[str, Any]] = (await page.evaluate("axe.run()"))["violations"]
    return [
        f"{page.url}: {one['help']} ({one['id']}): {node['html'][:160]}"
        for one in found
        for node in one["nodes"]
    ]


async def make_a_day(console: Console, asks: Asking) -> None:
    """A call that was done, one that was refused, a grant, and two that wait."""
    (console.rig.workspace / "notes.txt").write_text("retries = 3\n")
    change = {"path": "notes.txt", "content": "retries = 5\n"}
    await asks("read_file", {"path": "notes.txt"}, "call-1")
    refusal = Choice(approved=False, reason="no")
    for number, choice in enumerate((refusal, Choice(approved=True, scope=Scope.CLASS))):
        call = asks("write_file", change, f"call-2{number}")
        await console.rig.answer(choice)
        await call
    asks("execute_command", {"command": "npm", "args": ["install", "express"]}, "call-3")
    asks("write_file", {"path": "setup.cfg", "content": "[tool]\n"}, "call-4", reasoning="Small.")


def test_all_pages_are_known_here() -> None:
    assert {"approvals", "chat", "activity", "analytics", "settings"} <= set(PAGES)


@pytest.mark.behaviour("console.accessible")
# Every size and every theme once: colours do not depend on the size.
@pytest.mark.timeout(180)  # Every page is looked through.
@pytest.mark.parametrize(
    ("theme", "size"), [("light", WIDE), ("dark", PHONE)], ids=["light-wide", "dark-phone"]
)
@pytest.mark.skipif(not AXE.is_file(), reason="axe is not installed; `make test` does that")
async def test_axe_finds_nothing_on_any_page(
    console: Console, asks: Asking, theme: str, size: dict[str, int]
) -> None:
    await make_a_day(console, asks)
    page = await console.signed_in(viewport=size, color_scheme=theme, reduced_motion="reduce")
    await expect(page.locator("li[aria-posinset]")).to_have_count(2)
    await seen_for_a_moment(page)
    found = await violations(page)
    for key, words in DIALOGS.items():
        await press_alone(page, key)
        await expect(page.get_by_role("dialog").get_by_text(words).first).to_be_visible()
        found += await violations(page)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
    for name in PAGES:
        await page.goto(f"{console.address}/{name}")
        await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        await expect(page.get_by_role("heading", level=1).first).to_be_visible()
        await expect(page.get_by_text("Loading…")).to_have_count(0)
        await expect(page.locator("[aria-busy=true]")).to_have_count(0)
        found += await violations(page)
    assert found == []

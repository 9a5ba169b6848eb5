"""Drafts in the console: the card of a draft, its steps, and the page of all drafts."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.journeys.test_draft import files_in, set_autonomy
from tests.web.conftest import PHONE, Asking, Console, press_alone
from tests.web.test_accessibility import violations

pytestmark = [pytest.mark.usefixtures("needs_box"), pytest.mark.slow]

BEFORE = "def total(prices):\n    # No discount yet.\n    return sum(prices)\n"
AFTER = "def total(prices, discount=0):\n    return sum(prices) * (100 - discount) / 100\n"
CART = {"path": "src/cart.py", "content": AFTER}
NOTES = {"path": "notes.md", "content": "# Discounts\n"}
FAILING = {"command": "echo 1 failed; echo 1 > report.txt; exit 3"}


async def make_draft(console: Console, asks: Asking) -> list[str]:
    """Three steps, the last of which has failed; gives the ids of their calls."""
    set_autonomy(console.rig)
    (console.rig.workspace / "src").mkdir()
    (console.rig.workspace / "src/cart.py").write_text(BEFORE)
    steps = (("write_file", CART), ("write_file", NOTES), ("run_bash", FAILING))
    done = [
        await asks(tool, params, f"step-{number}") for number, (tool, params) in enumerate(steps)
    ]
    assert [call["status"] for call in done] == ["completed"] * 3
    return [call["tool_id"] for call in done]


async def card_of(console: Console, asks: Asking, **options: Any) -> tuple[Page, Any]:
    await make_draft(console, asks)
    page = await console.signed_in(**options)
    applied = asks("apply_draft", {}, "apply")
    await asking_for_changes(page)
    return page, applied


async def asking_for_changes(page: Page) -> None:
    await expect(page.get_by_role("button", name="Ask for changes…")).to_be_enabled()


async def choose_step(page: Page, what: str, step: str) -> None:
    await page.get_by_role("button", name="A part", exact=True).click()
    await page.get_by_role("menuitem", name=what).click()
    await page.get_by_role("dialog").get_by_role("radio", name=step).check()


def evidence_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Evidence")


@pytest.mark.behaviour("console.draft")
async def test_the_card_of_a_draft_leads_to_its_diffs_and_to_the_output_of_its_steps(
    console: Console, asks: Asking
) -> None:
    page, _ = await card_of(console, asks)
    evidence = evidence_of(page)
    await expect(evidence).to_contain_text("(exit code 3)")

    await evidence.get_by_role("button", name="src/cart.py").click()
    diff = evidence.get_by_role("figure", name="Changes of src/cart.py")
    await expect(diff).to_be_focused()
    await expect(diff.get_by_text("def total(prices, discount=0):")).to_be_in_viewport()
    await expect(diff.locator("figcaption")).to_contain_text("+2 \u22123")

    await evidence.get_by_role("link", name=re.compile("echo 1 failed")).click()
    await expect(page.get_by_role("region", name="Output")).to_contain_text("1 failed")


async def test_up_to_a_step_a_new_card_comes_and_the_rest_stays(
    console: Console, asks: Asking
) -> None:
    page, applied = await card_of(console, asks)

    await choose_step(page, "Apply up to a step", "Write 2 lines to src/cart.py")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("stays")).to_have_count(2)
    await dialog.get_by_role("button", name="Show the card").click()

    refused = await applied
    assert refused["status"] == "rejected"
    assert "up to step 1" in refused["error"]
    title = page.get_by_role("heading", name=re.compile("Apply a draft of 1 step"))
    await expect(title).to_be_visible()
    assert files_in(console.rig.workspace) == {"src/cart.py": BEFORE}

    await asking_for_changes(page)
    await press_alone(page, "a")
    await until(lambda: files_in(console.rig.workspace) == {"src/cart.py": AFTER})
    seen = await asks("read_file", {"path": "notes.md"}, "read")
    assert "# Discounts" in seen["result"]["output"]


async def until(holds: Any) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.05)


async def test_chosen_files_come_on_a_card_of_their_own(console: Console, asks: Asking) -> None:
    page, _ = await card_of(console, asks)
    await page.get_by_role("button", name="A part", exact=True).click()
    await page.get_by_role("menuitem", name="Apply chosen files").click()
    await page.get_by_role("button", name="A part", exact=True).click()
    await page.get_by_role("menuitem", name="Apply chosen files").click()

    dialog = page.get_by_role("dialog", name="Apply chosen files")
    await dialog.get_by_role("checkbox", name="notes.md").check()
    await expect(dialog.get_by_role("status")).to_have_text("1 path")
    assert await violations(page) == []
    await dialog.get_by_role("button", name="Show the card").click()

    title = page.get_by_role("heading", name=re.compile("Apply a part of a draft of 3 steps"))
    await expect(title).to_be_visible()
    await expect(evidence_of(page)).to_contain_text("2 other changes stay in the draft")
    await asking_for_changes(page)
    await press_alone(page, "a")
    await until(lambda: "notes.md" in files_in(console.rig.workspace))
    assert files_in(console.rig.workspace) == {"src/cart.py": BEFORE, "notes.md": "# Discounts\n"}


async def test_from_a_step_on_a_draft_is_discarded_and_the_agent_told(
    console: Console, asks: Asking
) -> None:
    page, applied = await card_of(console, asks)

    await choose_step(page, "Discard from a step", "Write 1 line to notes.md")
    await page.get_by_role("dialog").get_by_role("button", name="Discard").click()

    refused = await applied
    assert refused["status"] == "rejected"
    assert "discarded step 2 and all later ones" in refused["error"]
    await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()
    listed = await asks("list_directory", {"path": "."}, "list")
    assert [one["path"] for one in listed["result"]["files"]] == ["src"]


async def test_changes_are_asked_for_in_words_and_the_draft_stays(
    console: Console, asks: Asking
) -> None:
    page, applied = await card_of(console, asks)

    await press_alone(page, "r")
    dialog = page.get_by_role("dialog", name="Ask for changes")
    await expect(dialog).to_contain_text("goes on in the draft")
    await dialog.get_by_role("textbox").fill("Fix the failing test first")
    await page.keyboard.press("Control+Enter")

    refused = await applied
    assert "Fix the failing test first" in refused["error"]
    assert files_in(console.rig.workspace) == {"src/cart.py": BEFORE}
    seen = await asks("read_file", {"path": "notes.md"}, "read")
    assert seen["status"] == "completed", seen
    assert "# Discounts" in seen["result"]["output"]


async def test_side_by_side_is_remembered_and_has_every_line_on_its_side(
    console: Console, asks: Asking
) -> None:
    page, _ = await card_of(console, asks)
    diff = evidence_of(page).get_by_role("figure", name="Changes of src/cart.py")
    switch = evidence_of(page).get_by_role("button", name="Split view")

    await switch.click()
    await expect(switch).to_have_attribute("aria-pressed", "true")
    assert await side_of(diff, "before") == BEFORE
    assert await side_of(diff, "after") == AFTER

    await page.reload()
    await expect(diff.locator("[data-side=before]").first).to_be_visible()
    await page.set_viewport_size({"width": 1000, "height": 760})
    await expect(diff.locator("[data-side]")).to_have_count(0)
    await expect(switch).to_have_count(0)
    await expect(diff.get_by_text("# No discount yet.")).to_be_visible()


async def side_of(diff: Locator, side: str) -> str:
    """The text of a file as one side shows it."""
    lines = await diff.locator(f"[data-side={side}]").all()
    texts = [await line.locator("[data-text]").last.inner_text() for line in lines]
    return "".join(f"{text}\n" for text in texts)


async def test_code_has_colours_on_the_text_as_it_is(console: Console, asks: Asking) -> None:
    page, _ = await card_of(console, asks)
    diff = evidence_of(page).get_by_role("figure", name="Changes of src/cart.py")

    gone = diff.locator("[data-line]").filter(has_text="# No discount yet.")
    assert await gone.locator("[data-text]").all_inner_texts() == ["-", "    # No discount yet."]
    ink, plain = [
        await one.evaluate("it => getComputedStyle(it).color")
        for one in (diff.get_by_text("# No discount yet.", exact=True), gone)
    ]
    assert ink != plain


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_a_draft_can_be_read_and_decided_on_a_phone(
    console: Console, asks: Asking, theme: str
) -> None:
    page, _ = await card_of(console, asks, viewport=PHONE, color_scheme=theme)

    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for name in ("Approve all", "A part", "Ask for changes…"):
        button = page.get_by_role("button", name=name, exact=name == "A part")
        await expect(button).to_be_in_viewport(ratio=1)
    found = await violations(page)
    await choose_step(page, "Apply up to a step", "Write 2 lines to src/cart.py")
    found += await violations(page)
    assert found == []


async def at_drafts(console: Console, asks: Asking, **options: Any) -> Page:
    await make_draft(console, asks)
    page = await console.signed_in(**options)
    await page.goto(f"{console.address}/drafts")
    await page.get_by_role("link", name="3 steps, 3 files").click()
    await expect(page.get_by_role("list", name="Steps").get_by_role("listitem")).to_have_count(3)
    return page


@pytest.mark.behaviour("console.drafts")
async def test_a_draft_is_listed_shown_and_its_card_comes_when_it_is_to_be_applied(
    console: Console, asks: Asking
) -> None:
    page = await at_drafts(console, asks)
    await expect(page.get_by_role("link", name="Drafts 1 open")).to_be_visible()
    await expect(page.get_by_role("list", name="Steps")).to_contain_text("(exit code 3)")
    await expect(page.get_by_role("figure", name="Changes of src/cart.py")).to_be_visible()
    await expect(page.get_by_text("handrail drafts export journey draft.patch")).to_be_visible()
    assert files_in(console.rig.workspace) == {"src/cart.py": BEFORE}

    await page.get_by_role("button", name="Apply…").click()
    await asking_for_changes(page)
    await press_alone(page, "a")
    await until(lambda: files_in(console.rig.workspace)["src/cart.py"] == AFTER)
    await expect(page.get_by_role("link", name="Drafts", exact=True)).to_be_visible()


async def test_what_changed_since_a_draft_was_read_is_said_and_read_again(
    console: Console, asks: Asking
) -> None:
    page = await at_drafts(console, asks)

    await asks("write_file", {"path": "new.md", "content": "new\n"}, "later")
    await expect(page.get_by_role("note")).to_contain_text("has changed since it was read")
    await page.get_by_role("button", name="Read it again").click()

    await expect(page.get_by_role("figure", name="Changes of new.md")).to_be_visible()
    await expect(page.get_by_role("note")).to_have_count(0)


async def test_a_whole_draft_is_discarded_from_its_first_step_on(
    console: Console, asks: Asking
) -> None:
    page = await at_drafts(console, asks)

    await choose_step(page, "Discard from a step", "Write 2 lines to src/cart.py")
    await page.get_by_role("dialog").get_by_role("button", name="Discard").click()

    await expect(page.get_by_text("It was applied or discarded")).to_be_visible()
    await page.get_by_role("link", name="All drafts").click()
    await expect(page.get_by_text("In a draft, an agent works without waiting")).to_be_visible()
    assert files_in(console.rig.workspace) == {"src/cart.py": BEFORE}


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_axe_finds_nothing_on_a_draft_on_a_phone(
    console: Console, asks: Asking, theme: str
) -> None:
    page = await at_drafts(console, asks, viewport=PHONE, color_scheme=theme)

    assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert await violations(page) == []
    await page.get_by_role("link", name="All drafts").click()
    await expect(page.get_by_role("list", name="Drafts")).to_be_visible()
    assert await violations(page) == []

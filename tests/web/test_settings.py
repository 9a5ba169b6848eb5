"""What a person sets in their browser, and how they leave it."""

from playwright.async_api import Page, expect

from tests.web.conftest import Asking, Console

# A browser without a screen shows no notification: here is what keeps them instead.
STAND_IN = """
window.shown = [];
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
  constructor(title, options) { window.shown.push([title, options.tag]); }
  close() { window.shown.push("closed"); }
};
Object.defineProperty(document, "visibilityState", {
  get: () => window.away ? "hidden" : "visible",
});
"""


async def at_settings(page: Page) -> None:
    await page.get_by_role("link", name="Settings").click()
    await expect(page.get_by_role("heading", name="Theme")).to_be_visible()


async def test_a_theme_holds_at_once_and_after_coming_back(console: Console) -> None:
    page = await console.signed_in(color_scheme="light")
    html = page.locator("html")
    await at_settings(page)
    await expect(html).to_have_attribute("data-theme", "light")

    await page.get_by_role("radio", name="Dark").check()
    await expect(html).to_have_attribute("data-theme", "dark")
    await page.reload()
    await expect(html).to_have_attribute("data-theme", "dark")
    await page.get_by_role("radio", name="Use system setting").check()
    await expect(html).to_have_attribute("data-theme", "light")


async def test_a_person_is_told_only_when_asked_for_and_only_while_looking_elsewhere(
    console: Console, asks: Asking
) -> None:
    page = await console.new_page()
    await page.add_init_script(STAND_IN)
    await page.goto(console.link())
    await at_settings(page)
    assert await page.evaluate("Notification.permission") == "default"
    await page.get_by_role("button", name="Turn on").click()
    await expect(page.get_by_role("button", name="Turn off")).to_be_visible()

    asks("write_file", {"path": "a.md", "content": "one"})
    await expect(page.get_by_role("link", name="Approvals 1 waiting")).to_be_visible()
    assert await page.evaluate("shown") == []
    await page.evaluate("window.away = true")
    asks("write_file", {"path": "b.md", "content": "two"}, "call-2")
    await expect(page.get_by_role("link", name="Approvals 2 waiting")).to_be_visible()

    ((title, tag),) = await page.evaluate("shown")
    assert title == "Medium: Create b.md (1 line)"
    assert tag.startswith("apr_")


async def test_who_signs_out_is_out_in_this_browser(console: Console) -> None:
    page = await console.signed_in()
    other = await page.context.new_page()
    await other.goto(f"{console.address}/approvals")
    await expect(other.get_by_role("heading", name="Waiting for you")).to_be_visible()
    await at_settings(page)
    await expect(page.get_by_text("tokens, no limit")).to_be_visible()
    await page.evaluate("sessionStorage['handrail.draft.1'] = 'half a thought'")

    await page.get_by_role("button", name="Sign out").click()
    for tab in (page, other):
        await expect(tab.get_by_role("heading", name="Sign in to Handrail")).to_be_visible()
    assert await page.evaluate("sessionStorage.length") == 0
    assert "key" not in await page.evaluate("JSON.stringify({...localStorage})")
    await page.goto(f"{console.address}/grants")

    await expect(page.get_by_role("heading", name="Sign in to Handrail")).to_be_visible()
    console.troubles.clear()  # The browser complains about each refusal.


async def test_every_page_has_its_place_in_the_navigation_and_its_own_heading(
    console: Console,
) -> None:
    page = await console.signed_in()
    names = await page.get_by_role("navigation").get_by_role("link").all_text_contents()

    for name in names:
        await page.get_by_role("link", name=name).click()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await expect(page.get_by_role("link", name=name)).to_have_attribute("aria-current", "page")
        await expect(page).to_have_title(f"{name} · Handrail")
    assert {"Approvals", "Policy", "Grants", "Machines", "Memory", "Skills", "Settings"} <= {*names}


async def test_the_owner_sets_what_agents_may_do_and_it_holds_for_the_next_call(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    await at_settings(page)
    part = page.get_by_role("region", name="Autonomy")
    await expect(part.get_by_role("radio", name="supervised")).to_be_checked()

    await part.get_by_role("radio", name="full").click()
    await expect(part.get_by_role("status")).to_contain_text("Saved: full")
    passed = await asks("write_file", {"path": "a.md", "content": "one"})
    await page.reload()

    assert (passed["status"], passed["approved_by"]) == ("completed", "policy")
    await expect(part.get_by_role("radio", name="full")).to_be_checked()

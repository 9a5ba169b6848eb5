"""With several projects, what waits in one is not missed in another."""

from pathlib import Path

from playwright.async_api import expect

from tests.web.conftest import Asking, Console


async def test_a_link_shows_its_own_project_and_a_card_is_found_in_any(
    console: Console, asks: Asking, tmp_path: Path
) -> None:
    newer = tmp_path / "newer"
    newer.mkdir()
    console.rig.run("init", "--yes", str(newer))
    asks("write_file", {"path": "plan.txt", "content": "hello\n"})
    await console.rig.question()

    page = await console.signed_in()
    await expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    card = page.url

    await page.get_by_role("button", name="Project: workspace").click()
    await page.get_by_role("menuitem", name="newer").click()
    await expect(page.get_by_text("Nothing is waiting for you in this project")).to_be_visible()
    elsewhere = page.get_by_role("button", name="1 waiting in other projects")
    await expect(elsewhere).to_contain_text("newer")
    # In this tab it stays so, and a card of the other one leads there.
    await page.reload()
    await expect(elsewhere).to_contain_text("newer")
    await page.goto(card)
    await expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    await expect(page.get_by_role("button", name="Project: workspace")).to_be_visible()
    # It was looked for here first.
    assert all("404" in trouble for trouble in console.troubles)
    console.troubles.clear()

"""Memories and skills: what agents keep and load, shown to the person whose they are."""

import pytest
from playwright.async_api import expect

from tests.web.conftest import Asking, Console

HOSTILE = "<script>document.title = 'taken'</script>\nsecond\u200bline"


@pytest.mark.behaviour("console.memory")
async def test_a_memory_is_found_shown_and_forgotten_after_a_second_look(
    console: Console, asks: Asking
) -> None:
    for number, (key, content) in enumerate([("deploy", HOSTILE), ("coffee", "It is strong.")]):
        await asks("memory_store", {"key": key, "content": content}, f"call-{number}")
    page = await console.signed_in()
    await page.get_by_role("link", name="Memory").click()
    rows = page.get_by_role("list", name="Memories").get_by_role("listitem")
    await expect(rows).to_have_count(2)

    await page.get_by_role("searchbox").fill("deploy")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="deploy").click()
    whole = page.get_by_role("region", name="Content of deploy")
    await expect(whole).to_contain_text("<script>document.title = 'taken'</script>")
    await expect(whole).to_contain_text("second\\u{200b}line")
    await expect(page).to_have_title("Memory · Handrail")
    await page.get_by_role("button", name="Delete…").click()
    await page.get_by_role("button", name="Cancel").click()
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Delete…").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    # Nothing can be typed beside the dialog while it is open.
    await expect(rows).to_have_count(0)
    await page.get_by_role("searchbox").fill("")

    await expect(rows).to_contain_text(["coffee"])
    assert console.rig.rows("SELECT key FROM agent_memory") == [("coffee",)]


async def test_a_skill_is_found_and_opens_into_what_an_agent_is_told(console: Console) -> None:
    broken = console.rig.home / "skills" / "broken"
    broken.mkdir(parents=True)
    page = await console.signed_in()
    await page.get_by_role("link", name="Skills").click()
    rows = page.get_by_role("list", name="Skills").get_by_role("listitem")
    await expect(rows).to_have_count(3)
    await expect(page.get_by_text("the skill 'broken' is left out")).to_be_visible()

    await page.get_by_role("searchbox").fill("history commits")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="git-hygiene").click()

    told = page.get_by_role("region", name="Instructions of git-hygiene")
    await expect(told).to_contain_text("# Git hygiene")

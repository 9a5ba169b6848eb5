"""What was answered ahead is listed, and taken back with one click."""

import pytest
from playwright.async_api import expect

from tests.web.conftest import Asking, Console, seen_for_a_moment


@pytest.mark.behaviour("console.grants")
async def test_a_grant_is_listed_counts_down_and_once_taken_back_lets_nothing_pass(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    first = asks("write_file", {"path": "a.md", "content": "one"})
    await seen_for_a_moment(page)
    await page.keyboard.press("c")
    await page.get_by_role("combobox", name="For", exact=True).select_option("5")
    await page.get_by_role("button", name="Approve the class").click()
    assert (await first)["status"] == "completed"
    told = page.get_by_role("status", name="Your latest decisions")
    await expect(told).to_contain_text("writes to *.md in the workspace's top folder")

    await told.get_by_role("link", name="listed under Grants").click()
    row = page.get_by_role("list", name="Grants").get_by_role("listitem")
    await expect(row).to_contain_text("writes to *.md in the workspace's top folder")
    await expect(row).to_contain_text("granted byyou")
    await expect(row).to_contain_text(f"for agent{(await first)['agent_name']}")
    await expect(row).to_contain_text("uses left5")
    second = await asks("write_file", {"path": "b.md", "content": "two"}, "call-2")
    assert second["approved_by"].startswith("grt_")
    await expect(row).to_contain_text("uses left4")
    await row.get_by_role("button", name="Revoke").click()
    await expect(page.get_by_role("status").filter(has_text="Revoked")).to_be_visible()
    await expect(page.get_by_text("No grants")).to_be_visible()

    asks("write_file", {"path": "c.md", "content": "three"}, "call-3")
    await expect(page.get_by_role("link", name="Approvals 1 waiting")).to_be_visible()


@pytest.mark.behaviour("scope.project")
async def test_a_class_is_always_approved_from_its_card_and_covers_the_next_session(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    first = asks("write_file", {"path": "a.md", "content": "one"})
    await seen_for_a_moment(page)
    await page.get_by_role("button", name="Approve more").click()
    choice = page.get_by_role("menuitem", name="Always in this project")
    await expect(choice).to_contain_text("first call of this kind by this agent in this project")
    await choice.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("So far: first call of this kind by this agent")
    chosen = dialog.get_by_role("combobox", name="At most for")
    await expect(chosen).to_have_value(str(30 * 24 * 3600))
    await chosen.select_option("7 days")
    await dialog.get_by_role("button", name="Always approve").click()
    assert ((await first)["status"], (await first)["scope"]) == ("completed", "project")

    other = {"path": "b.md", "content": "two"}
    second = await asks("write_file", other, "call-2", session_id="another")
    assert second["scope"] == "project"
    await page.get_by_role("link", name="Grants").first.click()
    row = page.get_by_role("list", name="Grants for the project").get_by_role("listitem")
    await expect(row).to_contain_text("every session of this agent")
    await expect(row).to_contain_text("in 7 days")
    await row.get_by_role("button", name="Revoke").click()
    await expect(page.get_by_text("No grants")).to_be_visible()

"""In the browser a person changes a call on its card, with the mouse or with keys alone."""

import pytest
from playwright.async_api import expect

from tests.web.conftest import PHONE, Asking, Console, press_alone, seen_for_a_moment

WRITE = {"path": "notes.txt", "content": "retries = 3\nverify = false\n"}
CHANGED = "retries = 3\nverify = true\n"


@pytest.mark.behaviour("call.edited")
async def test_a_write_is_changed_with_keys_and_the_new_card_approved(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", WRITE)
    await seen_for_a_moment(page)

    await press_alone(page, "e")
    dialog = page.get_by_role("dialog", name="Change this call")
    field = dialog.get_by_role("textbox", name="The text to write")
    await expect(field).to_be_focused()
    await expect(field).to_have_value(WRITE["content"])
    await expect(dialog.get_by_role("button", name="Save and check")).to_be_disabled()
    await field.fill(CHANGED)
    await field.press("Control+Enter")

    await expect(dialog).to_be_hidden()
    evidence = page.get_by_role("region", name="Evidence")
    await expect(evidence).to_contain_text("+verify = true")
    changes = page.get_by_role("region", name="What a person changed")
    await expect(changes).to_contain_text("You changed what the agent asked for")
    await expect(changes.locator("mark")).to_have_text(["false", "true"])
    await expect(page.get_by_text("changed this call; the agent is told")).to_be_visible()
    await seen_for_a_moment(page)
    await press_alone(page, "a")

    ended = await call
    assert ended["status"] == "completed"
    assert (console.rig.workspace / "notes.txt").read_text() == CHANGED
    assert ended["result"]["output"].startswith("A person changed this call")


@pytest.mark.behaviour("call.edited")
async def test_a_refused_change_is_told_in_the_dialog_and_what_was_typed_stays(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("execute_command", {"command": "touch", "args": ["a.txt", "b.txt"]})
    await seen_for_a_moment(page)

    await page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog", name="Change this call")
    arguments = dialog.get_by_role("textbox", name="Its arguments, one on each line")
    await expect(arguments).to_have_value("a.txt\nb.txt")
    await dialog.get_by_role("textbox", name="The command").fill("rm")
    await arguments.fill("-rf\n/")
    await dialog.get_by_role("button", name="Save and check").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("would be refused")
    await expect(arguments).to_have_value("-rf\n/")
    console.troubles.clear()  # The browser complains about each refusal.

    await dialog.get_by_role("textbox", name="The command").fill("touch")
    await arguments.fill("c.txt")
    await dialog.get_by_role("button", name="Save and check").click()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_role("region", name="Evidence")).to_contain_text("c.txt")
    await page.get_by_role("button", name="Approve once").click()

    assert (await call)["status"] == "completed"
    assert [path.name for path in console.rig.workspace.glob("*.txt")] == ["c.txt"]


@pytest.mark.behaviour("call.edited")
async def test_a_masked_text_is_edited_in_full_and_the_line_ends_of_its_file_stay(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", {"path": "a.txt", "content": "password='hunter22'\r\nport = 1\r\n"})
    await seen_for_a_moment(page)

    await page.get_by_role("button", name="Edit…").click()
    field = page.get_by_role("textbox", name="The text to write")
    await expect(field).to_have_value("password='hunter22'\nport = 1\n")
    await field.fill("password='hunter22'\nport = 2\n")
    await page.get_by_role("button", name="Save and check").click()

    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(page.get_by_role("region", name="Evidence")).to_contain_text("port = 2")
    await page.get_by_role("button", name="Approve once").click()

    assert (await call)["status"] == "completed"
    written = (console.rig.workspace / "a.txt").read_bytes()
    assert written == b"password='hunter22'\r\nport = 2\r\n"


@pytest.mark.behaviour("call.edited")
async def test_what_cannot_be_changed_offers_no_edit_and_a_phone_does(
    console: Console, asks: Asking
) -> None:
    (console.rig.workspace / "old.txt").write_text("old\n")
    page = await console.signed_in()
    asks("delete_file", {"path": "old.txt"})
    await seen_for_a_moment(page)
    await expect(page.get_by_role("button", name="Edit…")).to_have_count(0)
    await press_alone(page, "e")
    await expect(page.get_by_text("This call cannot be changed.")).to_be_visible()
    await page.get_by_role("button", name="Refuse…").click()
    await page.get_by_role("button", name="Refuse", exact=True).click()

    phone = await console.signed_in(viewport=PHONE)
    asks("write_file", WRITE, "call-2")
    await phone.get_by_role("button", name="Edit…").click()
    await phone.get_by_role("textbox", name="The text to write").fill(CHANGED)
    await phone.get_by_role("button", name="Save and check").click()

    await expect(phone.get_by_role("region", name="Evidence")).to_contain_text("+verify = true")

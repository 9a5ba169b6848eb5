"""The console of an approver: requests, Activity and settings of the browser, and nothing else."""

import json

import pytest
from playwright.async_api import expect

from tests.web.conftest import Asking, Console


def link_for(console: Console, name: str) -> str:
    here = ("--workspace", str(console.rig.workspace), "--json")
    console.rig.run("token", "create", "--role", "approver", "--name", name, *here)
    made = console.rig.run("console", "--approver", name, *here)
    return json.loads(made.stdout)["address"]


@pytest.mark.behaviour("console.approver")
async def test_an_approver_answers_in_the_console_and_sees_what_is_not_theirs_to_open(
    console: Console, asks: Asking
) -> None:
    page = await console.new_page()
    await page.goto(link_for(console, "Ana"))
    call = asks("write_file", {"path": "notes.txt", "content": "hello\n"})

    await expect(page.get_by_role("button", name="Approve once")).to_be_enabled()
    assert await page.get_by_role("button", name="Approve more").count() == 0
    links = page.get_by_role("navigation").get_by_role("link")
    names = await links.all_text_contents()
    assert [name.partition("1")[0] for name in names] == ["Approvals", "Activity", "Settings"]
    await page.get_by_role("button", name="Approve once").click()
    done = await call
    assert (done["status"], done["approved_by"]) == ("completed", "Ana")

    for name in ("Activity", "Settings"):
        await page.get_by_role("link", name=name, exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    await page.goto(f"{console.address}/policy")
    await expect(page.get_by_text("Only the owner of the project sees this page")).to_be_visible()

"""Who has the link is in, once; everybody else is told what to do."""

import json

import pytest
from playwright.async_api import expect

from handrail.app.home import Home
from handrail.app.sign_in_page import sign_in_page
from tests.web.conftest import Asking, Console


@pytest.mark.behaviour("console.sign-in")
async def test_a_link_signs_in_and_leaves_no_trace_in_the_address(console: Console) -> None:
    page = await console.signed_in()

    assert "#" not in page.url
    assert "hr_" not in page.url
    await page.reload()
    await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    # No script of a page can read what signs it in.
    assert await page.evaluate("document.cookie") == ""
    kept = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "hr_" not in kept


async def test_what_a_browser_sends_to_other_ports_opens_nothing(console: Console) -> None:
    page = await console.signed_in()
    ((name, value),) = [
        (one.get("name", ""), one.get("value", "")) for one in await page.context.cookies()
    ]

    alone = await page.request.get(f"{console.address}/console/session")
    as_bearer = await page.request.get(
        f"{console.address}/console/session",
        headers={"authorization": f"Bearer {value}"},
    )

    assert (alone.status, as_bearer.status) == (401, 401)
    # Nor does another Handrail on this machine take it for its own.
    assert name.endswith(f"_{console.rig.port}")


async def test_a_page_in_handrails_own_folder_takes_a_browser_to_the_console(
    console: Console,
) -> None:
    page = await console.new_page()
    with sign_in_page(Home(console.rig.home), console.link()) as file:
        await page.goto(file.as_uri())
        await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()

    assert "hr_" not in page.url
    assert not file.exists()


@pytest.mark.behaviour("console.stolen-link")
async def test_the_owner_of_a_stolen_link_is_told_and_signs_the_thief_out(
    console: Console,
) -> None:
    link = console.link()
    thief = await console.new_page()
    await thief.goto(link)
    await expect(thief.get_by_role("heading", name="Waiting for you")).to_be_visible()

    owner = await console.new_page()
    await owner.goto(link)
    await expect(owner.get_by_role("alert")).to_contain_text("already used, less than a minute ago")
    await expect(owner.get_by_text("handrail console", exact=True)).to_be_visible()
    assert "hr_" not in owner.url
    await owner.get_by_role("button", name="That was not me: end that sign-in").click()

    await expect(owner.get_by_role("alert")).to_contain_text("That sign-in has ended.")
    await expect(thief.get_by_role("heading", name="Sign in to Handrail")).to_be_visible()
    console.troubles.clear()  # The browser complains about the refusals themselves.


async def test_a_stolen_link_is_told_also_to_an_owner_who_is_signed_in(console: Console) -> None:
    owner = await console.signed_in()
    link = console.link()
    thief = await console.new_page()
    await thief.goto(link)
    await expect(thief.get_by_role("heading", name="Waiting for you")).to_be_visible()

    await owner.goto(link)
    await expect(owner.get_by_role("alert")).to_contain_text("already used")
    await owner.get_by_role("button", name="end that sign-in").click()
    await expect(thief.get_by_role("heading", name="Sign in to Handrail")).to_be_visible()
    await owner.get_by_role("button", name="Continue to the console").click()

    await expect(owner.get_by_role("heading", name="Waiting for you")).to_be_visible()
    console.troubles.clear()


async def test_a_stranger_is_told_how_to_sign_in_and_may_do_so_in_the_same_tab(
    console: Console,
) -> None:
    page = await console.new_page()
    await page.goto(f"{console.address}/")
    await expect(page.get_by_role("heading", name="Sign in to Handrail")).to_be_visible()

    link = console.link()
    await page.goto(link)

    await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    assert "#" not in page.url
    # Who is in stays in, whatever stands behind the address.
    for address in (link, f"{console.address}/approvals#main"):
        await page.goto("about:blank")
        await page.goto(address)
        await expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    console.troubles.clear()


async def test_whose_token_is_taken_back_is_out_at_once(console: Console, asks: Asking) -> None:
    asks("write_file", {"path": "plan.txt", "content": "secret\n"})
    page = await console.signed_in()
    await expect(page.get_by_text("plan.txt").first).to_be_visible()
    listed = json.loads(console.rig.run("token", "list", "--json").stdout)
    (token,) = [one["token_id"] for one in listed["tokens"] if one["name"] == "console"]

    console.rig.run("token", "revoke", token)

    await expect(page.get_by_role("heading", name="Sign in to Handrail")).to_be_visible()
    await expect(page.get_by_text("plan.txt")).to_have_count(0)
    console.troubles.clear()

"""In the browser a person decides on the full text, also where the store masks it."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from handrail.core.masks import MASK
from tests.journeys.conftest import Rig
from tests.web.conftest import Asking, Console, seen_for_a_moment

BODY = {"url": "https://example.com/", "method": "POST", "body": '{"session_token": "the data"}'}


@pytest.mark.behaviour("card.unmasked")
async def test_a_masked_write_is_shown_in_full_and_approved(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    call = asks("write_file", {"path": "notes.txt", "content": "password='hunter22'\n"})

    evidence = page.get_by_role("region", name="Evidence")
    await expect(evidence).to_contain_text("password='hunter22'")
    await expect(page.get_by_text(MASK)).to_have_count(0)
    await page.get_by_role("button", name="Approve once").click()

    assert (await call)["status"] == "completed"


@pytest.mark.behaviour("card.unmasked")
async def test_the_body_of_a_request_is_shown_in_full(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    asks("http_request", BODY)

    await expect(page.get_by_role("region", name="Evidence")).to_contain_text("the data")
    await expect(page.get_by_role("button", name="Approve once")).to_be_enabled()


@pytest.mark.behaviour("card.unmasked")
async def test_without_its_machine_a_masked_card_can_only_be_refused(
    rig: Rig, browser: Browser
) -> None:
    rig.start_server()
    machine = rig.start_client()
    params = {"path": "notes.txt", "content": "password='hunter22'\n"}
    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.call("write_file", params))
        await rig.question()
        rig.kill(machine)
        page = await Console(rig, browser).signed_in()

        await expect(page.get_by_text("Masked on this card: 1 part.")).to_be_visible()
        missing = "The full text could not be fetched: the machine that has the full text is not"
        await expect(page.get_by_text(missing)).to_be_visible()
        await seen_for_a_moment(page)
        await expect(page.get_by_role("button", name="Approve once")).to_be_disabled()
        await page.keyboard.press("r")
        await page.get_by_role("button", name="Refuse", exact=True).click()

    assert call.result()["status"] == "rejected"

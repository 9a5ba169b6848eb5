"""The machines: which are here, what keeps commands in there, and which have left."""

from playwright.async_api import Browser, expect

from tests.journeys.conftest import Rig
from tests.web.conftest import Console


async def test_a_machine_is_shown_with_its_folder_and_as_gone_when_it_is(
    rig: Rig, browser: Browser
) -> None:
    rig.start_server()
    client = rig.start_client()
    page = await Console(rig, browser).signed_in()
    await page.get_by_role("link", name="Machines").click()

    row = page.get_by_role("list", name="Machines").get_by_role("listitem")
    await expect(row).to_contain_text("connected")
    await expect(row).to_contain_text(str(rig.workspace))
    await expect(row).to_contain_text("box")
    rig.end(client)
    await expect(row).to_contain_text("last seen")

"""Activity: one row per call, found by what it is, with all of its life."""

import csv
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from handrail.client.api import ApiError
from tests.web.conftest import PHONE, Asking, Console

WIDE = {"width": 1700, "height": 900}


@pytest.fixture
def notes(console: Console) -> str:
    (console.rig.workspace / "notes.txt").write_text("one\n")
    return "notes.txt"


async def open_activity(page: Page, filters: str = "") -> None:
    address = page.url.split("/approvals", 1)[0]
    await page.goto(f"{address}/activity{filters}")
    await expect(page.get_by_role("heading", name="Activity")).to_be_visible()


@pytest.mark.behaviour("console.activity")
async def test_a_call_comes_live_and_tells_its_life(
    console: Console, asks: Asking, notes: str
) -> None:
    page = await console.signed_in()
    await open_activity(page)
    await expect(page.get_by_text("No calls yet")).to_be_visible()

    await asks("read_file", {"path": notes}, reasoning="I look first.")

    row = page.get_by_role("row").filter(has_text="notes.txt")
    await expect(row).to_contain_text("done")
    await expect(row).to_contain_text("allowed by the rules")
    await row.get_by_role("link").click()
    details = page.get_by_role("complementary", name="One call")
    await expect(details.get_by_text("The agent says: I look first.")).to_be_visible()
    await expect(details.get_by_text("Allowed by the rules")).to_be_visible()
    await expect(details.get_by_role("region", name="Output")).to_have_text("one")
    ((digest,),) = console.rig.rows("SELECT digest FROM tool_executions")
    await expect(details.get_by_text(digest)).to_be_visible()


async def test_a_run_with_nothing_that_waits_is_stopped(
    console: Console, asks: Asking, notes: str
) -> None:
    page = await console.signed_in()
    await asks("read_file", {"path": notes})
    await open_activity(page)
    await page.get_by_role("row").filter(has_text="notes.txt").get_by_role("link").click()
    await page.get_by_role("button", name="stop the run…").click()
    await page.get_by_role("button", name="Stop the run", exact=True).click()

    await expect(page.get_by_role("status").filter(has_text="Stopped.")).to_be_visible()
    with pytest.raises(ApiError, match="'journey' has been stopped"):
        await asks("read_file", {"path": notes}, "call-2")


@pytest.mark.usefixtures("notes")
async def test_who_decided_and_where_is_told_of_a_refusal(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    call = asks("write_file", {"path": "notes.txt", "content": "two\n"})
    await page.get_by_role("button", name="Refuse…").click()
    await page.get_by_role("textbox").fill("Not today.")
    await page.get_by_role("button", name="Refuse", exact=True).click()
    await call

    await open_activity(page, "?state=rejected")
    row = page.get_by_role("row").filter(has_text="write_file")
    await expect(row).to_contain_text("refused by you")
    await row.get_by_role("link").click()

    details = page.get_by_role("complementary", name="One call")
    await expect(details.get_by_text("You refused it, from console")).to_be_visible()
    await expect(details.get_by_text("“Not today.”")).to_be_visible()
    await expect(details.get_by_text("Did not run.")).to_be_visible()


@pytest.mark.usefixtures("needs_box")
async def test_a_command_tells_what_kept_it_in(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    await asks("execute_command", {"command": "pwd", "args": []})

    await open_activity(page)
    await page.get_by_role("row").filter(has_text="pwd").get_by_role("link").click()

    details = page.get_by_role("complementary", name="One call")
    for wall in ("namespaces", "seccomp", "limits"):
        await expect(details.get_by_text(wall, exact=True)).to_be_visible()


async def test_filters_stand_in_the_address_and_leave_out_the_rest(
    console: Console, asks: Asking, notes: str
) -> None:
    page = await console.signed_in()
    await asks("read_file", {"path": notes}, "call-1")
    await asks("list_directory", {"path": "."}, "call-2")
    await asks("read_file", {"path": "/etc/shadow"}, "call-3")
    await open_activity(page)
    rows = page.get_by_role("row")
    await expect(rows).to_have_count(4)

    await page.get_by_role("combobox", name="Tool").select_option("read_file")
    await expect(rows).to_have_count(3)
    await page.get_by_role("combobox", name="State").select_option("failed")
    await expect(rows).to_have_count(2)
    await expect(rows.last).to_contain_text("refused by a rule")
    assert page.url.endswith("/activity?state=failed&tool=read_file")

    await page.get_by_role("button", name="Clear").click()
    await page.get_by_role("searchbox").press_sequentially("NO")
    await page.wait_for_url("**/activity?q=NO")
    await page.keyboard.type("TES")
    await page.wait_for_url("**/activity?q=NOTES")
    await expect(rows).to_have_count(2)
    await page.reload()
    await expect(page.get_by_role("searchbox")).to_have_value("NOTES")
    await expect(rows.last).to_contain_text("notes.txt")
    await page.get_by_role("searchbox").fill("nowhere")
    await expect(page.get_by_text("No matching calls")).to_be_visible()

    await page.goto(f"{console.address}/activity?state=bogus&risk=none")
    await expect(rows).to_have_count(4)


async def test_a_failed_command_is_not_green_and_a_git_command_reads_as_typed(
    console: Console, asks: Asking, notes: str
) -> None:
    page = await console.signed_in()
    failed = asks("execute_command", {"command": "cat", "args": ["missing.txt"]}, "call-1")
    assert (await failed)["status"] == "completed"
    await asks("git", {"action": "log", "args": ["--oneline", "-3"]}, "call-2")
    await open_activity(page)

    row = page.get_by_role("row").filter(has_text="missing.txt")
    await expect(row.get_by_text("exit 1")).to_have_class(re.compile("text-critical"))
    git = page.get_by_role("row").filter(has_text="git")
    await expect(git).to_contain_text("git log --oneline -3")
    await row.get_by_role("link").click()
    details = page.get_by_role("complementary", name="One call")
    await expect(details.get_by_text("exit 1").first).to_have_class(re.compile("text-critical"))


async def test_agents_and_sessions_are_named_and_filtered(
    console: Console, asks: Asking, notes: str
) -> None:
    page = await console.signed_in(viewport=WIDE)
    await asks("read_file", {"path": notes}, "call-1", session_id="first")
    asked = await asks("read_file", {"path": "other.txt"}, "call-2", session_id="second")
    await open_activity(page)

    rows = page.get_by_role("row")
    await expect(rows).to_have_count(3)
    await expect(rows.last).to_contain_text(asked["agent_name"])
    await expect(rows.last).to_contain_text("first")
    await page.get_by_role("combobox", name="Session").select_option("second")
    await expect(rows).to_have_count(2)
    await expect(rows.last).to_contain_text("other.txt")
    await page.get_by_role("combobox", name="Agent").select_option(label=asked["agent_name"])
    await expect(page).to_have_url(re.compile(rf"agent={asked['agent_id']}&session=second"))
    await expect(rows).to_have_count(2)
    await page.goto(f"{console.address}/activity?agent=agt_unknown")
    await expect(page.get_by_text("No matching calls")).to_be_visible()


# Scroll bars are hidden in tests; these take room as they do on most desktops.
WIDE_SCROLL_BARS = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("::-webkit-scrollbar { width: 15px }");
  document.adoptedStyleSheets = [sheet];
}"""
LEFT_EDGES = "(cells) => cells.map((one) => one.getBoundingClientRect().left)"


@pytest.mark.parametrize("width", [1280, 1366])
async def test_a_row_shows_its_call_in_words_below_its_head(
    console: Console, asks: Asking, width: int
) -> None:
    page = await console.signed_in(viewport={"width": width, "height": 400})
    for number in range(8):
        await asks("list_directory", {"path": "."}, f"call-{number}")
    command = {"command": "cat", "args": ["missing file.txt", "docs/another-missing-file.txt"]}
    await asks("execute_command", command, "call-last")
    await open_activity(page)
    await page.evaluate(WIDE_SCROLL_BARS)

    row = page.get_by_role("row").nth(1)
    words = "cat 'missing file.txt' docs/another-missing-file.txt"
    await expect(row.get_by_role("link")).to_have_text(words)
    assert await row.get_by_role("link").evaluate("(one) => one.scrollWidth <= one.clientWidth")
    heads = await page.locator("[role=columnheader]:visible").evaluate_all(LEFT_EDGES)
    assert await row.locator("[role=cell]:visible").evaluate_all(LEFT_EDGES) == heads
    widths = [right - left for left, right in pairwise(heads)]
    assert max(widths) == widths[2]


async def test_a_call_that_could_not_run_says_that_nobody_was_asked(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in(viewport=WIDE)
    await asks("memory_store", {"content": "no key"}, "call-1")
    # There is no repository.
    await asks("git", {"action": "push", "args": ["origin", "main"]}, "call-2")
    await open_activity(page)
    details = page.get_by_role("complementary", name="One call")

    row = page.get_by_role("row").filter(has_text="memory_store")
    await expect(row).to_contain_text("invalid parameters")
    await expect(row).not_to_contain_text("forbidden")
    await row.get_by_role("link").click()
    await expect(details).to_contain_text("You were not asked: the parameters are invalid.")
    await expect(details).not_to_contain_text("forbidden")
    await page.get_by_role("row").filter(has_text="git push").get_by_role("link").click()
    await expect(details).to_contain_text("You were not asked: the call could not run.")
    await expect(details).not_to_contain_text("approval covers")


@pytest.mark.behaviour("console.export")
async def test_a_file_holds_what_is_filtered(console: Console, asks: Asking, notes: str) -> None:
    page = await console.signed_in()
    await asks("read_file", {"path": notes}, "call-1")
    await asks("list_directory", {"path": "."}, "call-2")
    await open_activity(page, "?tool=read_file")

    async def exported(kind: str) -> str:
        await page.get_by_role("button", name="Export").click()
        async with page.expect_download() as started:
            await page.get_by_role("menuitem", name=kind).click()
        return Path(await (await started.value).path()).read_text()

    (line,) = (await exported("JSON lines")).splitlines()
    (row,) = csv.DictReader((await exported("CSV")).splitlines())
    assert json.loads(line)["result"]["output"] == "one\n"
    assert json.loads(row["tool_params"]) == {"path": notes}
    assert row["tool_id"] == json.loads(line)["tool_id"]


async def test_on_a_phone_one_call_takes_the_place_of_the_list(
    console: Console, asks: Asking, notes: str
) -> None:
    page = await console.signed_in(viewport=PHONE)
    await asks("read_file", {"path": notes})
    await open_activity(page)

    await page.get_by_role("row").filter(has_text=notes).get_by_role("link").click()
    await expect(page.get_by_role("table")).to_be_hidden()
    assert await page.evaluate("() => document.body.scrollWidth") <= PHONE["width"]
    await page.get_by_role("link", name="Back to the list").click()
    await expect(page.get_by_role("table")).to_be_visible()


async def test_a_key_goes_from_call_to_call(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    await asks("read_file", {"path": "first.txt"}, "call-1")
    await asks("read_file", {"path": "second.txt"}, "call-2")
    await open_activity(page)
    await expect(page.get_by_role("row")).to_have_count(3)
    details = page.get_by_role("complementary", name="One call")

    await page.keyboard.press("j")
    await expect(details.get_by_role("heading", level=2)).to_contain_text("second.txt")
    await page.keyboard.press("j")
    await expect(details.get_by_role("heading", level=2)).to_contain_text("first.txt")
    await page.keyboard.press("k")
    await expect(details.get_by_role("heading", level=2)).to_contain_text("second.txt")
    await page.keyboard.press("Escape")
    await expect(details).to_be_hidden()

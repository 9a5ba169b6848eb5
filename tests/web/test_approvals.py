"""The inbox: what waits is shown as it is, decided with a key, and done on the machine."""

import asyncio
import re

import pytest
from playwright.async_api import Browser, FloatRect, expect

from handrail.app.settings import APPROVAL_TIMEOUT
from handrail.client.api import ApiError
from handrail.core.card import Choice
from tests.journeys.conftest import Rig
from tests.web.conftest import PHONE, Asking, Console, press_alone, seen_for_a_moment

BEFORE = "retries = 3\nverify = true\n"
AFTER = "retries = 5\nverify = false\n"
BUSY = {"title": "Busy", "detail": "The database is busy"}
CHANGE = {"path": "notes.txt", "content": AFTER}


def overlap(one: FloatRect | None, other: FloatRect | None) -> bool:
    assert one is not None
    assert other is not None
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.fixture
def notes(console: Console) -> str:
    (console.rig.workspace / "notes.txt").write_text(BEFORE)
    return "notes.txt"


@pytest.mark.behaviour("console.approve")
@pytest.mark.usefixtures("notes")
async def test_a_write_is_approved_with_its_diff_and_the_file_changes(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE, reasoning="Only the retries.")

    await expect(page.get_by_role("heading", name="Change 2 lines in notes.txt")).to_be_visible()
    marked = page.locator("mark")
    await expect(marked).to_have_text(["3", "true", "5", "false"])
    await expect(page.get_by_text("The agent claims:")).to_be_visible()
    await page.get_by_role("button", name="Approve once").click()
    result = await call

    assert result["status"] == "completed"
    assert (console.rig.workspace / "notes.txt").read_text() == AFTER
    await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()


@pytest.mark.behaviour("console.refuse")
@pytest.mark.usefixtures("notes")
async def test_a_refusal_reaches_the_agent_with_its_reason(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE)
    await seen_for_a_moment(page)

    await page.keyboard.press("r")
    await page.get_by_role("textbox").fill("Leave verify alone.")
    await page.get_by_role("button", name="Refuse", exact=True).click()
    result = await call

    assert result["status"] == "rejected"
    assert "Leave verify alone." in result["error"]
    assert (console.rig.workspace / "notes.txt").read_text() == BEFORE


@pytest.mark.behaviour("console.keyboard")
@pytest.mark.usefixtures("notes")
async def test_the_whole_decision_needs_no_mouse(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    first = asks("write_file", CHANGE, "call-1")
    await seen_for_a_moment(page)
    await page.keyboard.press("a")
    assert (await first)["status"] == "completed"

    second = asks("write_file", {**CHANGE, "content": BEFORE}, "call-2")
    await expect(page.get_by_role("heading", name="Change 2 lines in notes.txt")).to_be_visible()
    await seen_for_a_moment(page)
    await page.keyboard.press("r")
    await page.keyboard.type("no, a, y")
    await page.keyboard.press("Control+Enter")
    assert "no, a, y" in (await second)["error"]


@pytest.mark.usefixtures("notes")
async def test_keys_that_were_pressed_before_the_card_was_seen_decide_nothing(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE)
    await page.get_by_role("heading", name="Change 2 lines").wait_for()
    await page.keyboard.press("a")
    await page.keyboard.press("a")

    await seen_for_a_moment(page)
    await expect(page.get_by_role("heading", name="Change 2 lines")).to_be_visible()
    assert not call.done()


@pytest.mark.usefixtures("notes")
async def test_words_that_were_typed_for_something_else_decide_nothing(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE)
    await seen_for_a_moment(page)
    await page.keyboard.type("ls -la", delay=60)
    await page.wait_for_timeout(1_000)
    await expect(page.get_by_role("button", name="Approve once")).to_be_enabled()
    assert not call.done()

    await page.keyboard.press("a")
    assert (await call)["status"] == "completed"


async def test_a_reason_stays_where_it_is_typed_when_somebody_else_decides(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    asks("write_file", {"path": "first.txt", "content": "1\n"}, "call-1")
    await seen_for_a_moment(page)
    other = asks("write_file", {"path": "second.txt", "content": "2\n"}, "call-2")
    await expect(page.get_by_role("listitem").filter(has_text="second.txt")).to_be_visible()
    await page.keyboard.press("r")
    await page.keyboard.type("No, ")
    shown = page.url.rsplit("/", 1)[-1]
    await console.rig.as_person(
        lambda api: api.post(f"/approvals/{shown}/reject", {"channel": "terminal"})
    )
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("alert")).to_contain_text("You refused it, from terminal")
    await page.keyboard.type("it may stay as it was", delay=60)

    await expect(dialog.get_by_role("textbox")).to_have_value("No, it may stay as it was")
    await expect(dialog.get_by_role("button")).to_have_text(["Close"])
    await dialog.get_by_role("button").click()
    await expect(page.get_by_role("status").filter(has_text="You refused it")).to_be_visible()
    assert not other.done()


@pytest.mark.behaviour("console.second-step")
async def test_what_is_high_needs_a_second_and_different_step(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", {"path": "setup.cfg", "content": "[tool]\n"})
    await seen_for_a_moment(page)
    await page.keyboard.type("say today", delay=60)
    await press_alone(page, "c")
    await expect(page.get_by_text("No class can be offered for this call.")).to_be_visible()
    names = ("Approve once", "Stop the run…", "Refuse…")
    before = [await page.get_by_role("button", name=name).bounding_box() for name in names]

    await press_alone(page, "a")
    await expect(page.get_by_role("alert")).to_contain_text("Approve this high-risk call?")
    back = await page.get_by_role("button", name="Back").bounding_box()
    now = await page.get_by_role("button", name="Yes, approve").bounding_box()
    assert back is not None
    assert now is not None
    assert abs(back["y"] - now["y"]) <= 2
    assert not any(overlap(box, now) for box in before)
    await page.keyboard.type("a yes", delay=60)
    await press_alone(page, "a")
    assert not call.done()
    await press_alone(page, "y")

    assert (await call)["status"] == "completed"


@pytest.mark.behaviour("console.grant")
@pytest.mark.usefixtures("notes")
async def test_a_class_is_granted_and_the_next_call_of_it_passes_unasked(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    first = asks("write_file", CHANGE, "call-1")
    await seen_for_a_moment(page)
    await page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("for the rest of this session")
    await dialog.get_by_label("For", exact=True).select_option("5 further calls")
    await dialog.get_by_role("button", name="Approve the class").click()
    await first

    second = await asks("write_file", {**CHANGE, "content": BEFORE}, "call-2")

    assert second["status"] == "completed"
    grants = (await console.rig.as_person(lambda api: api.get("/grants")))["grants"]
    assert [(one["scope"], one["uses_left"]) for one in grants] == [("class", 4)]


@pytest.mark.behaviour("console.decided-elsewhere")
@pytest.mark.usefixtures("notes")
async def test_a_card_that_somebody_else_decides_says_so(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE)
    await seen_for_a_moment(page)

    await console.rig.answer(Choice(approved=False, reason="too late"))
    await call

    ended = page.get_by_role("status").filter(has_text="refused it")
    await expect(ended).to_contain_text("from journey")
    await expect(ended).to_contain_text("too late")
    await expect(page.get_by_role("button", name="Approve once")).to_have_count(0)

    asks("write_file", {"path": "other.txt", "content": "x\n"}, "call-2")
    await expect(page.get_by_role("listitem").filter(has_text="other.txt")).to_be_visible()
    async with page.expect_response("**/approvals?status=pending*"):
        await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    await expect(ended).to_contain_text("too late")
    await page.reload()
    await expect(ended).to_contain_text("too late")


@pytest.mark.behaviour("console.restart")
@pytest.mark.usefixtures("notes")
async def test_after_a_restart_of_the_server_the_inbox_goes_on(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", CHANGE)
    await seen_for_a_moment(page)

    console.rig.kill(console.rig._processes[0])
    await expect(page.get_by_role("status").filter(has_text="Reconnecting")).to_be_visible()
    await page.get_by_role("button", name="Approve once").click()
    await expect(page.get_by_role("alert")).to_contain_text("Your answer was not sent")
    console.rig.start_server()
    await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)
    await page.get_by_role("button", name="Approve once").click()

    assert (await call)["status"] == "completed"


async def test_what_cannot_be_read_is_not_called_nothing(console: Console, asks: Asking) -> None:
    asks("write_file", CHANGE)
    page = await console.new_page()
    await page.route("**/approvals?*", lambda asked: asked.fulfill(status=503, json=BUSY))
    await page.goto(console.link())

    await expect(page.get_by_role("alert")).to_have_text("The database is busy")
    await expect(page.get_by_text("Nothing is waiting for you")).to_have_count(0)
    await page.unroute("**/approvals?*")
    await page.get_by_role("button", name="Try again").click()

    await expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    console.troubles.clear()


async def test_on_a_phone_everything_is_within_reach(console: Console, asks: Asking) -> None:
    page = await console.signed_in(viewport=PHONE)
    call = asks("write_file", {"path": "setup.cfg", "content": "[tool]\n"})
    await seen_for_a_moment(page)

    wide = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert not wide
    names = ("Approve once", "Stop the run…", "Refuse…")
    before = [await page.get_by_role("button", name=name).bounding_box() for name in names]
    await page.get_by_role("button", name="Approve once").click()
    # Whoever taps again, or wanted another button, does not hit the second step.
    await expect(page.get_by_role("alert")).to_be_focused()
    yes = page.get_by_role("button", name="Yes, approve")
    now = await yes.bounding_box()
    assert not any(overlap(box, now) for box in before)
    await yes.click()
    assert (await call)["status"] == "completed"


async def test_a_long_path_keeps_the_name_of_its_file_and_a_phone_shows_the_agent(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in(viewport=PHONE)
    asks("write_file", {"path": f"{'a-long-folder/' * 8}name.txt", "content": "1\n"})
    row = page.get_by_role("region", name="Requests waiting for you").get_by_role("listitem")

    name = await row.get_by_text("/name.txt (1 line)", exact=True).bounding_box()
    assert name is not None
    assert name["x"] + name["width"] <= PHONE["width"]
    await expect(row.get_by_text("agent of workspace").first).to_be_visible()


@pytest.mark.usefixtures("asks_beforehand")
async def test_the_most_urgent_stands_first(console: Console, asks: Asking) -> None:
    page = await console.signed_in()
    asks("write_file", {"path": "slow.txt", "content": "1\n"}, "call-1")
    await expect(page.get_by_role("button", name="slow.txt")).to_be_visible()
    asks("execute_command", {"command": "python3", "args": ["-V"]}, "call-2")

    rows = page.get_by_role("region", name="Requests waiting for you").get_by_role("listitem")
    await expect(rows).to_have_count(2)
    waiting = (await console.rig.as_person(lambda api: api.get("/approvals")))["approvals"]
    first, _ = sorted(waiting, key=lambda one: one["expires_at"])
    await expect(rows.first).to_contain_text(first["description"])


async def test_a_run_is_stopped_also_when_its_card_is_decided(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    call = asks("write_file", {"path": "first.txt", "content": "1\n"})
    await seen_for_a_moment(page)
    await page.get_by_role("button", name="Stop the run…").click()
    await console.rig.answer(Choice(approved=False))
    await call
    await page.get_by_role("button", name="Stop the run", exact=True).click()

    await expect(page.get_by_role("dialog")).to_have_count(0)
    with pytest.raises(ApiError, match="'journey' has been stopped"):
        await asks("read_file", {"path": "first.txt"}, "call-2")


async def test_whoever_goes_by_keys_goes_on_from_the_next_card(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    for name in ("one", "two"):
        asks("write_file", {"path": f"{name}.txt", "content": "1\n"}, f"call-{name}")
    await expect(page.locator("li[aria-posinset]")).to_have_count(2)
    await seen_for_a_moment(page)
    title = page.locator("h2#what")
    before = await title.inner_text()
    await page.get_by_role("button", name="Approve once").click()

    await expect(title).not_to_have_text(before)
    await expect(title).to_be_focused()
    told = page.get_by_role("status").filter(has_text="Waiting for you, medium: Create ")
    await expect(told).to_be_attached()


@pytest.mark.usefixtures("asks_beforehand")
async def test_a_decision_leads_to_the_neighbour_and_its_outcome_is_told(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    for name in ("one", "two", "three"):
        await expect(page.locator("li[aria-posinset]")).to_have_count(
            ("one", "two", "three").index(name)
        )
        asks("write_file", {"path": f"{name}.txt", "content": "1\n"}, f"call-{name}")
    rows = page.locator("li[aria-posinset]")
    await expect(rows).to_have_count(3)
    await rows.filter(has_text="two.txt").click()
    await seen_for_a_moment(page)
    await page.keyboard.press("a")

    await expect(page.locator("h2#what")).to_contain_text("three.txt")
    told = page.get_by_role("status", name="Your latest decisions")
    await expect(told).to_contain_text(re.compile(r"Approved: .*two\.txt.*done"))

    asks("execute_command", {"command": "python3", "args": ["-c", "raise SystemExit(3)"]}, "call-4")
    await rows.filter(has_text="python3").click()
    await seen_for_a_moment(page)
    await press_alone(page, "c")
    await expect(page.get_by_role("status").filter(has_text="No class can be")).to_be_visible()
    await press_alone(page, "a")
    await press_alone(page, "y")
    await expect(told.get_by_text("exit 3")).to_have_class(re.compile("text-critical"))
    await told.get_by_role("link", name="View in Activity").first.click()
    await expect(page.get_by_text("raise SystemExit(3)").first).to_be_visible()


@pytest.mark.behaviour("console.expiry")
async def test_a_card_that_runs_out_while_it_is_looked_at_says_so(
    rig: Rig, browser: Browser
) -> None:
    rig.environment[APPROVAL_TIMEOUT.name] = "4"
    rig.start_server()
    rig.start_client()
    (rig.workspace / "notes.txt").write_text(BEFORE)
    console = Console(rig, browser)
    page = await console.signed_in()
    call = asyncio.create_task(rig.call("write_file", CHANGE))
    await seen_for_a_moment(page)

    ended = page.get_by_role("status").filter(has_text="Expired: it was not answered")
    await expect(ended).to_be_visible()
    await expect(page.get_by_role("button", name="Approve once")).to_have_count(0)
    assert (await call)["status"] == "timeout"
    assert (rig.workspace / "notes.txt").read_text() == BEFORE
    assert console.troubles == []

"""Hostile content: whatever an agent or a file says is shown as it is, and does nothing."""

import pytest
from playwright.async_api import Page, expect

from tests.web.conftest import Asking, Console, seen_for_a_moment

BIDI = "\u202e\u2066"
SCRIPT = "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>"
TERMINAL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x1b[8mhidden\x1b[28m\rover\x00"


async def is_unhurt(page: Page) -> bool:
    strange = await page.locator("main img, main script").count()
    return strange == 0 and await page.evaluate("window.hurt === undefined")


@pytest.mark.behaviour("console.inert")
async def test_a_card_of_script_and_unseen_characters_shows_them(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    content = f"{SCRIPT}\nif admin{BIDI}:\n\tzero\u200bwidth \x1b[8mhidden\n"
    asks("write_file", {"path": "page.html", "content": content}, reasoning=SCRIPT + BIDI)
    await seen_for_a_moment(page)

    shown = await page.get_by_role("main").inner_text()
    assert shown.count("<script>window.hurt = 1</script>") == 2
    for escape in (r"\u{202e}", r"\u{2066}", r"\u{200b}", r"\x1b"):
        assert escape in shown
    assert not set(shown) & set("\u202e\u2066\u200b\x1b")
    assert await is_unhurt(page)


# Where each of these letters is drawn, in every text of the page that holds them all.
_PLACES = """letters => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!letters.every(one => node.data.includes(one))) continue;
        found.push(letters.map(one => {
            const range = document.createRange();
            range.setStart(node, node.data.indexOf(one));
            range.setEnd(node, node.data.indexOf(one) + 1);
            return range.getBoundingClientRect().left;
        }));
    }
    return found;
}"""


async def test_names_keep_their_order_whatever_their_letters(
    console: Console, asks: Asking
) -> None:
    page = await console.signed_in()
    (console.rig.workspace / "one").write_text("x")
    asks("execute_command", {"command": "cp", "args": ["-v", "one", "\u05d0 \u05d1"]}, "call-1")
    await seen_for_a_moment(page)
    places = await page.evaluate(_PLACES, ["\u05d0", "\u05d1"])
    assert len(places) >= 2
    asks("write_file", {"path": "a.txt", "content": "\u05d0 + \u05d1\n"}, "call-2")
    await page.get_by_role("listitem").filter(has_text="a.txt").click()
    await expect(page.get_by_text("\u05d0 + \u05d1")).to_be_visible()
    places += await page.evaluate(_PLACES, ["\u05d0", "\u05d1"])

    assert all(first < second for first, second in places)
    # And an address that nobody can read is a question that nobody knows.
    await page.goto(f"{console.address}/approvals/%")
    await expect(page.get_by_text("There is no such request here")).to_be_visible()
    await page.goto(f"{console.address}/activity/%E0%A4%A")
    await expect(page.get_by_text("there is no execution")).to_be_visible()
    console.troubles.clear()


async def test_a_diff_of_5000_lines_scrolls_and_is_whole(console: Console, asks: Asking) -> None:
    (console.rig.workspace / "long.txt").write_text("".join(f"was {n}\n" for n in range(5_000)))
    page = await console.signed_in()
    lines = "".join(f"is {n} {SCRIPT if n == 4_999 else ''}\n" for n in range(5_000))
    call = asks("write_file", {"path": "long.txt", "content": lines})
    await seen_for_a_moment(page)
    diff = page.get_by_role("region", name="lines")

    caption = page.locator("figcaption")
    await expect(caption).to_contain_text("--- a/long.txt+++ b/long.txt+5,000 \u22125,000 lines")
    await expect(caption).to_contain_text("4,800 not shown")
    assert await diff.evaluate("one => one.querySelectorAll('[data-index]').length") < 200
    await diff.press("End")
    await expect(diff.get_by_text("is 4999 <script>")).to_be_visible()
    # Not every line that goes is shown, so it is high.
    await page.get_by_role("button", name="Approve once").click()
    await page.get_by_role("button", name="Yes, approve").click()
    assert (await call)["status"] == "completed"
    assert await is_unhurt(page)


async def test_a_megabyte_of_output_opens_at_once_and_does_nothing(
    console: Console, asks: Asking
) -> None:
    noise = "".join(f"{n:07} {TERMINAL}{SCRIPT}\n" for n in range(11_000))
    assert len(noise) > 1_000_000
    (console.rig.workspace / "noise.log").write_text(noise)
    await asks("execute_command", {"command": "cat", "args": ["noise.log"]})
    page = await console.signed_in()
    await page.goto(f"{console.address}/activity")
    await page.get_by_role("row").filter(has_text="cat noise.log").click()

    output = page.get_by_role("region", name="lines").first
    await expect(output).to_contain_text("0000000")
    assert await output.evaluate("one => one.querySelectorAll('[data-index]').length") < 200
    assert "owned" not in await page.title()
    assert await is_unhurt(page)

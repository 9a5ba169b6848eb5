"""Deciding at the terminal's screen: a real server, a real client, an agent that asks."""

import asyncio
import re
from datetime import datetime, timedelta

import pytest
from textual import events

from handrail.core.card import Choice
from tests.journeys.conftest import Rig
from tests.tui.conftest import Asking, Patience, Person, ended, sit_down


def write(path: str, content: str = "hello\n") -> tuple[str, dict[str, str]]:
    return "write_file", {"path": path, "content": content}


@pytest.mark.behaviour("terminal.approve")
async def test_a_write_is_read_as_a_diff_and_approved_and_the_file_changes(
    rig: Rig, person: Person, asks: Asking
) -> None:
    (rig.workspace / "notes.md").write_text("one\nretries = 3\n")
    call = asks(*write("notes.md", "one\nretries = 5\n"), reasoning="I like five.")

    await person.sees("-retries = 3")
    assert "+retries = 5" in person.screen_text
    assert "the agent claims: I like five." in person.screen_text
    assert "● MEDIUM" in person.screen_text
    assert "expires in" in person.bar
    await person.press("a")

    assert (await ended(call))["status"] == "completed"
    assert (rig.workspace / "notes.md").read_text() == "one\nretries = 5\n"
    await person.sees("Nothing waits for you")


@pytest.mark.behaviour("terminal.refuse")
async def test_a_refusal_carries_its_reason_to_the_agent(
    rig: Rig, person: Person, asks: Asking
) -> None:
    call = asks(*write("notes.md"))

    await person.sees("Create notes.md (1 line)")
    await person.press("r")
    await person.sees("Refuse: why?")
    await person.type("use the wiki")

    assert (await ended(call))["error"].endswith("refused this call: use the wiki")
    assert not (rig.workspace / "notes.md").exists()


@pytest.mark.behaviour("terminal.grant")
async def test_a_class_is_told_in_words_limited_and_lets_the_next_call_pass_unasked(
    rig: Rig, person: Person, asks: Asking
) -> None:
    first = asks(*write("lib/one.py"), "call-1")
    await person.sees("Create lib/one.py (1 line)")
    await person.press("c")
    await person.sees("writes to lib/**/*.py, for the rest of this session")
    assert "So far first call of this kind by this agent in this project." in person.screen_text
    assert "for any number of calls" in person.screen_text
    await person.press("u", "u", "t")
    await person.sees("for 5 further calls")
    await person.sees("at most for 15 minutes")
    await person.press("y")
    assert (await ended(first))["status"] == "completed"

    second = await ended(asks(*write("lib/two.py"), "call-2"))

    (grant,) = (await rig.as_person(lambda api: api.get("/grants")))["grants"]
    assert second["status"] == "completed"
    assert second["approved_by"] == grant["grant_id"]
    assert grant["uses_left"] == 4
    assert grant["expires_at"] is not None


async def test_a_class_is_always_approved_until_a_date_that_can_be_chosen(
    rig: Rig, person: Person, asks: Asking
) -> None:
    first = asks(*write("lib/one.py"), "call-1")
    await person.sees("Create lib/one.py (1 line)")
    await person.press("p")
    await person.sees("always in this project")
    assert "So far first call of this kind by this agent in this project." in person.screen_text
    await person.sees("at most for 30 days")
    await person.press("t")
    await person.sees("at most for 90 days")
    await person.press("y")

    assert (await ended(first))["scope"] == "project"
    (grant,) = (await rig.as_person(lambda api: api.get("/grants")))["grants"]
    given, ends = (datetime.fromisoformat(grant[name]) for name in ("created_at", "expires_at"))
    assert (grant["scope"], ends - given) == ("project", timedelta(days=90))


@pytest.mark.behaviour("terminal.second-step")
async def test_what_is_high_takes_a_word_that_no_single_key_can_type(
    rig: Rig, person: Person, asks: Asking
) -> None:
    call = asks(*write("deploy.sh"))
    await person.sees("▲ HIGH")
    await person.press("a")
    await person.sees("Type 'approve' and Enter to approve")
    assert "high-risk" in person.screen_text
    await person.type("yes")
    await person.sees("that was not 'approve'")
    assert not call.done()
    await person.press("escape", "a")
    await person.sees("Type 'approve' and Enter to approve")
    await person.type("approve")

    assert (await ended(call))["status"] == "completed"
    assert (rig.workspace / "deploy.sh").exists()


async def test_all_of_a_session_is_approved_only_behind_its_warning_and_the_word(
    rig: Rig, person: Person, asks: Asking
) -> None:
    call = asks(*write("notes.md"))
    await person.sees("Create notes.md (1 line)")
    await person.press("s")
    await person.sees("run without asking")
    assert "at most for 1 hour" in person.screen_text
    await person.press("y")
    await person.sees("Type 'approve' and Enter to approve")
    await person.type("approve")

    assert (await ended(call))["status"] == "completed"
    (grant,) = (await rig.as_person(lambda api: api.get("/grants")))["grants"]
    assert grant["scope"] == "session"


async def test_what_was_not_read_to_its_end_takes_the_word_and_what_was_does_not(
    rig: Rig, person: Person, asks: Asking
) -> None:
    long = "".join(f"{number:04}" for number in range(200))
    text = f"{long}\n" + "".join(f"line {number}\n" for number in range(1, 5_000))
    call = asks(*write("notes.md", text))
    await person.sees("Create notes.md (5,000 lines)")

    def is_drawn_whole() -> bool:
        return "".join(re.findall(r"[\d]{20,}", person.screen_text)) == long

    await person.until(is_drawn_whole, "a folded line of which nothing is lost")
    await person.press("a")
    await person.sees("You have not seen all of it: Esc goes back to the card")
    await person.press("escape")
    await person.press("space", "G")
    await person.sees("+line 4999")
    await person.press("a")

    assert (await ended(call))["status"] == "completed"


@pytest.mark.behaviour("terminal.decided-elsewhere")
async def test_a_card_that_somebody_else_decides_says_who_where_and_when(
    rig: Rig, person: Person, asks: Asking
) -> None:
    call = asks(*write("notes.md"))
    await person.sees("Create notes.md (1 line)")
    await person.press("r")
    await person.sees("Refuse: why?")

    await rig.answer(Choice(approved=False, reason="not you"))

    await person.sees("This call no longer needs an answer.")
    await person.type("quite a pity")  # Somebody is just typing.
    await person.sees("refused it, from journey at ")
    assert "“not you”" in person.screen_text
    assert "Refuse: why?" not in person.screen_text
    assert "Create notes.md (1 line)" in person.screen_text
    await person.press("a")
    assert (await ended(call))["status"] == "rejected"
    await person.press("j")
    await person.sees("Nothing waits for you")


@pytest.mark.parametrize("key", ["c", "s", "x", "r", "question_mark"])
async def test_escape_leads_back_to_the_card(person: Person, asks: Asking, key: str) -> None:
    call = asks(*write("notes.md"))
    await person.sees("Create notes.md (1 line)")

    await person.press(key)
    await person.until(lambda: person.app.screen is not person.app.desk)
    await person.press("escape")

    await person.until(lambda: person.app.screen is person.app.desk)
    await person.press("a")
    assert (await ended(call))["status"] == "completed"


@pytest.mark.behaviour("terminal.expires")
async def test_a_card_that_runs_out_while_it_is_looked_at_says_so_and_its_keys_are_dead(
    rig: Rig, asks: Asking
) -> None:
    rig.environment["APPROVAL_TIMEOUT_SECONDS"] = "3"
    rig.start_server()
    rig.start_client()
    async with sit_down(rig) as person:
        call = asks(*write("notes.md"))
        await person.sees("Create notes.md (1 line)")
        await person.press("r")
        await person.sees("This call no longer needs an answer.")
        await person.press("escape")
        await person.sees("Expired without an answer; the call was refused.")
        assert "Refuse: why?" not in person.screen_text
        await person.press("a")
        assert (await ended(call))["status"] == "timeout"
        await asyncio.sleep(0.1)
        assert not (rig.workspace / "notes.md").exists()


@pytest.mark.behaviour("terminal.keys")
async def test_keys_are_dead_while_one_types_before_a_card_is_seen_and_in_company(
    rig: Rig, asks: Asking
) -> None:
    rig.start_server()
    rig.start_client()
    async with sit_down(rig, patience=Patience(deaf_seconds=1.0, quiet_seconds=0.3)) as person:
        call = asks(*write("notes.md"))
        await person.sees("Create notes.md (1 line)")
        await person.pilot.press("a")  # Too early.
        await person.pilot.pause(1.5)
        await person.pilot.press("a", "s", "a")  # Too many.
        await person.sees("Several keys at once are ignored")
        await person.pilot.pause(1.2)
        await person.pilot.press("r")
        await person.sees("Refuse: why?")
        await person.pilot.press("a", "c", "s", "q")  # Typed.
        await person.sees("acsq")
        await person.pilot.press("escape")
        await person.pilot.pause(0.2)
        assert not call.done()
        assert await rig.question()
        await person.pilot.pause(1.0)
        await person.pilot.press("a")
        assert (await ended(call))["status"] == "completed"


async def test_who_comes_back_from_another_window_has_not_looked_yet(
    rig: Rig, asks: Asking
) -> None:
    rig.start_server()
    rig.start_client()
    async with sit_down(rig, patience=Patience(deaf_seconds=0.6, quiet_seconds=0.02)) as person:
        call = asks(*write("notes.md"))
        await person.sees("Create notes.md (1 line)")
        await person.pilot.pause(0.8)
        person.app.post_message(events.AppBlur())
        person.app.post_message(events.AppFocus())
        await person.press("a")
        await person.pilot.pause(0.3)
        assert not call.done()
        await person.pilot.pause(0.8)
        await person.press("a")

        assert (await ended(call))["status"] == "completed"

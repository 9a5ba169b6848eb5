"""Rows mean what was drawn: whatever comes and goes, no key or click means another call or card."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handrail.core.ports import Channel
from handrail.testing import a_card
from handrail.tui.app import HandrailApp
from handrail.tui.calls import CallsView
from handrail.tui.lines import Rows
from scripts.draw_pictures import Still
from tests.tui.conftest import HASTY, Person, sitting

ONE = replace(a_card("apr_0"), expires_at=Still().now() + timedelta(seconds=100))
CARDS = [
    replace(ONE, approval_id=f"apr_{n}", expires_at=ONE.expires_at + timedelta(seconds=n))
    for n in range(3)
]


class Office(Still):
    """A line on which calls come and go, newest first, and whose cards are taken away by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.asked: dict[str, asyncio.Task[Any]] = {}

    async def running(self) -> list[dict[str, Any]]:
        return [
            {
                "tool_id": f"exe_{name}",
                "session_id": f"session-{name}",
                "description": f"Do {name}.",
                "tool_name": "write_file",
                "status": "executing",
                "risk_level": "MEDIUM",
                "created_at": "2026-01-01T09:30:00+00:00",
                "agent_id": "agt",
                "approved_by": None,
                "scope": None,
                "execution_time_ms": None,
                "error": None,
            }
            for name in self.calls
        ]

    async def question(self, approval_id: str) -> dict[str, Any]:
        return {"status": "withdrawn"}

    async def listen(self, inbox: Channel, announce: Callable[[bool], None]) -> None:
        announce(True)
        async with asyncio.TaskGroup() as group:
            for card in CARDS:
                self.asked[card.approval_id] = group.create_task(inbox.ask(card))


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
async def person(office: Office) -> AsyncGenerator[Person]:
    async with sitting(HandrailApp(office, patience=HASTY), office.listen) as made:
        await made.until(lambda: len(made.app.inbox.cards()) == len(CARDS))
        await made.until(lambda: made.app.desk.shown is not None)
        yield made


def chosen(person: Person) -> str | None:
    call = person.app.desk.query_one("#running", CallsView).chosen
    return None if call is None else call["session_id"]


async def test_a_call_that_comes_later_is_not_chosen_by_itself(
    office: Office, person: Person
) -> None:
    office.calls = ["one"]
    await person.press("2")
    await person.sees("Do one.")
    await person.until(lambda: chosen(person) == "session-one")

    office.calls = ["two", "one"]
    await person.sees("Do two.")
    assert chosen(person) == "session-one"
    await person.press("x")

    await person.sees("All calls of session session-one end")


async def test_when_the_chosen_call_has_ended_no_other_is_chosen_but_by_the_person(
    office: Office, person: Person
) -> None:
    office.calls = ["two", "one"]
    await person.press("2")
    await person.sees("Do two.")
    await person.press("j")
    assert chosen(person) == "session-one"

    office.calls = ["three", "two"]
    await person.sees("The selected call is no longer listed")
    await person.press("x")
    assert chosen(person) is None
    assert person.app.screen is person.app.desk
    await person.press("j")
    assert chosen(person) == "session-two"


async def test_what_comes_to_an_empty_list_is_not_chosen_by_itself(
    office: Office, person: Person
) -> None:
    await person.press("2")
    await person.sees("Nothing here.")

    office.calls = ["one"]
    await person.sees("No call is selected; j and k select one.")
    await person.press("x")
    assert person.app.screen is person.app.desk
    await person.press("j")
    assert chosen(person) == "session-one"


async def test_a_click_shows_the_card_of_the_row_that_was_drawn_or_none_where_it_has_gone(
    office: Office, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = CARDS
    await person.sees("1 waiting 3")
    await person.pilot.pause(0.1)
    # As between two drawings.
    monkeypatch.setattr(Rows, "fill", lambda *given: None)
    for gone in (first, third):
        office.asked[gone.approval_id].cancel()
        await person.until(lambda gone=gone: not person.app.inbox.has(gone))

    await person.pilot.click("#waiting-rows", offset=(3, 1))
    await person.until(lambda: person.app.desk.shown == second)
    await person.pilot.click("#waiting-rows", offset=(3, 2))
    await person.pilot.pause(0.1)

    assert person.app.desk.shown == second
    assert person.app.is_running

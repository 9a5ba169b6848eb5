"""The inbox: every open card at once, and an answer for each."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from handrail.core.card import Card, Choice
from handrail.testing import a_card
from handrail.tui.attention import Attention, Patience
from handrail.tui.inbox import Aside, Inbox
from handrail.tui.words import answer_in_words, call_facts


async def waiting(inbox: Inbox, *cards: Card) -> list[asyncio.Task[Choice | None]]:
    tasks = [asyncio.create_task(inbox.ask(card)) for card in cards]
    await asyncio.sleep(0)
    return tasks


async def test_the_most_urgent_card_stands_first_whenever_it_came() -> None:
    inbox, late = Inbox(), a_card(approval_id="apr_late")
    soon = replace(late, approval_id="apr_soon", expires_at=late.expires_at - timedelta(seconds=9))
    tasks = await waiting(inbox, late, soon)

    assert inbox.cards() == [soon, late]
    inbox.choose(late, Choice(approved=True))
    assert await tasks[0] == Choice(approved=True)
    assert inbox.cards() == [soon]
    tasks[1].cancel()


async def test_a_card_that_is_taken_away_is_gone_and_cannot_be_answered() -> None:
    inbox, card = Inbox(), a_card()
    (task,) = await waiting(inbox, card)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    inbox.choose(card, Choice(approved=True))

    assert inbox.cards() == []


async def test_what_is_told_to_client_and_screen_is_said_once() -> None:
    inbox, said = Inbox(), list[str]()
    inbox.on_word = said.append

    inbox.tell("Session s is not trusted.")
    Aside(inbox).tell("Session s is not trusted.")

    assert said == ["Session s is not trusted."]
    assert await Aside(inbox).ask(a_card()) is None


async def test_a_key_of_before_is_for_nothing_and_the_next_one_counts() -> None:
    attention = Attention(Patience(deaf_seconds=0.0, quiet_seconds=0.01))
    waiting = asyncio.create_task(attention.next_key())
    await asyncio.sleep(0)

    attention.begin_anew()
    attention.press("a", asyncio.get_running_loop().time())

    assert await waiting == "a"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("expired", "Expired without an answer; the call was refused."),
        ("withdrawn", "Withdrawn before it was decided."),
        ("approved", "a\\x1bda approved it, from console."),
    ],
)
def test_how_a_question_ended_is_told_in_a_sentence(status: str, words: str) -> None:
    answer = {"decided_by": "a\x1bda", "channel": "console", "decided_at": None, "reason": None}
    assert answer_in_words({"status": status, **answer}) == words


def test_what_else_there_is_to_know_of_a_call_is_told() -> None:
    call = {
        "description": None,
        "tool_name": "read_file",
        "tool_params": {"path": "a"},
        "agent_id": "agt",
        "agent_name": "Claude",
        "session_id": "s",
        "approved_by": "grt_1",
        "scope": "class",
        "execution_time_ms": 1500,
        "error": "no",
    }
    assert call_facts(call) == [
        "read_file path=a",
        "read_file · asked by Claude in session s",
        "approved by grt_1, class",
        "took 1.5 s",
        "no",
    ]

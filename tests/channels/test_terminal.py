"""A card on a terminal is decided on purpose: by keys pressed after it was seen, or not at all."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, redirect_stdout, suppress
from io import StringIO
from typing import Any

import pytest
import uvloop
from rich.console import Console

from handrail.channels.terminal import TerminalChannel, has_terminal
from handrail.channels.terminal_card import SHOWN_LINES
from handrail.core.card import Card, Choice, Offer
from handrail.core.grant import Scope
from tests.channels.conftest import Screen, a_live_card
from tests.client.conftest import until

DEAF_SECONDS = 0.05
# Less than lies between two calls of `Sitting.press`.
QUIET_SECONDS = 0.03

APPROVED = Choice(approved=True)
HIGH: dict[str, Any] = {"risk_level": "HIGH", "needs_second_step": True}
CRITICAL: dict[str, Any] = {
    "risk_level": "CRITICAL",
    "needs_second_step": True,
    "offers": (Offer(Scope.ONCE, "this call, once"),),
}


class Sitting:
    """Somebody at a terminal who is being asked about one card."""

    def __init__(self, screen: Screen, asking: asyncio.Task[Choice | None]):
        self._screen = screen
        self.asking = asking

    async def press(self, keys: str) -> None:
        screen, read_before = self._screen, self._screen.times_read
        screen.type(keys)
        # The kernel delivers in its own time: nothing unread may mean that nothing arrived yet.
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await until(lambda: screen.unread > 0 or screen.times_read > read_before)
        await until(lambda: screen.unread == 0 or self.asking.done())
        # Each key gets the chance to be read by itself, and not as the rest of a sequence.
        await asyncio.sleep(0.07)

    async def choice(self) -> Choice | None:
        async with asyncio.timeout(5):
            return await self.asking

    async def nothing_is_decided(self, leave: str = "l") -> None:
        """It goes on, and can still be left to others."""
        await asyncio.sleep(0.1)
        assert not self.asking.done()
        await self.press("\x1b")
        # On a busy machine the first may be taken for the rest of a sequence.
        while not self.asking.done():
            await self.press(leave)
        assert await self.choice() is None


@asynccontextmanager
async def asked(
    screen: Screen, card: Card, deaf_seconds: float = DEAF_SECONDS
) -> AsyncGenerator[Sitting]:
    """A card that is on the screen, and has been for long enough."""
    channel = TerminalChannel(
        screen.console, deaf_seconds=deaf_seconds, quiet_seconds=QUIET_SECONDS
    )
    asking = asyncio.create_task(channel.ask(card))
    try:
        await screen.sees("decide (")
        await screen.is_heard()
        yield Sitting(screen, asking)
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


# Saying yes


async def test_one_key_approves_what_is_not_risky(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("a")

        assert await sitting.choice() == APPROVED


async def test_the_card_is_shown_with_what_can_be_done(screen: Screen) -> None:
    async with asked(screen, a_live_card()):
        shown = screen.shown

    assert "MEDIUM  Write 1 line to notes.md" in shown
    assert "the agent claims: to remember" in shown
    assert "-old" in shown
    assert "a approve this call, once" in shown
    assert "c approve writes to *.md, for the rest of this session" in shown
    assert "s approve every call in this session" in shown
    assert "r refuse, with a reason" in shown
    assert "l leave it open for another screen" in shown
    assert "expires in" in shown


async def test_a_class_is_approved_by_a_second_key(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("c")
        await screen.sees("From now on this runs without asking you: writes to *.md")
        assert not sitting.asking.done()
        await sitting.press("y")

        assert await sitting.choice() == Choice(approved=True, scope=Scope.CLASS)


async def test_a_class_is_always_approved_by_a_second_key_and_it_says_how_that_ends(
    screen: Screen,
) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("p")
        await screen.sees("always in this project")
        await screen.sees("It ends after 30 days, or when you revoke it.")
        assert not sitting.asking.done()
        await sitting.press("y")

        assert await sitting.choice() == Choice(approved=True, scope=Scope.PROJECT)


@pytest.mark.parametrize("key", ["c", "a", "\r", "\x1b"])
async def test_no_other_key_approves_a_class(screen: Screen, key: str) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("c")
        await screen.sees("y approves")
        await sitting.press(key)

        await sitting.nothing_is_decided()


@pytest.mark.parametrize("keys", ["A", "y", "Y", "\r", " ", "\t", "\x04", "1", "é", "\x1b[A"])
async def test_other_keys_decide_nothing(screen: Screen, keys: str) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press(keys)

        await sitting.nothing_is_decided()


@pytest.mark.parametrize("fields", [HIGH, CRITICAL], ids=["high", "critical"])
async def test_what_is_risky_is_approved_by_a_word_that_is_typed(
    screen: Screen, fields: dict[str, Any]
) -> None:
    async with asked(screen, a_live_card(**fields)) as sitting:
        await sitting.press("a")
        await screen.sees("type 'approve' and Enter")
        for key in "approve":
            await sitting.press(key)
        assert not sitting.asking.done()
        await sitting.press("\r")

        assert await sitting.choice() == APPROVED


@pytest.mark.parametrize("fields", [HIGH, CRITICAL], ids=["high", "critical"])
@pytest.mark.parametrize(
    "typed", ["", "a", "y", "yes", "aaaaaaa", "aprove", "approved", "approve it", "no approve"]
)
async def test_no_other_text_approves_what_is_risky(
    screen: Screen, fields: dict[str, Any], typed: str
) -> None:
    async with asked(screen, a_live_card(**fields)) as sitting:
        await sitting.press("a")
        await screen.sees("type 'approve' and Enter")
        await sitting.press(f"{typed}\r")
        await screen.sees("that was not 'approve'")

        await sitting.nothing_is_decided()


async def test_after_a_wrong_word_the_right_one_can_be_typed(screen: Screen) -> None:
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        await sitting.press("a")
        await sitting.press("aprove\r")
        await screen.sees("that was not 'approve'")
        await sitting.press("approve\r")

        assert await sitting.choice() == APPROVED
        await screen.sees("approved: this call, once")


@pytest.mark.parametrize("keys", ["a", "aa", "a\r", "a\r\r", "aaaa\raaaa\r"])
async def test_leaning_on_a_key_approves_nothing_that_is_risky(screen: Screen, keys: str) -> None:
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        for key in keys:
            await sitting.press(key)

        await sitting.nothing_is_decided()


async def test_a_class_of_risky_calls_needs_the_word_too(screen: Screen) -> None:
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        await sitting.press("c")
        await screen.sees("type 'approve' and Enter")
        await sitting.press("approve\r")

        assert await sitting.choice() == Choice(approved=True, scope=Scope.CLASS)


async def test_a_whole_session_is_approved_only_with_a_warning_and_the_word(
    screen: Screen,
) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("s")
        await screen.sees("run without asking")
        await screen.sees("type 'approve' and Enter")
        assert not sitting.asking.done()
        await sitting.press("approve\r")

        assert await sitting.choice() == Choice(approved=True, scope=Scope.SESSION)


@pytest.mark.parametrize("key", ["c", "p", "s"])
async def test_what_is_not_offered_cannot_be_chosen(screen: Screen, key: str) -> None:
    async with asked(screen, a_live_card(**CRITICAL)) as sitting:
        await sitting.press(f"{key}")
        await sitting.press("approve\r")
        # Of these only `a` means something here, and it wants the word behind it.
        await sitting.press("\x1b")

        await sitting.nothing_is_decided()
    assert f"  {key} approve" not in screen.shown


async def test_escape_goes_back_and_another_choice_can_be_made(screen: Screen) -> None:
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        await sitting.press("a")
        await screen.sees("type 'approve' and Enter")
        await sitting.press("appro")
        await sitting.press("\x1b")
        await screen.sees("decide (")
        # What was typed is forgotten.
        await sitting.press("a")
        await screen.sees("type 'approve' and Enter")
        await sitting.press("ve\r")
        await screen.sees("that was not 'approve'")
        assert not sitting.asking.done()
        await sitting.press("\x1b")
        await screen.sees("decide (")
        await sitting.press("r")
        await screen.sees("reason?")
        await sitting.press("\r")

        assert await sitting.choice() == Choice(approved=False)


async def test_a_slip_can_be_mended(screen: Screen) -> None:
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        await sitting.press("a")
        await screen.sees("type 'approve' and Enter")
        await sitting.press("aprove")
        await sitting.press("\x7f" * 4)
        await sitting.press("prove\r")

        assert await sitting.choice() == APPROVED


# Saying no, or nothing


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        pytest.param("not now\r", "not now", id="with-a-reason"),
        pytest.param("\r", None, id="without"),
        pytest.param("   \r", None, id="blank"),
        pytest.param(" use docs/ \r", "use docs/", id="trimmed"),
        pytest.param("Grüße, 東京 😀\r", "Grüße, 東京 😀", id="any-script"),
        pytest.param("noo\x7f\x7f\x7f\x7f\x7fyes\r", "yes", id="mended"),
        pytest.param("acsvlr\r", "acsvlr", id="letters-are-letters"),
    ],
)
async def test_a_no_carries_its_reason(screen: Screen, typed: str, reason: str | None) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("r")
        await screen.sees("reason?")
        await sitting.press(typed)

        assert await sitting.choice() == Choice(approved=False, reason=reason)


async def test_a_no_can_be_taken_back_before_it_is_sent(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("r")
        await screen.sees("reason?")
        await sitting.press("nev")
        await sitting.press("\x1b")
        await screen.sees("decide (")

        await sitting.nothing_is_decided()


async def test_a_reason_has_an_end(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("r")
        await screen.sees("reason?")
        for _ in range(20):
            await sitting.press("x" * 100)
        await sitting.press("\r")
        choice = await sitting.choice()

    assert choice == Choice(approved=False, reason="x" * 500)


async def test_a_card_can_be_left_to_another_screen(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("l")

        assert await sitting.choice() is None


@pytest.mark.parametrize("end", ["\n", ""])
async def test_the_whole_change_can_be_viewed(screen: Screen, end: str) -> None:
    count = SHOWN_LINES + 1
    evidence = "\n".join(f"+line {number};" for number in range(count)) + end
    async with asked(screen, a_live_card(evidence=evidence)) as sitting:
        before = screen.shown
        await sitting.press("v")
        await screen.sees("+line 30;")
        assert not sitting.asking.done()
        await sitting.press("a")
        choice = await sitting.choice()

    assert "+line 30;" not in before
    assert f"+line {count - 1};" in before
    assert "… 1 line not shown here" in before
    assert "v view all of it" in before
    assert choice == APPROVED


async def test_a_change_of_thousands_of_lines_can_be_viewed(screen: Screen) -> None:
    evidence = "".join(f"+line {number};\n" for number in range(5_000))
    async with asked(screen, a_live_card(evidence=evidence)) as sitting:
        assert "… 4,960 lines not shown here" in screen.shown
        assert "+line 4999;" in screen.shown
        await sitting.press("v")
        await screen.sees("+line 4000;")
        await screen.sees("decide (")

        await sitting.nothing_is_decided()


async def test_a_change_that_is_seen_whole_offers_no_view(screen: Screen) -> None:
    async with asked(screen, a_live_card()):
        assert "view all of it" not in screen.shown


@pytest.mark.parametrize("evidence", ["+" + "x" * 600 + "evil()\n", "+line;\n" * 41])
async def test_what_was_not_seen_whole_is_not_approved_by_one_key(
    screen: Screen, evidence: str
) -> None:
    async with asked(screen, a_live_card(evidence=evidence)) as sitting:
        await sitting.press("a")
        await screen.sees("You have not seen all of it")
        await sitting.nothing_is_decided()


# What must not decide


@pytest.mark.parametrize("ahead", ["a", "a\n", "a\nc\na\n", "aaaaaaaa", "s\napprove\n"])
@pytest.mark.parametrize("fields", [{}, HIGH], ids=["medium", "high"])
async def test_keys_typed_before_the_card_never_decide(
    screen: Screen, ahead: str, fields: dict[str, Any]
) -> None:
    screen.type(ahead)
    await asyncio.sleep(0.05)

    async with asked(screen, a_live_card(**fields), deaf_seconds=0) as sitting:
        await sitting.nothing_is_decided()


async def test_keys_typed_in_the_first_moment_never_decide(
    screen: Screen, typed_at_the_last_moment: Callable[..., list[str]]
) -> None:
    typed_at_the_last_moment("aaa")

    async with asked(screen, a_live_card()) as sitting:
        await sitting.nothing_is_decided()


async def test_the_end_of_a_line_that_began_before_the_card_was_seen_never_decides(
    screen: Screen, typed_at_the_last_moment: Callable[..., list[str]]
) -> None:
    typed = typed_at_the_last_moment("banan", "a")

    async with asked(screen, a_live_card()) as sitting:
        assert typed == ["banan", "a"]
        await sitting.nothing_is_decided()


@pytest.mark.parametrize("line", ["a\n", "aa", "ac", "xa", "git add .\n", "cy", "sapprove\n", "rl"])
@pytest.mark.parametrize("fields", [{}, HIGH], ids=["medium", "high"])
async def test_a_line_that_is_pasted_decides_nothing(
    screen: Screen, line: str, fields: dict[str, Any]
) -> None:
    async with asked(screen, a_live_card(**fields)) as sitting:
        await sitting.press(line)
        await screen.sees("Several keys at once are ignored")

        await sitting.nothing_is_decided()


async def test_a_line_that_is_typed_decides_nothing_before_the_hand_rests(screen: Screen) -> None:
    channel = TerminalChannel(screen.console, DEAF_SECONDS, quiet_seconds=0.3)
    asking = asyncio.create_task(channel.ask(a_live_card()))
    await screen.sees("decide (")
    await screen.is_heard()
    for key in "xa ca":
        screen.type(key)
        await asyncio.sleep(0.05)
    await screen.sees("Several keys at once are ignored")
    assert not asking.done()
    screen.type("a")

    assert await Sitting(screen, asking).choice() == APPROVED


async def test_the_moments_are_long_enough_to_look_up_and_to_type(screen: Screen) -> None:
    assert 0.5 <= TerminalChannel(screen.console)._deaf_seconds <= 2
    assert 0.3 <= TerminalChannel(screen.console)._quiet_seconds <= 1


async def test_keys_meant_for_one_card_never_decide_the_next(
    screen: Screen, typed_at_the_last_moment: Callable[..., list[str]]
) -> None:
    typed_at_the_last_moment("a")
    channel = TerminalChannel(screen.console, DEAF_SECONDS, QUIET_SECONDS)
    first, second = [
        asyncio.create_task(channel.ask(a_live_card(f"apr_{n}", description=f"Do {n}.")))
        for n in range(2)
    ]
    await screen.sees("decide (")
    await screen.is_heard()
    assert "Do 1." not in screen.shown
    screen.type("a")
    assert await Sitting(screen, first).choice() == APPROVED
    await screen.sees("Do 1.")
    await screen.sees("decide (")
    await screen.is_heard()

    await Sitting(screen, second).nothing_is_decided()


async def test_cards_are_asked_one_after_another(screen: Screen) -> None:
    channel = TerminalChannel(screen.console, DEAF_SECONDS, QUIET_SECONDS)
    asking = [
        asyncio.create_task(channel.ask(a_live_card(f"apr_{n}", description=f"Do {n}.")))
        for n in range(3)
    ]

    for number, task in enumerate(asking):
        await screen.sees(f"Do {number}.")
        await screen.sees("decide (")
        assert f"Do {number + 1}." not in screen.shown
        await screen.is_heard()
        sitting = Sitting(screen, task)
        await sitting.press("a" if number != 1 else "l")
        assert await sitting.choice() == (APPROVED if number != 1 else None)


async def test_a_terminal_that_goes_away_decides_nothing(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        screen.hang_up()

        assert await sitting.choice() is None


@pytest.mark.parametrize(
    ("fields", "key", "prompt"),
    [
        pytest.param(HIGH, "a", "type 'approve'", id="typing-the-word"),
        pytest.param({}, "r", "reason?", id="typing-a-reason"),
    ],
)
async def test_a_terminal_that_goes_away_in_the_middle_of_a_line_decides_nothing(
    screen: Screen, fields: dict[str, Any], key: str, prompt: str
) -> None:
    async with asked(screen, a_live_card(**fields)) as sitting:
        await sitting.press(key)
        await screen.sees(prompt)
        await sitting.press("appro")
        screen.hang_up()

        assert await sitting.choice() is None


@pytest.mark.parametrize(
    ("key", "prompt"), [("", "decide ("), ("a", "type 'approve'"), ("r", "reason?")]
)
async def test_input_that_ends_while_the_screen_stays_decides_nothing_and_holds_nobody_up(
    screen: Screen, key: str, prompt: str
) -> None:
    shown = StringIO()
    channel = TerminalChannel(Console(file=shown), 0, QUIET_SECONDS)
    asking = asyncio.create_task(channel.ask(a_live_card(**HIGH)))
    await until(lambda: "decide (" in shown.getvalue())
    await screen.is_heard()
    if key:
        screen.type(key)
        await until(lambda: prompt in shown.getvalue())
    screen.hang_up()

    assert await Sitting(screen, asking).choice() is None


async def test_a_terminal_that_is_gone_already_is_asked_nothing(screen: Screen) -> None:
    channel = TerminalChannel(screen.console, deaf_seconds=0)
    screen.hang_up()

    assert await channel.ask(a_live_card()) is None


# Time


async def test_when_the_time_is_up_nothing_is_decided(screen: Screen) -> None:
    async with asked(screen, a_live_card(seconds=2.5)) as sitting:
        assert await sitting.choice() is None
        await screen.sees("expired without an answer: the call is refused")


@pytest.mark.parametrize("key", ["a", "r"])
async def test_when_the_time_is_up_in_the_middle_of_a_line_nothing_is_decided(
    screen: Screen, key: str
) -> None:
    async with asked(screen, a_live_card(seconds=2.5, **HIGH)) as sitting:
        await sitting.press(key)
        await sitting.press("appro")

        assert await sitting.choice() is None


async def test_a_card_whose_time_has_passed_is_not_even_shown(screen: Screen) -> None:
    channel = TerminalChannel(screen.console, deaf_seconds=0)

    assert await channel.ask(a_live_card(seconds=-1)) is None
    await asyncio.sleep(0.05)
    assert screen.shown == ""


async def test_the_time_that_is_left_is_counted_down(screen: Screen) -> None:
    async with asked(screen, a_live_card(seconds=300.9)) as sitting:
        await screen.sees("(expires in 4:59")

        await sitting.nothing_is_decided()


# The terminal is left as it was


@pytest.mark.parametrize("keys", ["a", "l", "r\r", "rno\r"])
async def test_the_terminal_is_left_as_it_was(screen: Screen, keys: str) -> None:
    before = screen.settings
    async with asked(screen, a_live_card()) as sitting:
        assert screen.settings != before
        for key in keys:
            await sitting.press(key)
        await sitting.choice()

    assert screen.settings == before


@pytest.mark.parametrize("keys", ["", "a", "r", "ahalf"])
async def test_a_card_that_is_taken_away_leaves_the_terminal_as_it_was(
    screen: Screen, keys: str
) -> None:
    before = screen.settings
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        for key in keys:
            await sitting.press(key)
        sitting.asking.cancel()
        await asyncio.gather(sitting.asking, return_exceptions=True)

    assert sitting.asking.cancelled()
    assert screen.settings == before


async def test_after_a_card_was_taken_away_the_next_is_asked(screen: Screen) -> None:
    channel = TerminalChannel(screen.console, DEAF_SECONDS, QUIET_SECONDS)
    first, waiting, last = [
        asyncio.create_task(channel.ask(a_live_card(f"apr_{n}", description=f"Do {n}.")))
        for n in range(3)
    ]
    await screen.sees("Do 0.")
    waiting.cancel()
    first.cancel()
    await asyncio.gather(first, waiting, return_exceptions=True)
    await screen.sees("Do 2.")
    await screen.sees("decide (")
    await screen.is_heard()
    screen.type("a")

    assert await Sitting(screen, last).choice() == APPROVED
    assert "Do 1." not in screen.shown


# What is shown


HOSTILE = "\x1b[2J\x1b[8m\x1b]0;t\x07\u202e\u200b\x9b\r\b[red]x[/]"
ESCAPED = r"\x1b[2J\x1b[8m\x1b]0;t\x07\u{202e}\u{200b}\x9b\x0d\x08[red]x[/]"


def everywhere(words: str) -> dict[str, Any]:
    """A card that says the words in every place where somebody else's words stand."""
    return {
        "description": words,
        "reasons": (words,),
        "reasoning": words,
        "notes": (words,),
        "evidence": f"+{words}\n",
        "agent_id": words,
        "session_id": words,
        "tool_name": words,
        "offers": (
            Offer(Scope.ONCE, words),
            Offer(Scope.SESSION, "everything", words),
        ),
    }


async def test_nothing_in_a_card_reaches_the_terminal_unescaped(screen: Screen) -> None:
    async with asked(screen, a_live_card(**everywhere(HOSTILE))) as sitting:
        await sitting.press("s")
        await screen.sees("type 'approve'")

    for raw in ("\x1b[2J", "\x1b[8m", "\x1b]0;", "\x07", "\u202e", "\u200b", "\x9b", "\x08"):
        assert raw.encode() not in screen.raw
    # Once for each of the eight places, and for the warning; agent and session share a line.
    assert screen.shown_in_one_line.count(ESCAPED) == 9


async def test_what_is_typed_as_a_reason_cannot_upset_the_terminal(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("r")
        await screen.sees("reason?")
        await sitting.press("a\x07b\u202ec")
        await screen.sees(r"a\x07b\u{202e}c")

    assert b"\x07" not in screen.raw


async def test_what_is_told_is_made_visible(screen: Screen) -> None:
    TerminalChannel(screen.console).tell(HOSTILE)
    await screen.sees("x[/]")

    assert ESCAPED in screen.shown_in_one_line
    assert b"\x1b[2J" not in screen.raw


async def test_a_very_long_line_is_cut_and_counted(screen: Screen) -> None:
    async with asked(screen, a_live_card(evidence="+" + "x" * 100_000)):
        pass

    assert "… [99,501 more characters]" in screen.shown_in_one_line
    assert screen.shown.count("x") < 1_000


# A card that goes while a line is typed for it


LET_GO = "your line was not sent"
UNFINISHED = [
    pytest.param({}, "r", "no, rather use ", id="a-reason"),
    pytest.param(HIGH, "a", "appr", id="the-word"),
    pytest.param({}, "r", "", id="nothing-yet"),
]


class Visit:
    """Somebody in the middle of a line for a card that is then decided elsewhere."""

    def __init__(self, screen: Screen):
        self._screen = screen
        self.channel = TerminalChannel(screen.console, DEAF_SECONDS, QUIET_SECONDS)
        self._asking: list[asyncio.Task[Choice | None]] = []

    def ask(self, number: int, **fields: Any) -> Sitting:
        card = a_live_card(f"apr_{number}", description=f"Do {number}.", **fields)
        self._asking.append(asyncio.create_task(self.channel.ask(card)))
        return Sitting(self._screen, self._asking[-1])

    async def begin_line(self, key: str, typed: str, **fields: Any) -> Sitting:
        sitting = self.ask(0, **fields)
        await self._screen.sees("decide (")
        await self._screen.is_heard()
        await sitting.press(key)
        await self._screen.sees("Esc goes back")
        if typed:
            await sitting.press(typed)
            await self._screen.sees(typed)
        return sitting

    async def take_away(self, sitting: Sitting) -> None:
        sitting.asking.cancel()
        await asyncio.gather(sitting.asking, return_exceptions=True)
        assert sitting.asking.cancelled()

    async def leave(self) -> None:
        for asking in self._asking:
            asking.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)


@pytest.fixture
async def visit(screen: Screen) -> AsyncGenerator[Visit]:
    made = Visit(screen)
    yield made
    await made.leave()


@pytest.mark.parametrize("end", ["\r", "\x1b"], ids=["enter", "escape"])
@pytest.mark.parametrize(("fields", "key", "typed"), UNFINISHED)
async def test_a_line_whose_card_goes_is_typed_to_its_end_before_the_next_card_comes(
    screen: Screen, visit: Visit, fields: dict[str, Any], key: str, typed: str, end: str
) -> None:
    first = await visit.begin_line(key, typed, **fields)
    second = visit.ask(1)

    await visit.take_away(first)
    await screen.sees(LET_GO)
    await screen.is_heard()
    await second.press("pand")
    await screen.sees(f"not sent (Enter or Esc clears it) {typed}pand")
    await second.press("a")
    assert "Do 1." not in screen.shown
    await second.press(end)

    await screen.sees("Do 1.")
    await screen.sees("decide (")
    await screen.is_heard()
    await second.nothing_is_decided()


async def test_a_line_whose_card_goes_may_be_ended_while_nobody_asks(
    screen: Screen, visit: Visit
) -> None:
    before = screen.settings
    await visit.take_away(await visit.begin_line("r", "no, rather use "))
    await screen.sees(LET_GO)
    assert screen.settings == before
    screen.type("panda\n")
    await screen.sees("use panda")
    second = visit.ask(1)

    await screen.is_heard()
    await screen.sees("Do 1.")
    await screen.sees("decide (")
    await screen.is_heard()
    await second.nothing_is_decided()


async def test_a_line_that_was_not_ended_keeps_every_later_card_waiting_and_only_so_long(
    screen: Screen, visit: Visit
) -> None:
    await visit.take_away(await visit.begin_line("r", "no, rather use "))
    screen.type("pan")
    second, late = visit.ask(1), visit.ask(2, seconds=2.5)
    await screen.is_heard()
    await screen.sees("use pan")
    await visit.take_away(second)
    await screen.is_heard()

    assert await late.choice() is None
    third = visit.ask(3)
    await screen.is_heard()
    await third.press("da\r")
    await screen.sees("Do 3.")
    await screen.is_heard()
    await third.nothing_is_decided()
    assert "Do 1." not in screen.shown
    assert "Do 2." not in screen.shown


async def test_a_line_stays_as_well_when_the_time_of_its_card_is_up(
    screen: Screen, visit: Visit
) -> None:
    first = await visit.begin_line("r", "no, rather use ", seconds=3.5)
    second = visit.ask(1)

    assert await first.choice() is None
    await screen.sees("expired without an answer")
    await screen.sees(LET_GO)
    await screen.is_heard()
    await second.press("panda")
    assert "Do 1." not in screen.shown
    await second.press("\r")

    await screen.sees("Do 1.")


async def test_what_comes_in_one_piece_with_escape_decides_nothing(screen: Screen) -> None:
    async with asked(screen, a_live_card()) as sitting:
        await sitting.press("r")
        await screen.sees("reason?")
        await sitting.press("no\x1bxa")
        await screen.sees("decide (")

        await sitting.nothing_is_decided()


# Whether anybody is there


def test_somebody_sits_at_a_terminal(screen: Screen) -> None:
    with redirect_stdout(screen.stdout):
        assert has_terminal()


async def test_without_being_told_the_channel_finds_that_terminal(screen: Screen) -> None:
    with redirect_stdout(screen.stdout):
        TerminalChannel().tell("Hello [bold]there[/]")

    await screen.sees("Hello [bold]there[/]")


def test_without_a_terminal_to_type_at_nobody_does(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO())
    with redirect_stdout(screen.stdout):
        assert not has_terminal()


def test_without_a_terminal_to_show_at_nobody_does(screen: Screen) -> None:
    with redirect_stdout(StringIO()):
        assert not has_terminal()


def test_a_pipe_is_no_terminal(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe, os.fdopen(writing, "w"), redirect_stdout(screen.stdout):
        monkeypatch.setattr(sys, "stdin", pipe)

        assert not has_terminal()


@pytest.fixture
def dumb(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "dumb")
    with redirect_stdout(screen.stdout):
        assert has_terminal()
    return screen


async def test_a_dumb_terminal_is_asked_line_by_line(dumb: Screen) -> None:
    async with asked(dumb, a_live_card(**HIGH)) as sitting:
        await sitting.press("ls -la\n")
        await dumb.sees("Several keys at once are ignored")
        await sitting.press("a\n")
        await dumb.sees("type 'approve'")
        await sitting.press("approve\n")

        assert await sitting.choice() == APPROVED
    assert "\x1b" not in dumb.shown


@pytest.mark.parametrize("fields", [{}, HIGH], ids=["medium", "high"])
@pytest.mark.parametrize(
    "lines", ["so\na\napprove\nthanks\n", "a\napprove\n", "a\nthanks\n", "a\n\n", "\na\n"]
)
async def test_several_lines_at_once_decide_nothing_on_a_dumb_terminal(
    dumb: Screen, lines: str, fields: dict[str, Any]
) -> None:
    async with asked(dumb, a_live_card(**fields)) as sitting:
        await sitting.press(lines)
        await dumb.sees("Several keys at once are ignored")
        assert "type 'approve'" not in dumb.shown

        await sitting.nothing_is_decided("l\n")


async def test_the_end_of_a_line_decides_nothing_on_a_dumb_terminal_either(
    dumb: Screen, typed_at_the_last_moment: Callable[..., list[str]]
) -> None:
    typed = typed_at_the_last_moment("I have ", "a\n")

    async with asked(dumb, a_live_card()) as sitting:
        assert typed == ["I have ", "a\n"]
        await sitting.nothing_is_decided("l\n")


@pytest.mark.parametrize("kind", ["xterm", "dumb"])
async def test_the_word_is_no_word_with_other_lines_around_it(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("TERM", kind)
    async with asked(screen, a_live_card(**HIGH)) as sitting:
        await sitting.press("a" if kind == "xterm" else "a\n")
        await screen.sees("type 'approve'")
        for lines in ("approve\nthanks\n", "so\napprove\n"):
            await sitting.press(lines)
            await screen.sees("Several lines at once are ignored")
            await screen.sees("type 'approve'")
            assert not sitting.asking.done()
        await sitting.press("approve\n")

        assert await sitting.choice() == APPROVED


async def test_a_line_that_was_begun_on_a_dumb_terminal_is_for_no_other_card(
    dumb: Screen, visit: Visit
) -> None:
    first, second = visit.ask(0), visit.ask(1)
    await dumb.sees("decide (")
    await dumb.is_heard()
    await first.press("I have ")
    await visit.take_away(first)
    await dumb.is_heard()
    await second.press("a\n")

    await dumb.sees("Do 1.")
    await dumb.is_heard()
    await second.nothing_is_decided("l\n")


async def test_a_dumb_terminal_sends_the_reason_as_a_line(dumb: Screen) -> None:
    async with asked(dumb, a_live_card()) as sitting:
        await sitting.press("r\n")
        await dumb.sees("reason?")
        await sitting.press("not today\n")

        assert await sitting.choice() == Choice(approved=False, reason="not today")


def test_where_there_is_no_input_at_all_nobody_sits(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a service, or under pythonw."""
    monkeypatch.setattr(sys, "stdin", None)
    with redirect_stdout(screen.stdout):
        assert not has_terminal()


# On the loop that clients run on


def on_a_quick_loop(screen: Screen, act: Callable[[], None]) -> Choice | None:
    async def sit() -> Choice | None:
        async with asked(screen, a_live_card()) as sitting:
            act()
            return await sitting.choice()

    return uvloop.run(sit())


def test_keys_are_heard_on_the_loop_that_clients_run_on(screen: Screen) -> None:
    before = screen.settings

    assert on_a_quick_loop(screen, lambda: screen.type("a")) == APPROVED
    assert screen.settings == before


def test_a_terminal_that_goes_away_is_noticed_there_too(screen: Screen) -> None:
    assert on_a_quick_loop(screen, screen.hang_up) is None

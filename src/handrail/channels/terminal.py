"""TerminalChannel: the approval card on a terminal, decided with single keys.

A card counts as seen only when it has been on the screen for a moment: keys typed ahead never
decide. Nor does a line that was pasted, or typed for something else: only a key decides that stands
alone, between two silences. What is risky, wide or not seen whole needs a second, different step.
A dumb terminal sends whole lines and draws nothing over: there a key is a line of one letter, which
stands alone as well. A line that is being typed when its card goes is typed to its end for nothing,
before another card comes.
Without a terminal, and from the background of one, nobody is asked.
"""

import asyncio
import io
import os
import sys
import termios
from dataclasses import replace
from datetime import UTC, datetime

import structlog
from rich.console import Console
from rich.text import Text

from handrail.channels.keyboard import BACKSPACE, END, ENTER, ESCAPE, SEVERAL, Keyboard
from handrail.channels.terminal_card import KEYS, LASTING_NO, SHOWN_LINES, CardText
from handrail.core.card import Card, Choice, Offer
from handrail.core.grant import LASTING_WORDS, Scope
from handrail.core.visible import visible

DEAF_SECONDS = 0.7
# Who writes a line leaves less time between two keys than this.
QUIET_SECONDS = 0.5
YES = "y"
WORD = "approve"
MOST_REASON_CHARS = 500
_CLEAR = "\r\x1b[2K"
# What stands around a diff on the card, and how little of a diff is worth a look.
_LINES_AROUND = 14
_FEWEST_LINES = 5
_LET_GO = "This call no longer needs an answer; your line was not sent."
_FOR_NOTHING = "not sent (Enter or Esc clears it) "
# What was typed while nobody listened is heard at once.
_AT_ONCE_SECONDS = 0.05

log = structlog.get_logger(__name__)


class TerminalChannel:
    name = "terminal"

    def __init__(
        self,
        console: Console | None = None,
        deaf_seconds: float = DEAF_SECONDS,
        quiet_seconds: float = QUIET_SECONDS,
        *,
        lasting_no: str = "",
    ):
        """`lasting_no` is a refusal that a single key gives; its words are the reason."""
        self._lasting_no = lasting_no
        self._console = console or Console(highlight=False, emoji=False)
        self._screen = _Screen(self._console)
        _take_any_letter(self._console.file)
        self._fd = sys.stdin.fileno()
        self._deaf_seconds = deaf_seconds
        self._quiet_seconds = quiet_seconds
        self._turn = asyncio.Lock()
        # What was being typed when its card went, until it is ended.
        self._half_typed: str | None = None

    async def ask(self, card: Card) -> Choice | None:
        # One card at a time; the others wait their turn.
        async with self._turn:
            if _seconds_left(card) <= 0 or not _is_in_front(self._fd):
                return None
            try:
                await self._let_finish(card)
                return await self._show(card) if _seconds_left(card) > 0 else None
            except (OSError, termios.error) as error:
                # The window is gone; other screens may answer.
                log.info("terminal.gone", error=str(error))
                return None

    def tell(self, words: str) -> None:
        text = self._screen.drawn(Text(visible(words), style="dim"))
        clear = self._screen.clear
        asyncio.get_running_loop().run_in_executor(None, self._screen.put, clear + text)

    async def _show(self, card: Card) -> Choice | None:
        height = max(_FEWEST_LINES, self._console.height - _LINES_AROUND)
        text = CardText(
            card,
            max(20, self._console.width - 1),
            min(SHOWN_LINES, height),
            lasting_no=self._lasting_no,
        )
        await self._screen.show(*text.lines())
        with Keyboard(self._fd, self._deaf_seconds, self._quiet_seconds) as keyboard:
            dialog = _Dialog(card, text, keyboard, self._screen, self._quiet_seconds)
            try:
                choice = await dialog.run()
            except asyncio.CancelledError:
                self._let_go(dialog.half_typed)
                raise
        if dialog.half_typed is None:
            await self._screen.show(_in_words(choice, card))
        else:
            self._let_go(dialog.half_typed)
        return choice

    def _let_go(self, half_typed: str | None) -> None:
        """A card goes; the line that was being typed for it stays."""
        self._half_typed = half_typed
        if half_typed is not None:
            words = self._screen.drawn(Text(f"  {_LET_GO}", style="yellow"))
            line = self._screen.prompted(_FOR_NOTHING + visible(half_typed))
            put, clear = self._screen.put, self._screen.clear
            asyncio.get_running_loop().run_in_executor(None, put, clear + words + line)

    async def _let_finish(self, card: Card) -> None:
        """Wait for the end of a line that is typed for nothing, while there is time for the card.

        It may have come while no card was shown, and nobody listened.
        """
        if self._half_typed is None:
            return
        is_shown = False
        with Keyboard(self._fd, from_before=True) as keyboard:
            while _seconds_left(card) > 0:
                key = await keyboard.key(1.0 if is_shown else _AT_ONCE_SECONDS)
                if key in (END, ESCAPE, *ENTER):
                    self._half_typed = None
                    return
                if key is not None:
                    self._half_typed = _edited(self._half_typed, key)
                if not self._screen.is_dumb if is_shown else key is None:
                    is_shown = True
                    await self._screen.prompt(_FOR_NOTHING + visible(self._half_typed))


class _Screen:
    """Writes in a thread: a terminal that was told to wait must not hold up the whole machine.

    Nothing counts as shown before it is written, so that nobody decides on what they cannot see.
    """

    def __init__(self, console: Console):
        self.console = console
        self.is_dumb = console.is_dumb_terminal
        self.clear = "" if self.is_dumb else _CLEAR

    async def show(self, *lines: Text) -> None:
        await asyncio.to_thread(self.put, self.clear + self.drawn(*lines))

    async def prompt(self, text: str) -> None:
        """Write over the present line; where that cannot be, the next."""
        await asyncio.to_thread(self.put, self.prompted(text))

    def prompted(self, text: str) -> str:
        """A line to be typed on, of which the end is seen."""
        width = max(20, self.console.width - 1)
        text = text if len(text) <= width else "…" + text[1 - width :]
        return f"{text}\n" if self.is_dumb else _CLEAR + text

    def drawn(self, *lines: Text) -> str:
        with self.console.capture() as capture:
            for line in lines:
                self.console.print(line)
        return capture.get()

    def put(self, text: str) -> None:
        self.console.file.write(text)
        self.console.file.flush()


def _in_words(choice: Choice | None, card: Card) -> Text:
    if choice is None:
        return Text("  left open for another screen", style="dim")
    if not choice.approved:
        return Text("  refused", style="red")
    words = next(offer.words for offer in card.offers if offer.scope is choice.scope)
    taken_back = "" if choice.scope is Scope.ONCE else "; `handrail grants revoke` revokes it"
    return Text(f"  approved: {visible(words)}{taken_back}", style="green")


def has_terminal() -> bool:
    """Whether somebody sits there: both to be shown a card and to press a key."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _is_in_front(fd: int) -> bool:
    """Whether the terminal is ours to use; who touches it from the background is stopped."""
    try:
        return os.tcgetpgrp(fd) in (os.getpgrp(), 0)
    except OSError:
        # Not our controlling terminal: then nobody stops us either.
        return True


def _take_any_letter(file: object) -> None:
    """A letter that this terminal does not have must not end the program."""
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(errors="backslashreplace")


class _Dialog:
    """One card being decided."""

    def __init__(
        self,
        card: Card,
        text: CardText,
        keyboard: Keyboard,
        screen: _Screen,
        quiet_seconds: float,
    ):
        self._quiet_seconds = quiet_seconds
        self._card = card
        self._text = text
        self._keyboard = keyboard
        self._screen = screen
        self._offers = {KEYS[offer.scope]: offer for offer in card.offers}
        self._unseen = text.is_cut
        self._typed = ""
        self._is_in_line = False

    @property
    def half_typed(self) -> str | None:
        """The line that is being typed; None where none is."""
        return self._typed if self._is_in_line or self._typed else None

    async def run(self) -> Choice | None:
        await self._screen.show(self._text.menu(unseen=self._unseen))
        while True:
            key = await self._next_key()
            if key is None or key == END:
                return None
            if key in self._offers and await self._means_it(self._offers[key]):
                return Choice(approved=True, scope=self._offers[key].scope)
            if key == "r":
                reason = await self._line("reason? (Enter refuses, Esc goes back) ")
                if reason is not None:
                    return Choice(approved=False, reason=reason.strip() or None)
            if key == LASTING_NO and self._text.lasting_no:
                return Choice(approved=False, reason=self._text.lasting_no)
            if key == "v":
                await self._view()
            if key == SEVERAL:
                await self._say("Several keys at once are ignored: press one key, then wait.")
            if key == "l":
                return None

    async def _view(self) -> None:
        whole = replace(self._text, whole=True)
        self._unseen = False
        await self._screen.show(*whole.lines(), whole.menu(unseen=False))

    async def _means_it(self, offer: Offer) -> bool:
        """What is risky, wide or unseen is approved by a step that no single key can take."""
        if offer.warning is not None:
            await self._say(offer.warning)
        elif self._unseen:
            await self._say("You have not seen all of it: v shows the rest.")
        elif not self._card.needs_second_step:
            return offer.scope is Scope.ONCE or await self._confirms(offer)
        prompt = f"type {WORD!r} and Enter to approve (Esc goes back) "
        while (typed := await self._line(prompt)) is not None:
            if typed.strip().lower() == WORD:
                return True
            prompt = f"that was not {WORD!r}; type it and Enter (Esc goes back) "
        return False

    async def _confirms(self, offer: Offer) -> bool:
        """What lets further calls pass takes another key than the one that chose it."""
        words = f"From now on this runs without asking you: {offer.words}."
        if offer.scope is Scope.PROJECT:
            words += f" It ends after {LASTING_WORDS}, or when you revoke it."
        await self._say(words)
        return await self._next_key(f"{YES} approves, any other key goes back ") == YES

    async def _say(self, words: str) -> None:
        await self._screen.show(*self._text.told(words))

    async def _next_key(self, prompt: str = "") -> str | None:
        """The next key that stands alone, counting down meanwhile; None when the time is up."""
        is_asked = False
        while (left := _seconds_left(self._card)) > 0:
            if not (is_asked and self._screen.is_dumb):
                await self._screen.prompt(prompt or self._text.prompt(left))
            is_asked = True
            key = await self._lone_key()
            if key is not None:
                return key
        await self._screen.show(Text("  expired without an answer: the call is refused"))
        return None

    async def _lone_key(self) -> str | None:
        """A key between two silences or, where whole lines come, the one of a line."""
        if not self._screen.is_dumb:
            return await self._keyboard.lone_key(1.0, self._quiet_seconds)
        while (key := await self._keyboard.key(1.0)) not in (None, END, *ENTER):
            self._typed = (self._typed + key)[:MOST_REASON_CHARS]
        if key is None:
            return key
        line, self._typed = self._typed.strip(), ""
        if key == END or (key := await self._keyboard.rest(self._quiet_seconds)) is not None:
            return key
        return line if len(line) == 1 else SEVERAL

    async def _line(self, prompt: str) -> str | None:
        """A line of text; None when it was given up."""
        while True:
            line, end = await self._typed_line(prompt)
            if end is None or end == END:
                return None
            broken = await self._keyboard.rest(self._quiet_seconds)
            if end == ESCAPE or broken == END:
                return None
            if broken is None:
                return line
            await self._say("Several lines at once are ignored: type one line, then wait.")

    async def _typed_line(self, prompt: str) -> tuple[str, str | None]:
        """What was typed, and the key that ended it: Enter, Esc, END or, out of time, none."""
        self._is_in_line = True
        while True:
            if not (self._typed and self._screen.is_dumb):
                await self._screen.prompt(prompt + visible(self._typed))
            key = await self._keyboard.key(max(1, _seconds_left(self._card)))
            if key is None:
                return "", None
            if key in (END, ESCAPE, *ENTER):
                line, self._typed, self._is_in_line = self._typed, "", False
                return line, key
            self._typed = _edited(self._typed, key)


def _edited(line: str, key: str) -> str:
    return line[:-1] if key in BACKSPACE else (line + key)[:MOST_REASON_CHARS]


def _seconds_left(card: Card) -> int:
    return int((card.expires_at - datetime.now(UTC)).total_seconds())

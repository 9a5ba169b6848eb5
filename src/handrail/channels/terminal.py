"""TerminalChannel: the approval card on a terminal, decided with single keys.

A card counts as seen only when it has been on the screen for a moment: keys typed ahead never
decide. What is risky, or not seen whole, needs a second, different step. Without a terminal, and
from the background of one, nobody is asked.
"""

import asyncio
import io
import os
import sys
import termios
from datetime import UTC, datetime

import structlog
from rich.console import Console
from rich.text import Text

from handrail.channels.keyboard import BACKSPACE, END, ENTER, ESCAPE, Keyboard
from handrail.channels.terminal_card import CardText
from handrail.core.card import Card, Choice, Offer
from handrail.core.grant import Scope
from handrail.core.visible import visible

_DEAF_SECONDS = 0.7
_KEYS = {Scope.ONCE: "a", Scope.CLASS: "c", Scope.SESSION: "s"}
_WORD = "approve"
_MOST_REASON_CHARS = 500

log = structlog.get_logger(__name__)


class TerminalChannel:
    name = "terminal"

    def __init__(self, console: Console | None = None, deaf_seconds: float = _DEAF_SECONDS):
        self._console = console or Console(highlight=False, emoji=False)
        _take_any_letter(self._console.file)
        self._fd = sys.stdin.fileno()
        self._deaf_seconds = deaf_seconds
        self._turn = asyncio.Lock()

    async def ask(self, card: Card) -> Choice | None:
        # One card at a time; the others wait their turn.
        async with self._turn:
            if _seconds_left(card) <= 0 or not _is_in_front(self._fd):
                return None
            try:
                return await self._show(card)
            except (OSError, termios.error) as error:
                # The window is gone; other screens may answer.
                log.info("terminal.gone", error=str(error))
                return None

    def tell(self, words: str) -> None:
        try:
            self._console.print(Text(visible(words), style="dim"))
        except OSError as error:
            log.info("terminal.gone", error=str(error))

    async def _show(self, card: Card) -> Choice | None:
        text = CardText(card, max(20, self._console.width - 1))
        for line in text.lines():
            self._console.print(line)
        with Keyboard(self._fd, self._deaf_seconds) as keyboard:
            try:
                return await _Dialog(card, text, keyboard, self._console).run()
            finally:
                self._console.print()


def has_terminal() -> bool:
    """Whether somebody sits there: both to be shown a card and to press a key."""
    both = [stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)]
    return all(both) and os.environ.get("TERM") != "dumb"


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

    def __init__(self, card: Card, text: CardText, keyboard: Keyboard, console: Console):
        self._card = card
        self._text = text
        self._keyboard = keyboard
        self._console = console
        self._offers = {_KEYS[offer.scope]: offer for offer in card.offers}
        self._unseen = text.is_cut

    async def run(self) -> Choice | None:
        self._console.print(self._menu())
        while True:
            key = await self._next_key("decide")
            if key is None or key == END:
                return None
            if key in self._offers and await self._means_it(self._offers[key]):
                return Choice(approved=True, scope=self._offers[key].scope)
            if key == "r":
                reason = await self._line("why not? (Enter sends, Esc goes back) ")
                if reason is not None:
                    return Choice(approved=False, reason=reason.strip() or None)
            if key == "v":
                self._view()
            if key == "l":
                return None

    def _menu(self) -> Text:
        menu = Text()
        for key, offer in self._offers.items():
            menu.append(f"  {key} ", style="bold green")
            menu.append(f"approve {visible(offer.words)}\n")
        menu.append("  r ", style="bold red").append("refuse, with a reason\n")
        if self._unseen:
            menu.append("  v ", style="bold").append("view all of it\n")
        return menu.append("  l ", style="bold").append("leave it to another screen")

    def _view(self) -> None:
        self._console.print()
        for line in CardText(self._card, self._text.width, whole=True).lines():
            self._console.print(line)
        self._unseen = False

    async def _means_it(self, offer: Offer) -> bool:
        """What is risky, wide or unseen is approved by a step that no single key can take."""
        if offer.warning is not None:
            self._console.print(Text(f"\n  {visible(offer.warning)}", style="yellow"))
        elif self._unseen:
            self._console.print(Text("\n  You have not seen all of it: v shows it.", "yellow"))
        elif not self._card.needs_second_step:
            return True
        typed = await self._line(f"type {_WORD!r} and Enter to go on (Esc goes back) ")
        return typed is not None and typed.strip().lower() == _WORD

    async def _next_key(self, prompt: str) -> str | None:
        """The next key, counting down meanwhile; None when the time is up."""
        while (left := _seconds_left(self._card)) > 0:
            self._status(f"{prompt} ({left // 60}:{left % 60:02d} left, then it is refused) ")
            key = await self._keyboard.key(1.0)
            if key is not None:
                return key
        self._status("time is up: nobody answered, so the call is refused")
        return None

    async def _line(self, prompt: str) -> str | None:
        """A line of text; None when it was given up."""
        typed = ""
        self._console.print()
        while True:
            self._status(prompt + visible(typed))
            key = await self._keyboard.key(max(1, _seconds_left(self._card)))
            if key is None or key in (END, ESCAPE):
                self._console.print()
                return None
            if key in ENTER:
                self._console.print()
                return typed
            typed = typed[:-1] if key in BACKSPACE else (typed + key)[:_MOST_REASON_CHARS]

    def _status(self, text: str) -> None:
        """Write over the present line."""
        width = max(20, self._console.width - 1)
        shown = text if len(text) <= width else "…" + text[1 - width :]
        self._console.file.write(f"\r\x1b[2K{shown}")
        self._console.file.flush()


def _seconds_left(card: Card) -> int:
    return int((card.expires_at - datetime.now(UTC)).total_seconds())

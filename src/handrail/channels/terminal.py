"""TerminalChannel: the approval card on a terminal, decided with single keys.

A card counts as seen only when it has been on the screen for a moment: keys typed ahead never
decide. What is risky needs a second, different step. Without a terminal nobody is asked.
"""

import asyncio
import os
import sys
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

from handrail.channels.keyboard import BACKSPACE, END, ENTER, ESCAPE, Keyboard
from handrail.channels.terminal_card import MOST_EVIDENCE_LINES, card_lines, evidence_lines
from handrail.core.card import Card, Choice, Offer
from handrail.core.grant import Scope
from handrail.core.visible import visible

_DEAF_SECONDS = 0.7
_KEYS = {Scope.ONCE: "a", Scope.CLASS: "c", Scope.SESSION: "s"}
_WORD = "approve"
_MOST_REASON_CHARS = 500


class TerminalChannel:
    name = "terminal"

    def __init__(self, console: Console | None = None, deaf_seconds: float = _DEAF_SECONDS):
        self._console = console or Console(highlight=False, emoji=False)
        self._fd = sys.stdin.fileno()
        self._deaf_seconds = deaf_seconds
        self._turn = asyncio.Lock()

    async def ask(self, card: Card) -> Choice | None:
        # One card at a time; the others wait their turn.
        async with self._turn:
            if _seconds_left(card) <= 0:
                return None
            for line in card_lines(card):
                self._console.print(line)
            with Keyboard(self._fd, self._deaf_seconds) as keyboard:
                try:
                    return await _Dialog(card, keyboard, self._console).run()
                finally:
                    self._console.print()

    def tell(self, words: str) -> None:
        self._console.print(Text(visible(words), style="dim"))


def has_terminal() -> bool:
    """Whether somebody sits there: both to be shown a card and to press a key."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


class _Dialog:
    """One card being decided."""

    def __init__(self, card: Card, keyboard: Keyboard, console: Console):
        self._card = card
        self._keyboard = keyboard
        self._console = console
        self._offers = {_KEYS[offer.scope]: offer for offer in card.offers}

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
                for line in evidence_lines(self._card, most=None):
                    self._console.print(line)
            if key == "l":
                return None

    def _menu(self) -> Text:
        menu = Text()
        for key, offer in self._offers.items():
            menu.append(f"  {key} ", style="bold green")
            menu.append(f"approve {visible(offer.words)}\n")
        menu.append("  r ", style="bold red").append("refuse, with a reason\n")
        if self._card.evidence.count("\n") > MOST_EVIDENCE_LINES:
            menu.append("  v ", style="bold").append("view the whole change\n")
        return menu.append("  l ", style="bold").append("leave it to another screen")

    async def _means_it(self, offer: Offer) -> bool:
        """What is risky or wide is approved by a second step that no single key can take."""
        if offer.warning is not None:
            self._console.print(Text(f"  {visible(offer.warning)}", style="yellow"))
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

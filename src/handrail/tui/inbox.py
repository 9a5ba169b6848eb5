"""Where questions wait for the person at this screen, all of them in sight."""

import asyncio
from collections.abc import Callable

from handrail.core.card import Card, Choice


class Inbox:
    """A channel that shows every open card at once, and hears of each choice from the screen.

    `on_change` is called when a card has come or gone, `on_word` with what needs no answer.
    """

    name = "terminal"

    def __init__(self) -> None:
        self._choices: dict[str, asyncio.Future[Choice]] = {}
        self._cards: dict[str, Card] = {}
        self.last_words = ""
        self.on_change: Callable[[], None] = lambda: None
        self.on_word: Callable[[str], None] = lambda words: None

    async def ask(self, card: Card) -> Choice | None:
        chosen = asyncio.get_running_loop().create_future()
        self._cards[card.approval_id] = card
        self._choices[card.approval_id] = chosen
        self.on_change()
        try:
            return await chosen
        finally:
            del self._cards[card.approval_id], self._choices[card.approval_id]
            self.on_change()

    def tell(self, words: str) -> None:
        # Client and screen listen to the same server, and some things are told to both.
        if words != self.last_words:
            self.last_words = words
            self.on_word(words)

    def cards(self) -> list[Card]:
        """What waits, most urgent first."""
        return sorted(self._cards.values(), key=lambda card: (card.expires_at, card.approval_id))

    def card(self, approval_id: str) -> Card | None:
        return self._cards.get(approval_id)

    def has(self, card: Card) -> bool:
        return card.approval_id in self._cards

    def choose(self, card: Card, choice: Choice) -> None:
        """Answer a card, unless somebody else has by now."""
        chosen = self._choices.get(card.approval_id)
        if chosen is not None and not chosen.done():
            chosen.set_result(choice)


class Aside:
    """The channel of a client that runs beside a screen: it tells there, and asks nothing."""

    name = Inbox.name

    def __init__(self, inbox: Inbox):
        self._inbox = inbox

    async def ask(self, card: Card) -> Choice | None:
        return None

    def tell(self, words: str) -> None:
        self._inbox.tell(words)

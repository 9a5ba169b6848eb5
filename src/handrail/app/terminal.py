"""The person at this terminal, if one is there."""

from typing import Any

import msgspec
from rich.console import Console

from handrail.channels.terminal import TerminalChannel, has_terminal
from handrail.channels.terminal_card import CardText
from handrail.core.card import Card
from handrail.core.ports import Channel


def find_terminal() -> Channel | None:
    return TerminalChannel() if has_terminal() else None


def print_card(question: dict[str, Any]) -> None:
    """Show a question as the API tells it, whole."""
    console = Console(highlight=False, emoji=False)
    card = msgspec.convert(question, Card)
    text = CardText(card, console.width, whole=True)
    for line in (*text.lines(), *text.ways_to_approve()):
        console.print(line)

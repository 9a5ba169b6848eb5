"""The person at this terminal, if one is there."""

import curses
import os
from typing import Any

import msgspec
from rich.console import Console

from handrail.channels.terminal import TerminalChannel, has_terminal
from handrail.channels.terminal_card import CardText
from handrail.core.card import Card
from handrail.core.ports import Channel

_FEWEST_COLOURS = 8


def find_terminal(lasting_no: str = "") -> Channel | None:
    """With a `lasting_no`, cards offer it beside the other answers, as a reason to refuse."""
    return TerminalChannel(lasting_no=lasting_no) if has_terminal() else None


def can_draw() -> bool:
    """Whether somebody sits at a terminal on which whole screens can be drawn, in colour."""
    if not has_terminal() or not os.environ.get("TERM"):
        return False
    try:
        curses.setupterm()
    except curses.error:
        return True  # A terminal that this machine has not heard of is a new one, not a poor one.
    return curses.tigetnum("colors") >= _FEWEST_COLOURS


def print_card(question: dict[str, Any]) -> None:
    """Show a question as the API tells it, whole."""
    console = Console(highlight=False, emoji=False)
    card = msgspec.convert(question, Card)
    text = CardText(card, console.width, whole=True)
    for line in (*text.lines(), *text.ways_to_approve()):
        console.print(line)

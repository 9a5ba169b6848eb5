"""The approval card as lines for a terminal. Nothing in it can move the cursor or hide."""

from collections.abc import Iterator

from rich.rule import Rule
from rich.text import Text

from handrail.core.card import Card
from handrail.core.visible import visible

MOST_EVIDENCE_LINES = 40
_MOST_LINE_CHARS = 500

_RISK_STYLE = {"MEDIUM": "yellow", "HIGH": "red", "CRITICAL": "bold white on red"}


def card_lines(card: Card) -> Iterator[Text | Rule]:
    yield Rule(style="dim")
    style = _RISK_STYLE.get(card.risk_level, "yellow")
    yield Text.assemble((f" {card.risk_level} ", style), " ", (_line(card.description), "bold"))
    for reason in card.reasons:
        yield Text(f"  · {_line(reason)}")
    yield Text(f"  asked by {_line(card.agent_id)} in session {_line(card.session_id)}", "dim")
    if card.reasoning:
        yield Text.assemble("  the agent claims: ", (_line(card.reasoning), "italic"))
    for note in card.notes:
        yield Text(f"  ! {_line(note)}", style="yellow")
    if card.evidence:
        yield from evidence_lines(card, MOST_EVIDENCE_LINES)
    else:
        for name, value in card.tool_params.items():
            yield Text(f"  {_line(name)} = {_line(str(value))}")


def evidence_lines(card: Card, most: int | None) -> Iterator[Text]:
    """The diff, coloured; at most so many lines of it."""
    lines = card.evidence.removesuffix("\n").split("\n")
    for line in lines[:most]:
        yield Text(f"  {_line(line)}", style=_diff_style(line))
    if most is not None and len(lines) > most:
        yield Text(f"  … {len(lines) - most:,} more lines", style="dim")


def _line(text: str) -> str:
    """One line of somebody else's text, every unseen character made visible."""
    shown = visible(text, keep="\t").expandtabs(4)
    if len(shown) <= _MOST_LINE_CHARS:
        return shown
    return f"{shown[:_MOST_LINE_CHARS]}… [{len(shown) - _MOST_LINE_CHARS:,} more characters]"


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---", "@@")):
        return "dim"
    return {"+": "green", "-": "red"}.get(line[:1], "")

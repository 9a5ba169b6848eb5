"""Sentences and rows of the screens; every text of somebody else's is made visible here."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from handrail.channels.terminal_card import clock
from handrail.client.exit_codes import failed_exit
from handrail.core.card import Card
from handrail.core.command_text import command_text
from handrail.core.names import name_or_id
from handrail.core.visible import cut, visible

HURRY_SECONDS = 60
_MOST_CHARS = 300
# The risk and the time left, which stand before the title of a row.
_BEFORE_TITLE = 19

# Each risk has a colour, a shape and a word: none of them alone.
_RISKS = {
    "LOW": ("·", "green"),
    "MEDIUM": ("●", "yellow"),
    "HIGH": ("▲", "red"),
    "CRITICAL": ("■", "bold red"),
    "FORBIDDEN": ("■", "bold red"),
}
# What people call a status, where that is another word than the one on the wire.
_STATUS_WORDS = {"rejected": "refused"}
_STATUS_STYLE = {"completed": "green", "executing": "cyan", "approved": "cyan", "failed": "red"}


def seconds_left(card: Card, now: datetime) -> int:
    return max(0, int((card.expires_at - now).total_seconds()))


def risk(level: str) -> Text:
    shape, style = _RISKS.get(level, ("●", "yellow"))
    return Text(f"{shape} {visible(level):<9}", style)


def short(text: str) -> str:
    return cut(visible(text), _MOST_CHARS)


def waiting_row(card: Card, now: datetime) -> Text:
    left = seconds_left(card, now)
    hurry = "bold red" if left < HURRY_SECONDS else "dim"
    return Text.assemble(
        " ", risk(card.risk_level), (f"{clock(left):>5}", hurry), "  ", short(card.description)
    )


def call_row(call: dict[str, Any]) -> Text:
    return Text.assemble(
        f" {_time(call['created_at'])}  ",
        _status(call),
        risk(call["risk_level"]),
        "  ",
        short(_what(call)),
    )


def widest_row(cards: Sequence[Card]) -> int:
    """How many cells the row with the longest title needs."""
    return _BEFORE_TITLE + max((cell_len(short(card.description)) for card in cards), default=0)


def _status(call: dict[str, Any]) -> tuple[str, str]:
    """The status of a call, or the exit code of a command that failed, and its colour."""
    if call.get("undone_at"):
        return f"{'undone':<17} ", "dim"
    if (code := failed_exit(call)) is not None:
        return f"{f'exit {code}':<17} ", "red"
    status: str = call["status"]
    words = visible(_STATUS_WORDS.get(status, status)).replace("_", " ")
    return f"{words:<17} ", _STATUS_STYLE.get(status, "yellow")


def call_facts(call: dict[str, Any]) -> list[str]:
    """What else is worth a line of a call."""
    who = name_or_id(call.get("agent_name"), call["agent_id"])
    facts = [_what(call), f"{call['tool_name']} · asked by {who} in session {call['session_id']}"]
    if call["approved_by"]:
        scope = f", {call['scope']}" if call["scope"] else ""
        facts.append(f"approved by {call['approved_by']}{scope}")
    if call["execution_time_ms"] is not None:
        facts.append(f"took {call['execution_time_ms'] / 1000:,.1f} s")
    if call["error"]:
        facts.append(call["error"])
    if call.get("undone_at") or call.get("can_undo"):
        facts.append(undo_in_words(call))
    return facts


def undo_in_words(call: dict[str, Any]) -> str:
    """Whether a call was undone, or can be."""
    if call["undone_at"]:
        return f"undone by {call['undone_by']}, {_time(call['undone_at'])}"
    if call["can_undo"]:
        return "can be undone: u"
    return "This call cannot be undone; `handrail executions show` says why."


def undone_in_words(answer: dict[str, Any]) -> str:
    """What came of an undo."""
    calls: list[dict[str, Any]] = answer["calls"]
    left = [one for one in calls if one["status"] not in ("undone", "undone_before")]
    count = len(calls) - len(left)
    undone = "1 call is undone" if count == 1 else f"{count:,} calls are undone"
    if not left:
        return f"{undone}."
    reason = next((one["reason"] for one in left if one["status"] == "refused"), left[0]["reason"])
    return f"{undone}, {len(left):,} not: {reason}."


def answer_in_words(question: dict[str, Any]) -> str:
    """How a question ended: who has decided, where and when."""
    status = question["status"]
    if status == "expired":
        return "Expired without an answer; the call was refused."
    if status == "withdrawn":
        return "Withdrawn before it was decided."
    who = visible(question["decided_by"] or "A person")
    verb = "approved" if status == "approved" else "refused"
    where = f", from {visible(question['channel'])}" if question["channel"] else ""
    when = f" at {_time(question['decided_at'])}" if question["decided_at"] else ""
    why = f": “{short(question['reason'])}”" if question["reason"] else ""
    return f"{who} {verb} it{where}{when}{why}."


def machines_in_words(machines: list[dict[str, Any]]) -> str:
    here = sum(bool(machine["connected"]) for machine in machines)
    if here == 0:
        return "no machine connected"
    return "1 machine connected" if here == 1 else f"{here} machines connected"


def _what(call: dict[str, Any]) -> str:
    if call["description"]:
        return call["description"]
    if text := command_text(call["tool_name"], call["tool_params"]):
        return text
    params = ", ".join(f"{name}={value}" for name, value in call["tool_params"].items())
    return f"{call['tool_name']} {params}"


def _time(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone().strftime("%H:%M:%S")

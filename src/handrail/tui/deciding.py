"""From a key to a choice: what has to be asked and typed before it counts."""

from collections.abc import Callable
from typing import Any, TypeVar

from rich.text import Text
from textual.screen import Screen

from handrail.channels.terminal import WORD, YES
from handrail.client.api import ApiError, ServerUnreachable
from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from handrail.core.visible import visible
from handrail.tui.attention import Patience
from handrail.tui.calls import CallsView
from handrail.tui.dialogs import (
    Dialog,
    GrantDialog,
    LeaveDialog,
    LineDialog,
    StopDialog,
    UndoDialog,
)
from handrail.tui.line import Line
from handrail.tui.words import undo_in_words, undone_in_words

T = TypeVar("T")

_NOT_OFFERED = "This approval is not offered for this call."
UNSEEN = "You have not seen all of it: Esc goes back to the card, where Space scrolls on."


class Deciding:
    """The dialogs in front of one desk; at most one is open."""

    def __init__(
        self, desk: Screen[None], line: Line, patience: Patience, say: Callable[[str], None]
    ):
        """`say` puts a sentence on the desk, where it stays until the next one."""
        self._desk = desk
        self._say = say
        self._line = line
        self._patience = patience
        self._open: Dialog[object] | None = None

    def end(self) -> None:
        """The card needs no answer any more, and what is open decides nothing."""
        dialog = self._open
        if (
            dialog is not None
            and dialog.is_current
            and not isinstance(dialog, StopDialog | UndoDialog | LeaveDialog)
        ):
            dialog.end("This call no longer needs an answer.")

    async def approval(self, card: Card, scope: Scope, *, seen_whole: bool) -> Choice | None:
        """A yes of this reach; None where it was given up, or is not on offer."""
        offer = next((one for one in card.offers if one.scope is scope), None)
        if offer is None:
            self._say(_NOT_OFFERED)
            return None
        choice: Choice | None = Choice(approved=True)
        if scope is not Scope.ONCE:
            choice = await self._ask(GrantDialog(offer, self._patience))
        if choice is None:
            return None
        if offer.warning is None and seen_whole and not card.needs_second_step:
            return choice
        why = Text.assemble((_why(card, seen_whole), "yellow"))
        said = [Text(f"\n{visible(card.description)}"), why]
        title = f"Type {WORD!r} and Enter to approve"
        typed = await self._ask(LineDialog(title, said, word=WORD))
        return None if typed is None else choice

    async def refusal(self, card: Card) -> Choice | None:
        said = [Text(f"\n{visible(card.description)}"), Text("The agent reads the reason.", "dim")]
        reason = await self._ask(LineDialog("Refuse: why?", said))
        return None if reason is None else Choice(approved=False, reason=reason or None)

    async def stop(self, session_id: str) -> None:
        if await self._ask(StopDialog(session_id, self._patience)) is not None:
            await self._stop(session_id)

    async def stop_call(self, calls: CallsView) -> None:
        call = calls.chosen
        if call is None:
            return
        name = f"{call['tool_name']} {call['tool_id']}"
        key = await self._ask(StopDialog(call["session_id"], self._patience, call=name))
        if key == YES:
            await self._stop(call["session_id"])
        elif key is not None:
            await self._stop(call["session_id"], call["tool_id"])
        calls.look()

    async def undo_call(self, calls: CallsView) -> None:
        call = calls.chosen
        if call is None:
            return
        if not call["can_undo"]:
            self._say(undo_in_words(call))
            return
        name = f"{call['tool_name']} {call['tool_id']}"
        key = await self._ask(UndoDialog(name, call["session_id"], self._patience))
        if key is not None:
            await self._undo(call, whole_session=key != YES)
            calls.look()

    async def _undo(self, call: dict[str, Any], *, whole_session: bool) -> None:
        try:
            if whole_session:
                answer = await self._line.undo_session(call["session_id"])
            else:
                answer = await self._line.undo(call["tool_id"])
        except (ApiError, ServerUnreachable) as error:
            self._say(error.message)
            return
        self._say(undone_in_words(answer))

    async def leaves(self, ends_with_it: str | None) -> bool:
        """Whether the person means to leave, where more than the screen ends with it."""
        if ends_with_it is None:
            return True
        return await self._ask(LeaveDialog(ends_with_it, self._patience)) is not None

    async def _stop(self, session_id: str, tool_id: str | None = None) -> None:
        try:
            if tool_id is None:
                await self._line.stop(session_id)
            else:
                await self._line.end(tool_id)
        except (ApiError, ServerUnreachable) as error:
            self._desk.notify(visible(error.message), severity="error", markup=False)

    async def _ask(self, dialog: Dialog[T]) -> T | None:
        self._open = dialog  # pyright: ignore[reportAttributeAccessIssue]
        try:
            return await self._desk.app.push_screen_wait(dialog)  # pyright: ignore[reportUnknownMemberType]
        finally:
            self._open = None


def _why(card: Card, seen_whole: bool) -> str:
    if card.risk_level in ("HIGH", "CRITICAL"):
        return f"Approve this {card.risk_level.lower()}-risk call?"
    if card.needs_second_step:
        return "Not checked on the machine. Approve anyway?"
    return "" if seen_whole else UNSEEN

"""A list of calls and, below it, what else there is to know of the chosen one.

The newest is chosen when the list is opened. After that only a person chooses: whatever comes and
goes, a key never means another call than the one that was looked at.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from rich.console import Console
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from handrail.client.api import ApiError, ServerUnreachable
from handrail.tui.lines import Lines, Rows
from handrail.tui.words import call_facts, call_row, short

_LOOK_EVERY_SECONDS = 1.0

_GONE = "The selected call is no longer listed; j and k select another."
_NONE = "No call is selected; j and k select one."

_FOLDS = Console()

Call = dict[str, Any]


class CallsView(Vertical):
    DEFAULT_CSS = """
    CallsView > Rows { height: 1fr; }
    CallsView > Lines#facts { height: 6; border-top: solid $panel; padding: 0 1; }
    """

    class Turned(Message):
        """Another call was chosen than before, and not by the person: they have not looked yet."""

    def __init__(self, find: Callable[[], Awaitable[list[Call]]], *, id: str):
        super().__init__(id=id)
        self._find = find
        self._calls: list[Call] = []
        self._chosen_id = ""
        self._was_at = 0
        self._is_opened = False
        self._rows, self._facts = Rows(id="rows"), Lines(id="facts")

    @property
    def chosen(self) -> Call | None:
        at = self._at()
        return None if at is None else self._calls[at]

    def compose(self) -> ComposeResult:
        yield self._rows
        yield self._facts

    def on_mount(self) -> None:
        self.set_interval(_LOOK_EVERY_SECONDS, self._look_if_shown)

    def open(self) -> None:
        """Look, and choose what is newest then, where nothing is chosen."""
        self._is_opened = True
        self.look()

    def look(self) -> None:
        # A worker that is cancelled before it begins would leave a coroutine that is never awaited.
        self.run_worker(self._refill, exclusive=True, group=self.id or "")

    def move(self, step: int) -> None:
        if self._calls:
            at = self._at()
            to = self._was_at if at is None else at + step
            self._choose(self._calls[max(0, min(len(self._calls) - 1, to))]["tool_id"])

    def read(self, step: int) -> None:
        self._facts.scroll_relative(y=step, animate=False, force=True)

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        event.stop()
        self._choose(event.name)

    def _choose(self, tool_id: str) -> None:
        self._chosen_id = tool_id
        self._draw()

    def _at(self) -> int | None:
        found = (n for n, call in enumerate(self._calls) if call["tool_id"] == self._chosen_id)
        return next(found, None)

    def _why_none(self) -> str:
        if not self._calls:
            return "Nothing here."
        return _GONE if self._chosen_id else _NONE

    def _look_if_shown(self) -> None:
        if self.display:
            self.look()

    async def _refill(self) -> None:
        try:
            self._calls = await self._find()
        except (ApiError, ServerUnreachable):
            return  # What is shown was true a moment ago, and the line says that it is down.
        if self._is_opened:
            self._is_opened = False
            if self._calls and self._at() is None:
                self._chosen_id = self._calls[0]["tool_id"]
                self.post_message(self.Turned())
        self._draw()

    def on_lines_widened(self, event: Lines.Widened) -> None:
        if event.control is self._facts:
            self._draw()

    def _draw(self) -> None:
        if not self.is_attached:
            return
        calls, at = self._calls, self._at()
        self._was_at = self._was_at if at is None else at
        names = [call["tool_id"] for call in calls]
        self._rows.fill(names, lambda number: call_row(calls[number]), at)
        facts = [self._why_none()] if at is None else call_facts(calls[at])
        width = max(20, self._facts.scrollable_content_region.width)
        lines = [line for fact in facts for line in Text(short(fact)).wrap(_FOLDS, width)]
        self._facts.show(lines, anew=False)

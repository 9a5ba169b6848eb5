"""A list of calls and, below it, what else there is to know of the chosen one."""

from collections.abc import Awaitable, Callable
from typing import Any

from rich.console import Console
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical

from handrail.client.api import ApiError, ServerUnreachable
from handrail.tui.lines import Lines, Rows
from handrail.tui.words import call_facts, call_row, short

_LOOK_EVERY_SECONDS = 1.0

_FOLDS = Console()

Call = dict[str, Any]


class CallsView(Vertical):
    DEFAULT_CSS = """
    CallsView > Rows { height: 1fr; }
    CallsView > Lines#facts { height: 6; border-top: solid $panel; padding: 0 1; }
    """

    def __init__(self, find: Callable[[], Awaitable[list[Call]]], *, id: str):
        super().__init__(id=id)
        self._find = find
        self._calls: list[Call] = []
        self._chosen_id = ""
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

    def look(self) -> None:
        self.run_worker(self._refill(), exclusive=True, group=self.id or "")

    def move(self, step: int) -> None:
        if self._calls:
            at = max(0, min(len(self._calls) - 1, (self._at() or 0) + step))
            self._choose(self._calls[at]["tool_id"])

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
        return next(found, 0 if self._calls else None)

    def _look_if_shown(self) -> None:
        if self.display:
            self.look()

    async def _refill(self) -> None:
        try:
            self._calls = await self._find()
        except (ApiError, ServerUnreachable):
            return  # What is shown was true a moment ago, and the line says that it is down.
        self._draw()

    def _draw(self) -> None:
        if not self.is_attached:
            return
        calls, at = self._calls, self._at()
        names = [call["tool_id"] for call in calls]
        self._rows.fill(names, lambda number: call_row(calls[number]), at)
        facts = ["Nothing here."] if at is None else call_facts(calls[at])
        width = max(20, self._facts.scrollable_content_region.width)
        lines = [line for fact in facts for line in Text(short(fact)).wrap(_FOLDS, width)]
        self._facts.show(lines, anew=False)

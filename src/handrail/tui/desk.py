"""The desk: what waits on one side, the card on the other, and the decision below."""

from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Static

from handrail.channels.keyboard import SEVERAL
from handrail.channels.terminal_card import CardText
from handrail.client.api import ApiError, ServerUnreachable
from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from handrail.core.visible import visible
from handrail.tui.attention import Attention, Patience
from handrail.tui.calls import CallsView
from handrail.tui.deciding import Deciding
from handrail.tui.inbox import Inbox
from handrail.tui.line import Line
from handrail.tui.lines import Lines, Rows
from handrail.tui.words import (
    answer_in_words,
    machines_in_words,
    seconds_left,
    waiting_row,
    widest_row,
)

_LOOK_EVERY_SECONDS = 5.0
_EMPTY = "Nothing waits for you. New questions appear here by themselves."
_VIEWS = ("waiting", "running", "history")
_SCOPES = {"a": Scope.ONCE, "c": Scope.CLASS, "p": Scope.PROJECT, "s": Scope.SESSION}
_LIVE = {
    None: ("○ connecting", "yellow"),
    True: ("● live", "green"),
    False: ("○ reconnecting", "bold yellow"),
}
_MARKS = {"a": "once", "c": "class…", "p": "project…", "s": "session…"}


class Desk(Screen[None]):
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012  Textual's own way
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("space,pagedown", "read(1)", show=False),
        Binding("b,pageup", "read(-1)", show=False),
        Binding("G,end", "read(10000000)", show=False),
        Binding("g,home", "read(-10000000)", show=False),
        Binding("1", "view('waiting')", show=False),
        Binding("2", "view('running')", show=False),
        Binding("3", "view('history')", show=False),
        Binding("question_mark", "app.help", show=False),
        Binding("t", "app.turn_light", show=False),
    ]

    def __init__(
        self, line: Line, inbox: Inbox, patience: Patience, ends_with_it: str | None = None
    ):
        super().__init__()
        self._ends_with_it = ends_with_it
        self._line = line
        self._inbox = inbox
        self._attention = Attention(patience)
        self._deciding = Deciding(self, line, patience, self.say)
        self._live: bool | None = None
        self._machines = ""
        self._at = 0
        self._answer = ""
        self._redraw_is_due = False
        self.shown: Card | None = None
        self._status, self._word, self._bar = (
            Static(id="status"),
            Static(id="word"),
            Static(id="bar"),
        )
        self._views = ContentSwitcher(initial="waiting", id="views")
        self._rows, self._pane = Rows(id="waiting-rows"), Lines(id="card")
        self._calls = {
            "running": CallsView(line.running, id="running"),
            "history": CallsView(line.history, id="history"),
        }

    def compose(self) -> ComposeResult:
        yield self._status
        with self._views:
            with Container(id="waiting"):
                yield self._rows
                yield self._pane
            yield from self._calls.values()
        yield self._word
        yield self._bar

    def on_mount(self) -> None:
        self._inbox.on_change = self._on_change
        self._inbox.on_word = self.say
        self.set_interval(1.0, self._tick)
        self.set_interval(_LOOK_EVERY_SECONDS, self._look_for_machines)
        self.run_worker(self._decide_forever)
        self.say(self._inbox.last_words)
        self._redraw()

    # What comes from elsewhere.

    def announce(self, live: bool) -> None:
        self._live = live
        if live:
            self._look_for_machines()
        self._show_status()

    def say(self, words: str) -> None:
        self._word.update(Text(visible(words)))
        self._word.display = bool(words)

    def on_lines_widened(self, event: Lines.Widened) -> None:
        if event.control is self._pane:
            self._show_card(anew=False)

    def on_screen_resume(self) -> None:
        self.look_anew()

    def look_anew(self) -> None:
        """Something was in front: it takes a moment until keys count again."""
        self._attention.begin_anew()

    def _on_change(self) -> None:
        # A thousand cards that come at once are drawn once.
        if not self._redraw_is_due and self.is_running:
            self._redraw_is_due = True
            self.call_later(self._redraw)

    # What is shown.

    @property
    def view(self) -> str:
        return self._views.current or _VIEWS[0]

    def show(self, card: Card | None) -> None:
        """Put a card on the desk; it takes a moment until its keys count."""
        self.shown, self._answer = card, ""
        self._attention.begin_anew()
        self._show_card(anew=True)
        self._tick()

    def take_next(self) -> None:
        """Go on with what waits where the last card was."""
        cards = self._inbox.cards()
        cards = [card for card in cards if card != self.shown] if self.shown else cards
        self.show(cards[min(self._at, len(cards) - 1)] if cards else None)

    def _redraw(self) -> None:
        self._redraw_is_due = False
        if self.shown is None:
            self.take_next()
        elif not self._inbox.has(self.shown) and not self._answer:
            self._answer = "This call was answered; looking up by whom…"
            self.run_worker(partial(self._tell_answer, self.shown))
        self._tick()

    async def _tell_answer(self, card: Card) -> None:
        """Somebody else answered first: the card stays, and says who, where and when."""
        self._deciding.end()
        try:
            words = answer_in_words(await self._line.question(card.approval_id))
        except (ApiError, ServerUnreachable):
            words = "This call was answered on another screen."
        if self.shown == card:
            self._answer = words
            self._tick()

    def _show_card(self, *, anew: bool) -> None:
        if self.shown is None:
            self._pane.show([Text(), Text(_EMPTY, "dim")], anew=True)
            return
        text = self._text(self.shown)
        lines = [*text.about(), Text(), *text.evidence(), *text.changes()]
        self._pane.show(lines, anew=anew)

    def _text(self, card: Card) -> CardText:
        width = self._pane.scrollable_content_region.width
        return CardText(card, max(20, width), whole=True)

    def _tick(self) -> None:
        if not self.is_attached:
            return
        cards, now = self._inbox.cards(), self._line.now()
        at = next((n for n, card in enumerate(cards) if card == self.shown), None)
        self._at = self._at if at is None else at
        names = [card.approval_id for card in cards]
        self._rows.fill(names, lambda number: waiting_row(cards[number], now), at)
        self._rows.widen(widest_row(cards))
        self._show_status(len(cards))
        self._bar.update(self._choices())

    def _show_status(self, waiting: int | None = None) -> None:
        if not self.is_attached:
            return
        words, style = _LIVE[self._live]
        count = len(self._inbox.cards()) if waiting is None else waiting
        tabs = {"waiting": f"1 waiting {count:,}", "running": "2 running", "history": "3 history"}
        text = Text.assemble(" ", ("Handrail", "bold"), " ")
        for name, label in tabs.items():
            text.append(f" {label} ", style="reverse" if name == self.view else "dim")
        text.append("  ").append(words, style)
        text.append(f" · {self._machines}" if self._live and self._machines else "")
        text.append(f" · {visible(self._line.address)}", "dim")
        self._status.update(text)

    def _choices(self) -> Text:
        common = Text("? keys  q quit…" if self._ends_with_it else "? keys  q quit", "dim")
        if self.view != "waiting":
            undo = "u undo…  " if self.view == "history" else ""
            return Text.assemble("\n", f"x stop…  {undo}j k move  1 waiting  ", common)
        if self.shown is None:
            return Text.assemble("\n", common)
        if self._answer:
            return Text.assemble((self._answer, "bold"), ("\nj next  ", ""), common)
        left = seconds_left(self.shown, self._line.now())
        look = "bold green" if self._attention.is_there and left else "dim"
        text = Text.assemble((CardText(self.shown, self.size.width).prompt(left), "bold"), "\n")
        if left == 0:
            return Text.assemble("expired without an answer: the call is refused\n", common)
        scopes = [offer.scope for offer in self.shown.offers]
        for key, scope in _SCOPES.items():
            if scope in scopes:
                text.append(key, look).append(f" {_MARKS[key]}  ")
        text.append("r", look.replace("green", "red")).append(" refuse…  ")
        text.append("x", look.replace("green", "red")).append(" stop…  ")
        return text.append_text(common)

    # What is pressed.

    def on_key(self, event: events.Key) -> None:
        self._attention.press(event.character or event.key, event.time)

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        # A card may go between the click and here.
        card = self._inbox.card(event.name)
        if event.control is self._rows and card is not None:
            self.show(card)

    def on_calls_view_turned(self, event: CallsView.Turned) -> None:
        self.look_anew()

    def action_move(self, step: int) -> None:
        if self.view != "waiting":
            self._calls[self.view].move(step)
            return
        cards = self._inbox.cards()
        if not cards:
            self.show(None)
            return
        held = self.shown is not None and self._inbox.has(self.shown)
        to = max(0, min(len(cards) - 1, self._at + (step if held else 0)))
        if cards[to] != self.shown:
            self._at = to
            self.show(cards[to])

    def action_read(self, step: int) -> None:
        if self.view != "waiting":
            self._calls[self.view].read(step)
            return
        lines = step * max(1, self._pane.size.height - 2)
        self._pane.scroll_relative(y=lines, animate=False, force=True)

    async def action_view(self, name: str) -> None:
        self._views.current = name
        self._attention.begin_anew()
        if name != "waiting":
            self._calls[name].open()
        self._tick()

    async def _decide_forever(self) -> None:
        while True:
            key = await self._attention.next_key()
            if key == "q" and await self._deciding.leaves(self._ends_with_it):
                await self.run_action("app.quit")
            if self.view != "waiting":
                if key == "x":
                    await self._deciding.stop_call(self._calls[self.view])
                elif key == "u" and self.view == "history":
                    await self._deciding.undo_call(self._calls[self.view])
                continue
            card = self.shown
            if card is None or self._answer or not seconds_left(card, self._line.now()):
                continue
            await self._take(key, card)

    async def _take(self, key: str, card: Card) -> None:
        choice: Choice | None = None
        if key in _SCOPES:
            seen = self._pane.end_was_seen
            choice = await self._deciding.approval(card, _SCOPES[key], seen_whole=seen)
        elif key == "r":
            choice = await self._deciding.refusal(card)
        elif key == "x":
            await self._deciding.stop(card.session_id)
        elif key == SEVERAL:
            self.say("Several keys at once are ignored: press one key, then wait.")
        self._attention.begin_anew()
        if choice is not None and self.shown == card and self._inbox.has(card):
            self.say("")
            self.take_next()
            self._inbox.choose(card, choice)

    def _look_for_machines(self) -> None:
        self.run_worker(self._count_machines, group="machines", exclusive=True)

    async def _count_machines(self) -> None:
        try:
            self._machines = machines_in_words(await self._line.machines())
        except (ApiError, ServerUnreachable):
            self._machines = ""
        self._show_status()

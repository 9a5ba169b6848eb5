"""What is asked in front of a card: each dialog gives an answer, or None to go back."""

from collections.abc import Sequence
from typing import TypeVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from handrail.channels.terminal import MOST_REASON_CHARS, WORD, YES
from handrail.core.card import Choice, Offer
from handrail.core.grant import (
    GRANT_SECONDS,
    GRANT_USES,
    LASTING_CHOICES,
    LASTING_SECONDS,
    Scope,
)
from handrail.core.visible import visible
from handrail.tui.attention import Attention, Patience

ESCAPE = "  Esc goes back"

T = TypeVar("T")


class Dialog(ModalScreen[T | None]):
    """Says something; Esc goes back.

    Textual calls the `on_…` methods of all classes by itself: none may call that of another.
    """

    def __init__(self, title: str, said: Sequence[Text]):
        super().__init__()
        self._title = title
        self._said = said
        self.is_over = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, style="bold"))
            for text in self._said:
                yield Static(text)
            yield from self.compose_answer()

    def compose_answer(self) -> ComposeResult:
        yield Static(Text(ESCAPE.strip(), style="dim"), id="below")

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self.dismiss(None)

    def end(self, words: str) -> None:
        """Nothing is decided here any more. It stays: somebody may be typing."""
        self.is_over = True
        self.query_one("#below", Static).update(Text.assemble((words, "yellow"), ESCAPE))


class LineDialog(Dialog[str]):
    """Asks for a line; with a word to be typed, nothing else is taken."""

    def __init__(self, title: str, said: Sequence[Text], *, word: str | None = None):
        super().__init__(title, said)
        self._word = word

    def compose_answer(self) -> ComposeResult:
        yield Input(max_length=MOST_REASON_CHARS)
        yield Static(Text("Enter sends, Esc goes back", style="dim"), id="below")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        if self.is_over:
            self.dismiss(None)
            return
        if self._word is not None and typed.lower() != self._word:
            words = f"that was not {self._word!r}; type it and Enter (Esc goes back)"
            self.query_one("#below", Static).update(Text.assemble((words, "yellow")))
            return
        self.dismiss(typed)


class KeyDialog(Dialog[T]):
    """Is answered by a key that stands alone, after it has been seen for a moment."""

    def __init__(self, title: str, said: Sequence[Text], patience: Patience):
        super().__init__(title, said)
        self._attention = Attention(patience)

    def on_mount(self) -> None:
        self._attention.begin_anew()
        self.run_worker(self._listen)

    def on_key(self, event: events.Key) -> None:
        self._attention.press(event.character or event.key, event.time)

    async def _listen(self) -> None:
        while True:
            key = await self._attention.next_key()
            if not self.is_over:
                self.take(key)

    def take(self, key: str) -> None:
        """Do what a key means; by itself none means anything."""


class GrantDialog(KeyDialog[Choice]):
    """How far a yes shall reach: in words, for how many calls, for how long."""

    def __init__(self, offer: Offer, patience: Patience):
        title = _TITLES.get(offer.scope, WIDEST)
        said = [Text(f"\n{visible(offer.words)}")]
        if offer.past:
            said.append(Text(f"So far {visible(offer.past)}.", style="dim"))
        if offer.warning:
            said.append(Text.assemble((f"\n{visible(offer.warning)}", "yellow")))
        super().__init__(title, said, patience)
        self._scope = offer.scope
        self._times, usual = _TIMES.get(offer.scope, (GRANT_SECONDS, None))
        self._uses, self._time = 0, [seconds for seconds, _ in self._times].index(usual)

    def compose_answer(self) -> ComposeResult:
        yield Static(id="limits")
        yield Static(Text("This is a grant: `handrail grants revoke` revokes it.", style="dim"))
        yield Static(id="below")

    def on_mount(self) -> None:
        self._show_limits()

    def take(self, key: str) -> None:
        match key:
            case "u":
                self._uses = (self._uses + 1) % len(GRANT_USES)
            case "t":
                self._time = (self._time + 1) % len(self._times)
            case "y":
                uses, seconds = GRANT_USES[self._uses][0], self._times[self._time][0]
                self.dismiss(Choice(True, self._scope, uses=uses, expires_in_seconds=seconds))
            case _:
                return
        self._show_limits()

    def _show_limits(self) -> None:
        lines = (
            ("\n u ", f"for {GRANT_USES[self._uses][1]}\n"),
            (" t ", f"at most for {self._times[self._time][1]}\n"),
            (f" {YES} ", "approve    "),
            ("Esc ", "goes back\n"),
        )
        text = Text()
        for key, words in lines:
            text.append(key, style="bold green").append(words)
        self.query_one("#limits", Static).update(text)


class StopDialog(KeyDialog[str]):
    """Which of its keys was pressed: all of a session ends, or one call of it."""

    def __init__(self, session_id: str, patience: Patience, *, call: str | None = None):
        all_of_it = (
            f"\nAll calls of session {visible(session_id)} end, including commands that are "
            "running. "
            "The grants for this session are revoked, and it can make no more calls.\n"
        )
        said = [Text(all_of_it)]
        self._keys = {YES: "stop the session"}
        if call is not None:
            self._keys["e"] = f"cancel only this call: {call}"
        for key, words in self._keys.items():
            said.append(Text.assemble((f" {key} ", "bold red"), visible(words)))
        super().__init__("Stop the whole session?", said, patience)

    def take(self, key: str) -> None:
        if key in self._keys:
            self.dismiss(key)


class UndoDialog(KeyDialog[str]):
    """Which of its keys was pressed: one call is undone, or all of its session."""

    def __init__(self, call: str, session_id: str, patience: Patience):
        words = (
            "\nIts files become what they were before the call. If one of them was changed since, "
            "nothing of it is undone.\n"
        )
        self._keys = {
            YES: f"undo {call}",
            "s": f"undo all calls of session {session_id}, the last one first",
        }
        said = [Text(words)]
        for key, meaning in self._keys.items():
            said.append(Text.assemble((f" {key} ", "bold red"), visible(meaning)))
        super().__init__("Undo this call?", said, patience)

    def take(self, key: str) -> None:
        if key in self._keys:
            self.dismiss(key)


class LeaveDialog(KeyDialog[str]):
    """Says what ends together with the screen."""

    def __init__(self, ends_with_it: str, patience: Patience):
        said = [
            Text(f"\n{ends_with_it}\n"),
            Text.assemble((f" {YES} ", "bold red"), "quit"),
        ]
        super().__init__("Quit?", said, patience)

    def take(self, key: str) -> None:
        if key == YES:
            self.dismiss(key)


WIDEST = "Approve everything in this session?"
_TITLES = {
    Scope.CLASS: "Approve this call, and others like it",
    Scope.PROJECT: "Approve this call, and always others like it in this project",
}
# For how long a grant of a scope may hold, and what is proposed first.
_TIMES = {
    Scope.PROJECT: (LASTING_CHOICES, LASTING_SECONDS),
    Scope.SESSION: (GRANT_SECONDS, 3600),
}
KEYS = (
    ("a", "approve this call, once"),
    ("c", "approve calls like it; first shows what that covers"),
    ("p", "approve calls like it always in this project; first shows what that covers"),
    ("s", "approve everything in the session, after a second step"),
    ("r", "refuse, with a reason that the agent reads"),
    ("x", "stop the session; in the list of running calls also one call"),
    ("u", "in the history: undo a call or its session"),
    ("j k ↓ ↑", "next, previous"),
    ("Space b", "scroll down, scroll up; G and g: to the end, to the start"),
    ("1 2 3", "waiting, running, history"),
    ("t", "light or dark"),
    ("?", "this list"),
    ("q", "quit"),
)
_DEAD = (
    "\nA key counts only if it is pressed alone, and after the card has been on the screen for a "
    "moment, so that typing meant for something else never decides. Calls that are high or "
    f"critical, that cover more calls, or that you have not seen in full need the word {WORD!r}.\n"
)


def help_dialog() -> Dialog[None]:
    lines = [Text.assemble((f" {keys:<9}", "bold green"), words) for keys, words in KEYS]
    return Dialog("Keys", [Text(), *lines, Text(_DEAD, style="dim")])

"""The terminal's app: one screen, two looks."""

import asyncio
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from handrail.core.errors import HandrailError
from handrail.tui.attention import Patience
from handrail.tui.desk import Desk
from handrail.tui.dialogs import help_dialog
from handrail.tui.inbox import Inbox
from handrail.tui.line import Line
from handrail.tui.themes import DARK, DARK_COLOURS, LIGHT, LIGHT_COLOURS, first_theme

_DEFAULT_PATIENCE = Patience()


class HandrailApp(App[HandrailError]):
    """Ends with the trouble that ended it, or with None when its person has left."""

    TITLE = "Handrail"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", priority=True, show=False),
    ]
    CSS = """
    .dialog {
        width: 76; max-width: 96%; height: auto; max-height: 96%; overflow-y: auto;
        padding: 1 2; background: $surface; border: round $primary 50%;
    }
    ModalScreen { align: center middle; background: $background 60%; }
    .dialog Static { height: auto; }
    #status { height: 1; background: $panel; color: $foreground; }
    #views { height: 1fr; }
    #waiting { layout: horizontal; }
    #waiting-rows { width: auto; min-width: 44; max-width: 50%; border-right: solid $panel; }
    #card { width: 1fr; padding: 0 1; }
    Lines {
        scrollbar-color: $foreground 25%; scrollbar-background: $background;
        scrollbar-size-vertical: 1;
    }
    Desk.-narrow #waiting { layout: vertical; }
    Desk.-narrow #waiting-rows {
        width: 1fr; max-width: 100%; height: auto; max-height: 25%; border-right: none;
        border-bottom: solid $panel;
    }
    Desk.-narrow #card { height: 1fr; }
    #word { height: auto; max-height: 3; padding: 0 1; color: $warning; }
    #bar { height: 2; background: $panel; padding: 0 1; }
    .dialog Input { margin-top: 1; border: tall $primary 50%; }
    """

    def __init__(
        self,
        line: Line,
        inbox: Inbox | None = None,
        patience: Patience = _DEFAULT_PATIENCE,
        ends_with_it: str | None = None,
    ):
        """`ends_with_it` says what else ends when the person leaves; they are asked before."""
        super().__init__()
        self.inbox = inbox or Inbox()
        self.is_open = asyncio.Event()
        self.desk = Desk(line, self.inbox, patience, ends_with_it)

    async def on_mount(self) -> None:
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.ansi_theme_dark, self.ansi_theme_light = DARK_COLOURS, LIGHT_COLOURS
        self.theme = first_theme()
        await self.push_screen(self.desk)
        self.is_open.set()

    def on_app_focus(self) -> None:
        # Who comes back from another window has not looked yet.
        self.desk.look_anew()

    def action_help(self) -> None:
        self.push_screen(help_dialog())

    def action_turn_light(self) -> None:
        """From dark to light, or back."""
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

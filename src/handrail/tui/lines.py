"""Lines of text of which only those in sight are drawn, however many there are."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

# Knows what styles are called; the screen itself draws.
_STYLES = Console()


class Lines(ScrollView, can_focus=False):
    """Text to be read and scrolled. It knows whether its end has been in sight."""

    DEFAULT_CSS = "Lines { overflow-x: hidden; scrollbar-gutter: stable; }"

    class Widened(Message):
        """The lines have another width, so their text has to be wrapped again."""

        def __init__(self, lines: "Lines"):
            super().__init__()
            self.lines = lines

        @property
        def control(self) -> "Lines":
            return self.lines

    def __init__(self, *, id: str):
        super().__init__(id=id)
        self._drawn: Sequence[Text] = ()
        self._width = 0
        self.end_was_seen = False

    def show(self, lines: Sequence[Text], *, anew: bool) -> None:
        """Show these lines; from the top, and with an end not seen yet, where they are `anew`."""
        self._drawn = lines
        self.virtual_size = Size(0, len(lines))
        if anew:
            self.end_was_seen = False
            self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.refresh()
        self.call_after_refresh(self._look_for_end)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.call_after_refresh(self._look_for_end)

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        if width == self._width:
            self._look_for_end()
            return
        self._width = width
        # Lines that were too long for this width were cut, so their end was not in view.
        self.end_was_seen = False
        self.post_message(self.Widened(self))

    def _look_for_end(self) -> None:
        height = self.scrollable_content_region.height
        if height > 0 and self.scroll_offset.y + height >= len(self._drawn):
            self.end_was_seen = True

    def line(self, number: int) -> tuple[Text, str]:
        """A line, and the class of its look."""
        return self._drawn[number], ""

    def count(self) -> int:
        return len(self._drawn)

    def render_line(self, y: int) -> Strip:
        number, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if number >= self.count():
            return Strip.blank(width, self.rich_style)
        text, look = self.line(number)
        style = self.get_component_rich_style(look) if look else self.rich_style
        text = text.copy()
        text.truncate(width, overflow="ellipsis")
        segments = Segment.apply_style(text.render(_STYLES), style)
        return Strip(segments).adjust_cell_length(width, style)


class Rows(Lines):
    """Rows to choose from. They are made when they come in sight."""

    COMPONENT_CLASSES = {"rows--chosen"}  # noqa: RUF012  Textual's own way
    DEFAULT_CSS = "Rows > .rows--chosen { background: $primary 25%; text-style: bold; }"

    class Chosen(Message):
        """A row was clicked: the name of what it told of then."""

        def __init__(self, rows: "Rows", name: str):
            super().__init__()
            self.rows = rows
            self.name = name

        @property
        def control(self) -> "Rows":
            return self.rows

    def __init__(self, *, id: str):
        super().__init__(id=id)
        self._names: Sequence[str] = ()
        self._make: Callable[[int], Text] = lambda number: Text()
        self.chosen: int | None = None
        self._widest = 0

    def widen(self, cells: int) -> None:
        """Make room for rows of this width, if they need more than any before."""
        if cells > self._widest:
            self._widest = cells
            self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self._widest + self.scrollbar_size_vertical

    def fill(self, names: Sequence[str], make: Callable[[int], Text], chosen: int | None) -> None:
        """Show a row for each of these names, and with it what was made of its number."""
        self._names, self._make = names, make
        self.virtual_size = Size(0, len(names))
        if chosen != self.chosen and chosen is not None:
            self.chosen = chosen
            self.call_after_refresh(self._bring_in_sight)
        self.chosen = chosen
        self.refresh()

    def line(self, number: int) -> tuple[Text, str]:
        return self._make(number), "rows--chosen" if number == self.chosen else ""

    def count(self) -> int:
        return len(self._names)

    def on_click(self, event: events.Click) -> None:
        number = event.y + self.scroll_offset.y
        if number < len(self._names):
            self.post_message(self.Chosen(self, self._names[number]))

    def _bring_in_sight(self) -> None:
        if self.chosen is not None:
            region = Region(0, self.chosen, self.size.width, 1)
            self.scroll_to_region(region, animate=False, force=True)

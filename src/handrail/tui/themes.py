"""The two looks of the screens: the colours of the console, dark and light."""

import os

from rich.terminal_theme import TerminalTheme
from textual.theme import Theme

DARK = Theme(
    name="handrail-dark",
    primary="#2dd4bf",
    foreground="#ececec",
    background="#0c0d0f",
    surface="#141619",
    panel="#1d2024",
    success="#4ade80",
    warning="#fbbf24",
    error="#f87171",
    dark=True,
)
LIGHT = Theme(
    name="handrail-light",
    primary="#0f6b64",
    foreground="#1c1917",
    background="#fafaf9",
    surface="#ffffff",
    panel="#f1f0ee",
    success="#166534",
    warning="#92400e",
    error="#b91c1c",
    dark=False,
)

Rgb = tuple[int, int, int]


def _rgb(colour: str | None) -> Rgb:
    assert colour is not None  # noqa: S101  both themes name all of them
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def named_colours(theme: Theme, blue: str, magenta: str) -> TerminalTheme:
    """What the card's plain colours are here."""
    colours = [
        _rgb(one)
        for one in (
            theme.panel,
            theme.error,
            theme.success,
            theme.warning,
            blue,
            magenta,
            theme.primary,
            theme.foreground,
        )
    ]
    return TerminalTheme(_rgb(theme.background), _rgb(theme.foreground), colours, colours)


DARK_COLOURS = named_colours(DARK, "#7aa7ff", "#e879f9")
LIGHT_COLOURS = named_colours(LIGHT, "#1d4ed8", "#a21caf")

# What terminals say of themselves: the last number is the background, and these are light ones.
_LIGHT_BACKGROUNDS = ("7", "15")


def first_theme() -> str:
    """The look that fits the terminal, as far as it tells."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in _LIGHT_BACKGROUNDS else DARK.name

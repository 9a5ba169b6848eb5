"""Terminal sequences: how a program's screen is left, and the one for Handrail's own words."""

import re

ALTERNATE, MAIN, CLEAR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[H\x1b[2J"
# Ends what a program has begun and not finished: a title, a sequence.
CANCEL = b"\x18"
# Soft reset, colours, letters, palette, margins, title, keyboard, insertion, reversed screen,
# mouse, paste and held-back output: no program may decide how a card looks, or which keys are told.
SANE = (
    b"\x1b[!p\x1b[m\x1b(B\x0f\x1b]104\x07\x1b]110\x07\x1b]111\x07\x1b]112\x07\x1b]0;Handrail\x07"
    b"\x1b[?69l\x1b[r\x1b>\x1b[=0u\x1b[>4m\x1b[4l\x1b[20l\x1b[?7h\x1b[?25h"
) + b"".join(
    b"\x1b[?%dl" % mode
    for mode in (1, 5, 6, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026)
)

_MODES = {b"47", b"1047", b"1049"}
_SEQUENCE = re.compile(rb"\x1b(?:c|\[\?(?P<modes>[0-9;]*)(?P<is_set>[hl]))")
_UNFINISHED = re.compile(rb"\x1b(?:\[(?:\?[0-9;]{0,100})?)?\Z")
# A terminal carries these out in the middle of a sequence.
_CONTROLS = bytes({*range(0x20), 0x7F} - {0x18, 0x1A, 0x1B})


def scrolled_away(rows: int) -> bytes:
    """Moves what is on the screen above it, where it can be read again, and clears the screen."""
    return b"\x1b[999;1H" + b"\r\n" * rows + CLEAR


class ScreenFollower:
    """Knows whether a program draws on the alternate screen, by all that it prints."""

    def __init__(self) -> None:
        self.is_alternate = False
        self._unfinished = b""

    def follow(self, printed: bytes) -> None:
        text = self._unfinished + printed.translate(None, _CONTROLS)
        for found in _SEQUENCE.finditer(text):
            if found["modes"] is None:
                # A full reset.
                self.is_alternate = False
            elif not _MODES.isdisjoint(found["modes"].split(b";")):
                self.is_alternate = found["is_set"] == b"h"
        rest = _UNFINISHED.search(text)
        self._unfinished = b"" if rest is None else rest[0]

"""Which screen a program draws on, by what it prints."""

import pytest

from handrail.app.terminal_modes import ScreenFollower


def is_alternate_after(*pieces: bytes) -> bool:
    follower = ScreenFollower()
    for piece in pieces:
        follower.follow(piece)
    return follower.is_alternate


@pytest.mark.parametrize("mode", [b"47", b"1047", b"1049", b"25;1049", b"1049;1000"])
def test_every_mode_of_the_alternate_screen_is_known(mode: bytes) -> None:
    begin, end = b"\x1b[?" + mode + b"h", b"\x1b[?" + mode + b"l"

    assert is_alternate_after(b"words" + begin + b"words")
    assert not is_alternate_after(begin, end)
    assert is_alternate_after(begin + end + begin)


def test_a_sequence_may_come_in_any_pieces_and_around_control_characters() -> None:
    sequence = b"\x1b[?1049h"

    assert is_alternate_after(*(sequence[at : at + 1] for at in range(len(sequence))))
    assert is_alternate_after(b"\x1b[?10\n4", b"\r9h")


def test_other_sequences_change_nothing() -> None:
    assert not is_alternate_after(b"\x1b[?25h\x1b[1049h?1049h\x1b]0;[?1049h\x07\x1b[?10491h")
    assert is_alternate_after(b"\x1b[?1049h", b"\x1b[?25l\x1b[0m")


def test_a_full_reset_leaves_the_alternate_screen() -> None:
    assert not is_alternate_after(b"\x1b[?1049h", b"\x1bc")

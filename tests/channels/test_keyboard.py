"""Keys are heard one by one, from a moment on, and the terminal is left as it was found."""

import asyncio
import os
import termios
from collections.abc import Callable, Coroutine

import pytest
import uvloop

from handrail.channels.keyboard import END, ESCAPE, SEVERAL, Keyboard
from tests.channels.conftest import Screen
from tests.client.conftest import until

PATIENCE = 5.0


async def next_keys(keyboard: Keyboard, count: int) -> list[str | None]:
    return [await keyboard.key(PATIENCE) for _ in range(count)]


async def test_keys_are_heard_as_they_are_pressed(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type("a")
        assert await keyboard.key(PATIENCE) == "a"
        screen.type("bc\r")
        # Enter arrives as the terminal gives it: a line feed.
        assert await next_keys(keyboard, 3) == ["b", "c", "\n"]


async def test_nobody_typing_is_noticed(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        assert await keyboard.key(0.05) is None


@pytest.mark.parametrize("ahead", ["a", "a\n", "a\na\na\n", "a" * 500])
async def test_what_was_typed_before_is_thrown_away(screen: Screen, ahead: str) -> None:
    screen.type(ahead)
    await asyncio.sleep(0.05)  # It lies ready for whoever reads.

    with Keyboard(screen.fd, 0) as keyboard:
        assert await keyboard.key(0.2) is None
        screen.type("b")
        assert await keyboard.key(PATIENCE) == "b"


async def test_what_is_typed_in_the_deaf_moment_is_thrown_away(
    screen: Screen, typed_at_the_last_moment: Callable[..., list[str]]
) -> None:
    typed_at_the_last_moment("aaa")

    with Keyboard(screen.fd, 0.1) as keyboard:
        assert await keyboard.key(1) is None
        screen.type("b")

        assert await keyboard.key(PATIENCE) == "b"


async def test_the_end_of_a_line_that_began_in_the_deaf_moment_is_thrown_away_too(
    screen: Screen, typed_at_the_last_moment: Callable[..., list[str]]
) -> None:
    typed = typed_at_the_last_moment("ban", "an", "a")

    with Keyboard(screen.fd, 0.1, 0.05) as keyboard:
        await screen.is_heard()
        assert typed == ["ban", "an", "a"]
        assert await keyboard.key(0.2) is None
        screen.type("b")

        assert await keyboard.key(PATIENCE) == "b"


async def test_a_terminal_that_goes_in_the_deaf_moment_is_the_end_of_the_keys(
    screen: Screen,
) -> None:
    with Keyboard(screen.fd, 0.1, 0.05) as keyboard:
        screen.hang_up()

        assert await keyboard.key(PATIENCE) == END


async def test_what_was_typed_before_is_heard_by_who_asks_for_it(screen: Screen) -> None:
    screen.type("a\nb")
    await asyncio.sleep(0.05)  # It lies ready for whoever reads.

    with Keyboard(screen.fd, from_before=True) as keyboard:
        assert await next_keys(keyboard, 3) == ["a", "\n", "b"]


async def test_a_character_of_several_bytes_is_one_key(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        for byte in "é€😀".encode():
            screen.type(bytes([byte]))
            await asyncio.sleep(0.01)

        assert await next_keys(keyboard, 3) == ["é", "€", "😀"]


async def test_bytes_that_are_no_text_are_still_only_keys(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type(b"\xff")
        screen.type("a")

        assert await next_keys(keyboard, 2) == ["\ufffd", "a"]


@pytest.mark.parametrize(
    "keys", ["\x1b", "\x1b[A", "\x1b[a", "\x1bOc", "\x1b[3~", "\x1b[15;5~", "\x1ba"]
)
async def test_a_key_that_comes_as_a_sequence_is_an_escape_and_no_letters(
    screen: Screen, keys: str
) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type(keys)

        assert await keyboard.key(PATIENCE) == ESCAPE
        assert await keyboard.key(0.05) is None


@pytest.mark.parametrize("keys", ["x\x1b[a", "x\x1bOc", "x\x1b[a\x1b[a"])
async def test_a_sequence_behind_another_key_is_no_letters_either(
    screen: Screen, keys: str
) -> None:
    """Shift and arrow in some terminals; read in one piece with what was pressed just before."""
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type(keys)
        heard: list[str | None] = []
        while (key := await keyboard.key(0.1)) is not None:
            heard.append(key)

    assert "a" not in heard
    assert "c" not in heard


async def test_nothing_typed_is_shown_while_keys_are_heard(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type("secret")
        await next_keys(keyboard, 6)

    assert "secret" not in screen.shown


async def test_the_terminal_is_left_as_it_was(screen: Screen) -> None:
    before = screen.settings
    with Keyboard(screen.fd, 0):
        during = screen.settings
    assert screen.settings == before
    assert during != before
    assert not during[3] & (termios.ICANON | termios.ECHO)
    # Ctrl-C still interrupts.
    assert during[3] & termios.ISIG


async def test_the_terminal_is_left_as_it_was_also_after_an_error(screen: Screen) -> None:
    before = screen.settings

    with pytest.raises(ZeroDivisionError), Keyboard(screen.fd, 0):
        raise ZeroDivisionError

    assert screen.settings == before


async def test_the_terminal_is_left_as_it_was_also_when_cancelled(screen: Screen) -> None:
    before = screen.settings

    async def listen() -> None:
        with Keyboard(screen.fd, 0) as keyboard:
            await keyboard.key(PATIENCE)

    task = asyncio.create_task(listen())
    await until(lambda: screen.settings != before)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert screen.settings == before


async def test_after_it_is_closed_nothing_is_heard_any_more(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        pass
    screen.type("a\n")

    assert await keyboard.key(0.1) is None
    assert os.read(screen.fd, 10) == b"a\n"


async def test_the_end_of_a_terminal_is_the_end_of_the_keys(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type("a")
        assert await keyboard.key(PATIENCE) == "a"
        screen.hang_up()

        assert await keyboard.key(PATIENCE) == END


async def test_one_keyboard_after_another(screen: Screen) -> None:
    for key in "abc":
        with Keyboard(screen.fd, 0) as keyboard:
            screen.type(key)
            assert await keyboard.key(PATIENCE) == key


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_the_terminal_others_write_to_stays_as_it_is(
    screen: Screen, run: Callable[[Coroutine[None, None, None]], None]
) -> None:
    """Some loops make what they listen to non-blocking; then others would lose what they write."""

    async def listen() -> None:
        with Keyboard(screen.fd, 0) as keyboard:
            screen.type("a")
            assert await keyboard.key(PATIENCE) == "a"
            assert os.get_blocking(screen.fd)
            assert os.get_blocking(screen.stdout.fileno())

    run(listen())

    assert os.get_blocking(screen.fd)


async def test_a_key_stands_alone_where_a_silence_follows_it(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type("a")
        assert await keyboard.lone_key(PATIENCE, 0.02) == "a"
        screen.type("b")
        assert await keyboard.lone_key(PATIENCE, 0.02) == "b"


async def test_keys_without_a_silence_between_them_are_none(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type("abc")
        assert await keyboard.lone_key(PATIENCE, 0.02) == SEVERAL
        assert await keyboard.key(0.02) is None


async def test_a_silence_is_heard_although_nobody_was_there_to_read(screen: Screen) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        for key in "ab":
            screen.type(key)
            await asyncio.sleep(0.1)
        assert await keyboard.lone_key(PATIENCE, 0.05) == "a"
        assert await keyboard.lone_key(PATIENCE, 0.05) == "b"


async def test_behind_keys_comes_a_silence_and_what_comes_before_it_is_not_heard(
    screen: Screen,
) -> None:
    with Keyboard(screen.fd, 0) as keyboard:
        screen.type("a")
        assert await keyboard.key(PATIENCE) == "a"
        assert await keyboard.rest(0.02) is None
        screen.type("bcd")
        assert await keyboard.key(PATIENCE) == "b"
        assert await keyboard.rest(0.02) == SEVERAL
        assert await keyboard.key(0.02) is None
        screen.type("e")
        assert await keyboard.key(PATIENCE) == "e"
        screen.hang_up()
        assert await keyboard.rest(PATIENCE) == END
        assert await keyboard.lone_key(PATIENCE, PATIENCE) == END

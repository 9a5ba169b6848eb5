"""The terminal of a program, behind the one that a person sits at."""

import asyncio
import os
import pty
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Thread

import pytest

from handrail.app.terminal_relay import TerminalRelay


class Person:
    """Reads all that comes to the terminal."""

    def __init__(self, fd: int):
        self.shown = b""
        self._fd = fd
        self._thread = Thread(target=self._read)
        self._thread.start()

    def leave(self) -> None:
        self._thread.join()
        os.close(self._fd)

    def _read(self) -> None:
        with suppress(OSError):
            while piece := os.read(self._fd, 1 << 16):
                self.shown += piece


@contextmanager
def a_person() -> Generator[Person]:
    """A person at the terminal that this process has meanwhile."""
    ours, theirs = pty.openpty()
    with open(theirs, "r+b", buffering=0) as terminal, pytest.MonkeyPatch.context() as patch:
        for name in ("stdin", "stdout", "stderr"):
            patch.setattr(f"sys.{name}", terminal)
        person = Person(ours)
        yield person
    person.leave()


async def test_it_can_end_while_questions_wait() -> None:
    async def ask(relay: TerminalRelay) -> None:
        async with relay.paused():
            await asyncio.sleep(60)

    with a_person():
        async with asyncio.timeout(20), TerminalRelay.opened() as relay:
            asking = [asyncio.create_task(ask(relay)) for _ in range(2)]
            await asyncio.sleep(0.2)
            asking[0].cancel()
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        async with asyncio.timeout(5), relay.paused():
            pass


async def test_after_a_program_the_screen_is_clear_and_begins_with_handrails_words() -> None:
    with a_person() as person:
        async with TerminalRelay.opened() as relay:
            os.write(relay.streams.stdout, b"\x1b[?47h\x1b[31mApproved by Handrail")
            relay.close_program_side()

    said, _, after = person.shown.partition(b"\x18")
    assert said.endswith(b"Approved by Handrail")
    assert after.startswith(b"\x1b[?1049l")
    assert b"\x1b[H\x1b[2JHandrail: the program has ended." in after


async def test_a_program_that_prints_nothing_leaves_the_screen_as_it_is() -> None:
    with a_person() as person:
        async with TerminalRelay.opened():
            pass

    assert person.shown == b""

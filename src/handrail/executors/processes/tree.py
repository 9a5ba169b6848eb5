"""A process with all that it has started, and its end."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from typing import Protocol

from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.executors.processes.output import Output
from handrail.executors.processes.start import Process, Started

_POLL_SECONDS = 0.02
_MOMENT_SECONDS = 0.001
_MOST_SECONDS = 4.0
_LOOK_SECONDS = 1.0
# A little longer than the program of a fence tries to end all others.
_KEPT_SECONDS = 5.0
_HAS_PROC = os.path.isdir("/proc/self")
# A box tells of a signal as a shell does, by a number that some programs also choose themselves.
_BY_SIGNAL = 128
_DEADLY = {
    *(signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL),
    *(signal.SIGFPE, signal.SIGSYS, signal.SIGXCPU, signal.SIGXFSZ),
}


class HasTraffic(Protocol):
    """Counts what a command sends and receives: its proxy."""

    @property
    def traffic(self) -> Traffic: ...


class Tree(Protocol):
    @property
    def process(self) -> Started: ...

    @property
    def exit_code(self) -> int | None:
        """What the command ended with, below zero for a signal; None where it has never begun."""
        ...

    @property
    def traffic(self) -> Traffic:
        """What it has said to the network, as far as anybody could listen."""
        ...

    @property
    def kept_from_it(self) -> tuple[str, ...]:
        """What of the workspace it could not see, by paths from the root."""
        ...

    async def end(self, grace_seconds: float) -> None:
        """Ask all to end, and make them after the grace; what the process left has had its time."""
        ...


class OpenTree:
    """Without a box: the group and, where the system tells, those who have left the group.

    They are known by the session, which nobody can join, or by the home in their environment. Who
    has shed both cannot be told from a child that somebody else has started; unless there is a
    fence, whose program they come to: then it `is_kept`, and the process is that program.
    """

    traffic = NO_TRAFFIC
    kept_from_it = ()

    def __init__(self, process: Process, home: str, *, is_kept: bool = False):
        self.process = process
        self._home = home
        self._is_kept = is_kept

    @property
    def exit_code(self) -> int | None:
        return self.process.returncode

    async def end(self, grace_seconds: float) -> None:
        try:
            if self.process.returncode is None:
                self._signal(signal.SIGTERM)
                await _within(grace_seconds, self._wait_until_gone())
        finally:
            if self._is_kept and self.process.returncode is None:
                # It ends all others and then itself, once it knows of nobody left.
                _signal_each([self.process.pid], signal.SIGUSR1)
                await _within(_KEPT_SECONDS, self.process.wait())
            # First those below: behind a fence, whoever they leave comes to the process itself.
            if self.process.returncode is None and _HAS_PROC:
                end_below(self.process.pid)
            self._signal_group(signal.SIGKILL)
        await self.process.wait()

    async def _wait_until_gone(self) -> None:
        # Nobody tells of the end of a group, nor of strangers' children.
        while not self._is_gone():  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)

    def _is_gone(self) -> bool:
        if self.process.returncode is None:
            return False
        # A group counts its dead until somebody has buried them.
        return not (self._members() if _HAS_PROC else self._signal_group(0))

    def _members(self) -> list[int]:
        return _alive_with(f"HOME={self._home}", self.process.pid)

    def _signal(self, number: int) -> None:
        self._signal_group(number)
        _signal_each(self._members(), number)

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


class BoxedTree:
    """In a box: `process` is bubblewrap, and `status` where it says whom it has started.

    `alive` ends with the first process in the box, which outlives all others there. `proxy` is its
    way out, if it has one.
    """

    proxy: HasTraffic | None = None
    kept_from_it: tuple[str, ...] = ()

    def __init__(self, process: Started, status: Output, alive: Output):
        self.process = process
        self._status = status
        self._alive = alive

    @property
    def exit_code(self) -> int | None:
        ended = self.process.returncode
        if ended is not None and ended < 0:
            return ended
        code = self._said("exit-code")
        return _BY_SIGNAL - code if code is not None and code - _BY_SIGNAL in _DEADLY else code

    @property
    def traffic(self) -> Traffic:
        return NO_TRAFFIC if self.proxy is None else self.proxy.traffic

    async def end(self, grace_seconds: float) -> None:
        first = await self.first()
        try:
            if first is not None and self.process.returncode is None:
                _signal_each(list(descendants(first)), signal.SIGTERM)
                await _within(grace_seconds, self.process.wait())
        finally:
            self._kill(first)
        await self._alive.ended.wait()
        # It lets go of the line a moment before the kernel has ended all the others for it.
        while first is not None and _is_there(first):  # noqa: ASYNC110
            await asyncio.sleep(_MOMENT_SECONDS)
        await self.process.wait()

    async def first(self) -> int | None:
        """Whom bubblewrap has started. It says so at once, and must have before it is killed."""
        while (first := self._said("child-pid")) is None and not self._status.ended.is_set():  # noqa: ASYNC110
            await asyncio.sleep(_MOMENT_SECONDS)
        return first

    def _kill(self, first: int | None) -> None:
        """End the first in the box, and with it all others. bubblewrap would not, while it starts.

        As long as it holds the line, nobody else has its number.
        """
        if first is not None and not self._alive.ended.is_set():
            _signal_each([first], signal.SIGKILL)
        elif first is None:
            self.process.kill()

    def _said(self, key: str) -> int | None:
        """The status is one JSON object after another, the last one perhaps not whole yet."""
        for line in bytes(self._status.kept).splitlines():
            with suppress(ValueError):
                if isinstance(value := json.loads(line).get(key), int):
                    return value
        return None


async def _within(seconds: float, work: Coroutine[object, object, object]) -> None:
    """Wait for so long, also where we have been called off before.

    Not by `asyncio.timeout`: in Python 3.11.2 we would be called off anew when the time is up, and
    go without having seen the end.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(work, seconds)


def end_strays(mark: str, session: int | None) -> None:
    """Whoever left the group, and whoever they start while we look."""
    end = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < end:
        left = _alive_with(mark, session)
        if not left:
            return
        _signal_each(left, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def end_below(pid: int) -> None:
    """Everybody below a process, until there is nobody; not the process itself."""
    end = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < end:
        left = [one for one in descendants(pid) if _is_there(one)]
        if not left:
            return
        _signal_each(left, signal.SIGKILL)
        time.sleep(_MOMENT_SECONDS)


def descendants(pid: int) -> Iterator[int]:
    """Everybody below a process, as far as the system tells."""
    children: dict[int, list[int]] = {}
    for name in _numbers():
        with suppress(OSError, ValueError):
            children.setdefault(parent_of(name), []).append(int(name))
    todo = children.get(pid, [])
    while todo:
        one = todo.pop()
        yield one
        todo += children.get(one, [])


def _numbers() -> Iterator[str]:
    """All processes. Who starts others all the time makes a list of them that never ends."""
    end = time.monotonic() + _LOOK_SECONDS
    with os.scandir("/proc") as entries:
        for entry in entries:
            if time.monotonic() > end:
                return
            if entry.name.isdecimal():
                yield entry.name


def parent_of(pid: str) -> int:
    return int(_stat_of(pid)[1])


def _alive_with(mark: str, session: int | None) -> list[int]:
    """Everybody in a session, or whose words hold a mark of ours alone. Linux only."""
    found: list[int] = []
    for name in _numbers() if _HAS_PROC else ():
        with suppress(OSError):
            if _is_alive_in(session, name) or mark.encode() in _words_of(name):
                found.append(int(name))
    return [pid for pid in found if pid != os.getpid()]


def _is_there(pid: int) -> bool:
    try:
        return _stat_of(str(pid))[0] not in (b"Z", b"X")
    except OSError:
        return False


def _words_of(pid: str) -> list[bytes]:
    """What a process was started with: its arguments, and its environment as far as we may know."""
    words = _read(f"/proc/{pid}/cmdline").split(b"\0")
    with suppress(PermissionError):
        words += _read(f"/proc/{pid}/environ").split(b"\0")
    return words


def _is_alive_in(session: int | None, pid: str) -> bool:
    state, _, _, its_session = _stat_of(pid)[:4]
    return int(its_session) == session and state not in (b"Z", b"X")


def _stat_of(pid: str) -> list[bytes]:
    """State, parent, group, session and more: what stands behind the name in brackets."""
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _signal_each(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)

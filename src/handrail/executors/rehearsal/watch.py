"""Watching the boxes of one rehearsal: they end when they have used up what they may.

The kernel limits files in memory and each single process. Sums over processes it limits only by
control groups, which an ordinary user has none of; so they are looked at ten times a second.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import NamedTuple, Self

from handrail.executors.rehearsal.caps import Cap, Caps, machine_bytes

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# So little is left of a file system in memory only if something has tried to fill it.
_LEAST_BYTES = 256 << 10
_LEAST_FILES = 8
# Memory of no process, such as that of files without a name, is seen by what the machine has left.
_LEAST_MEMORY_BYTES = min(256 << 20, machine_bytes() // 20)
_ZOMBIE = b"Z"


class Filled(NamedTuple):
    """A file system that can be filled; `used` counts it where the kernel sets no limit."""

    fd: int
    bytes: Cap
    files: Cap
    used: Callable[[], Awaitable[tuple[int, int]]] | None = None


class _Usage(NamedTuple):
    cpu_seconds: float
    memory_bytes: int
    processes: int


class Watch:
    """All boxes of one rehearsal, known by their first processes."""

    def __init__(self, caps: Caps, session_cpu_left: float, filled: tuple[Filled, ...]):
        self.exceeded: Cap | None = None
        self._caps = caps
        self._session_cpu_left = session_cpu_left
        self._filled = filled
        self._full_before: set[int] = set()
        self._boxes: dict[int, int] = {}
        self._cpu: dict[int, float] = {}
        self._group = asyncio.TaskGroup()
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        # An earlier rehearsal may have filled a place that this one has come to clear.
        self._full_before = {place.fd async for place, _ in self._full_places()}
        await self._group.__aenter__()
        self._looking = self._group.create_task(self._look_repeatedly())
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Look once more: a command can fill a place in less time than lies between two looks."""
        if self._looking is not None:
            self._looking.cancel()
        try:
            # Without the exception: it is the caller's, and needs no group around it.
            await self._group.__aexit__(None, None, None)
        finally:
            for fd in self._boxes.values():
                os.close(fd)
            self._boxes.clear()
        self.exceeded = self.exceeded or await self._what_is_full()

    @property
    def cpu_seconds(self) -> float:
        return sum(self._cpu.values())

    def add(self, first: int) -> None:
        """Watch a box, whose first process this is, until it is taken off."""
        with suppress(OSError):
            # Of a box's own /proc, which lists nothing but what runs in it.
            self._boxes[first] = os.open(f"/proc/{first}/root/proc", os.O_RDONLY | os.O_DIRECTORY)

    def start(self, task: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Have something done beside, by the end of the rehearsal."""
        return self._group.create_task(task)

    def take_off(self, first: int) -> None:
        """Count what a box has used in all; its first process has waited for those that ended."""
        with suppress(OSError, ValueError, IndexError):
            self._count_cpu(first, _cpu_of(_read(f"/proc/{first}/stat")))
        if (fd := self._boxes.pop(first, None)) is not None:
            with suppress(OSError):
                self._count_cpu(first, _usage(fd, self._caps.processes).cpu_seconds)
            os.close(fd)
        self._check_cpu()

    async def _look_repeatedly(self) -> None:
        while self.exceeded is None:
            await asyncio.sleep(self._caps.interval_seconds)
            self._note(await self._what_is_full() or self._what_is_used_up())

    def _note(self, cap: Cap | None) -> None:
        if cap is None or self.exceeded is not None:
            return
        self.exceeded = cap
        for first in self._boxes:
            with suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)

    async def _what_is_full(self) -> Cap | None:
        """What this rehearsal has filled; a place that was full before counts once it was not."""
        full = {place.fd: cap async for place, cap in self._full_places()}
        self._full_before &= full.keys()
        return next((cap for fd, cap in full.items() if fd not in self._full_before), None)

    async def _full_places(self) -> AsyncIterator[tuple[Filled, Cap]]:
        for place in self._filled:
            if place.used is not None:
                used_bytes, used_files = await place.used()
                left_bytes = self._caps.changed_bytes - used_bytes
                left_files = self._caps.changed_files - used_files
            else:
                found = os.fstatvfs(place.fd)
                left_bytes, left_files = found.f_bavail * found.f_frsize, found.f_favail
            if left_bytes < _LEAST_BYTES:
                yield place, place.bytes
            elif left_files < _LEAST_FILES:
                yield place, place.files

    def _what_is_used_up(self) -> Cap | None:
        used: list[_Usage] = []
        for first, fd in self._boxes.items():
            with suppress(OSError):
                used.append(_usage(fd, self._caps.processes))
                self._count_cpu(first, used[-1].cpu_seconds)
        self._check_cpu()
        if sum(one.processes for one in used) > self._caps.processes:
            return Cap.PROCESSES
        # This counts twice what processes share, and the programs themselves.
        if sum(one.memory_bytes for one in used) > self._caps.memory_bytes:
            exact = sum(_proportional_bytes(fd) for fd in self._boxes.values())
            if exact > self._caps.memory_bytes:
                return Cap.MEMORY
        if _memory_left() < _LEAST_MEMORY_BYTES:
            return Cap.MEMORY
        return None

    def _count_cpu(self, first: int, seconds: float) -> None:
        """Never less than before: who has ended without being waited for is in no later sum."""
        self._cpu[first] = max(self._cpu.get(first, 0.0), seconds)

    def _check_cpu(self) -> None:
        if self.cpu_seconds > self._session_cpu_left:
            self._note(Cap.SESSION_CPU)
        elif self.cpu_seconds > self._caps.cpu_seconds:
            self._note(Cap.CPU)


def _usage(proc_fd: int, most: int) -> _Usage:
    """What the processes of one box have used so far, those included that were waited for."""
    pids = _pids(proc_fd)
    cpu, memory = 0.0, 0
    for pid in pids[: most + 1]:
        with suppress(OSError, ValueError, IndexError):
            cpu += _cpu_of(_read(f"{pid}/stat", proc_fd))
            memory += int(_read(f"{pid}/statm", proc_fd).split()[1]) * _PAGE_BYTES
    return _Usage(cpu, memory, len(pids))


def _proportional_bytes(proc_fd: int) -> int:
    """Memory that was written to, each page counted once, however many processes share it."""
    found = 0
    for pid in _pids(proc_fd):
        with suppress(OSError, ValueError, IndexError):
            for line in _read(f"{pid}/smaps_rollup", proc_fd).splitlines():
                if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")):
                    found += int(line.split()[1]) << 10
    return found


def _memory_left() -> int:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith(b"MemAvailable:"):
            return int(line.split()[1]) << 10
    return _LEAST_MEMORY_BYTES


def children_of(pid: int) -> list[int] | None:
    """The living children of a process with one thread; None if the kernel keeps no list."""
    try:
        found = [int(one) for one in _read(f"/proc/{pid}/task/{pid}/children").split()]
    except FileNotFoundError:
        return None if is_alive(pid) else []
    except OSError:
        return []
    return [child for child in found if is_alive(child)]


def number_in_box(pid: int) -> int | None:
    """The number of a process in its own process namespace; None if it has ended."""
    try:
        status = _read(f"/proc/{pid}/status")
    except OSError:
        return None
    numbers = next((row for row in status.splitlines() if row.startswith(b"NSpid:")), b"")
    return int(numbers.split()[-1]) if numbers else None


def is_alive(pid: int) -> bool:
    try:
        return _fields(_read(f"/proc/{pid}/stat"))[0] != _ZOMBIE
    except OSError:
        return False


def _cpu_of(content: bytes) -> float:
    """Seconds of a process and of those it has waited for."""
    return sum(map(int, _fields(content)[11:15])) / _TICKS


def _fields(content: bytes) -> list[bytes]:
    """What stands in /proc/PID/stat behind the name in brackets."""
    return content.rpartition(b")")[2].split()


def _pids(proc_fd: int) -> list[str]:
    return [name for name in os.listdir(proc_fd) if name.isdecimal()]


def _read(path: str, folder_fd: int | None = None) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder_fd)
    try:
        return os.read(fd, 1 << 16)
    finally:
        os.close(fd)

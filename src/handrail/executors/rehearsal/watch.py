"""Watching the boxes of one rehearsal: they end when they have used up what they may.

The kernel limits files in memory and each single process. Sums over processes it limits only by
control groups, which an ordinary user has none of; so they are looked at ten times a second.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from handrail.executors.rehearsal.caps import Cap, Caps

_INTERVAL_SECONDS = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# So little is left of a file system in memory only if something has tried to fill it.
_LEAST_BYTES = 256 << 10
_LEAST_FILES = 8
# Memory of no process, such as that of files without a name, is seen by what the machine has left.
_LEAST_MEMORY_BYTES = 256 << 20
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
        self._boxes: dict[int, int] = {}
        self._cpu_of_ended = 0.0
        self._cpu_of_running = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def cpu_seconds(self) -> float:
        return self._cpu_of_ended + self._cpu_of_running

    def add(self, first: int) -> None:
        """Watch a box, whose first process this is, until it is taken off."""
        with suppress(OSError):
            # Of a box's own /proc, which lists nothing but what runs in it.
            self._boxes[first] = os.open(f"/proc/{first}/root/proc", os.O_RDONLY | os.O_DIRECTORY)
        if self._task is None:
            self._task = asyncio.create_task(self._look_repeatedly())

    def take_off(self, first: int) -> None:
        """Count what a box has used in all; its first process has waited for all others."""
        if (fd := self._boxes.pop(first, None)) is not None:
            os.close(fd)
        with suppress(OSError, ValueError, IndexError):
            self._cpu_of_ended += _cpu_of(_read(f"/proc/{first}/stat"))
        self._check_cpu()

    async def close(self) -> None:
        """One last look, at what a command has filled in less time than lies between two."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self.exceeded = self.exceeded or await self._what_is_full()
        for fd in self._boxes.values():
            os.close(fd)
        self._boxes.clear()

    async def _look_repeatedly(self) -> None:
        while self.exceeded is None:
            await asyncio.sleep(_INTERVAL_SECONDS)
            self._note(await self._what_is_full() or self._what_is_used_up())

    def _note(self, cap: Cap | None) -> None:
        if cap is None or self.exceeded is not None:
            return
        self.exceeded = cap
        for first in self._boxes:
            with suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)

    async def _what_is_full(self) -> Cap | None:
        for place in self._filled:
            if place.used is not None:
                used_bytes, used_files = await place.used()
                left_bytes = self._caps.changed_bytes - used_bytes
                left_files = self._caps.changed_files - used_files
            else:
                found = os.fstatvfs(place.fd)
                left_bytes, left_files = found.f_bavail * found.f_frsize, found.f_favail
            if left_bytes < _LEAST_BYTES:
                return place.bytes
            if left_files < _LEAST_FILES:
                return place.files
        return None

    def _what_is_used_up(self) -> Cap | None:
        used = [_usage(fd, self._caps.processes) for fd in self._boxes.values()]
        self._cpu_of_running = sum(one.cpu_seconds for one in used)
        self._check_cpu()
        if sum(one.processes for one in used) > self._caps.processes:
            return Cap.PROCESSES
        if sum(one.memory_bytes for one in used) > self._caps.memory_bytes:
            exact = sum(_proportional_bytes(fd) for fd in self._boxes.values())
            if exact > self._caps.memory_bytes:
                return Cap.MEMORY
        if _memory_left() < _LEAST_MEMORY_BYTES:
            return Cap.MEMORY
        return None

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
            _, resident, shared, *_ = map(int, _read(f"{pid}/statm", proc_fd).split())
            memory += (resident - shared) * _PAGE_BYTES
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
    """The children of a process with one thread that are no zombies; None if the kernel keeps no list."""
    try:
        found = [int(one) for one in _read(f"/proc/{pid}/task/{pid}/children").split()]
    except FileNotFoundError:
        return None if is_alive(pid) else []
    except OSError:
        return []
    return [child for child in found if is_alive(child)]


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

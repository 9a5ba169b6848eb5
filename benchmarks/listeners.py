"""Calls of a project with 1,000 open event streams against calls with none."""

import os
import resource
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, Self

from benchmarks.guarded import guarded
from benchmarks.load import Load
from benchmarks.outcome import Outcome
from benchmarks.worker import Worker, worker

# How many callers there are.
PROMISES = {"listeners-1": 1, "listeners-16": 16}
NAMES = tuple(PROMISES)

LISTENERS = 1_000
ROUNDS = 3
SECONDS = 2.0
TARGET = 3.0
_EVENTS_PER_CALL = 2
_HEARD_SECONDS = 30
_FILES = 8_192
_MS_PER_TICK = 1_000 / os.sysconf("SC_CLK_TCK")


class Turns(NamedTuple):
    """Processor time of the server in ms, and calls, in all turns together."""

    cpu_ms: float = 0
    calls: float = 0

    def add(self, cpu_ms: float, calls: float) -> Self:
        return self._replace(cpu_ms=self.cpu_ms + cpu_ms, calls=self.calls + calls)

    @property
    def per_call(self) -> float:
        return self.cpu_ms / self.calls


def measure(folder: Path, names: Collection[str]) -> Iterator[Outcome]:
    _raise_limit_of_open_files()
    wanted = {name: callers for name, callers in PROMISES.items() if name in names}
    turns: dict[tuple[int, int], Turns] = {}
    with (
        guarded(folder) as ready,
        worker("asker", ready.home, ready.workspace) as asker,
        worker("listener", ready.home, ready.workspace) as listener,
    ):
        for _ in range(ROUNDS):
            for count in (0, LISTENERS):
                listener.ask(do="come", count=count)
                # What came before, such as so many connections, is not to be measured.
                asker.ask(callers=1, seconds=SECONDS / 4)
                for callers in wanted.values():
                    before = turns.get((callers, count), Turns())
                    turns[callers, count] = before.add(
                        *_turn(ready.server.pid, asker, listener, callers)
                    )
                listener.ask(do="leave")
    for name, callers in wanted.items():
        most, none = turns[callers, LISTENERS].per_call, turns[callers, 0].per_call
        detail = (
            f"{most:.2f} ms of the server's processor time per call with {LISTENERS:,} listeners"
            f" against {none:.2f} ms with none"
        )
        yield Outcome.at_most(name, most / none, TARGET, detail)


def _turn(server: int, asker: Worker, listener: Worker, callers: int) -> tuple[float, float]:
    """Processor time and calls, until every listener has heard of all of them."""
    heard = _heard_by_all(listener, at_least=0)
    began = _cpu_ms(server)
    load = Load(*asker.ask(callers=callers, seconds=SECONDS))
    _heard_by_all(listener, at_least=heard + _EVENTS_PER_CALL * int(load.calls))
    return _cpu_ms(server) - began, load.calls


def _heard_by_all(listener: Worker, at_least: int) -> int:
    """How many events each listener has heard, once they agree."""
    give_up_at = time.monotonic() + _HEARD_SECONDS
    while heard := set[int](listener.ask(do="heard")):
        if len(heard) == 1 and min(heard) >= at_least:
            return min(heard)
        if time.monotonic() > give_up_at:
            raise RuntimeError(f"listeners have heard {min(heard)} to {max(heard)} events")
        time.sleep(0.1)
    return 0


def _cpu_ms(pid: int) -> float:
    """Of all its threads, in the program and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _MS_PER_TICK


def _raise_limit_of_open_files() -> None:
    """For the processes that are started from here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, hard), hard))

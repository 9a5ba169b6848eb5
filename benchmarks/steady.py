"""Ten thousand calls in a row: the last are as quick as the first, and memory does not grow."""

from collections.abc import Collection, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.guarded import guarded
from benchmarks.outcome import Outcome

RUNS = 3
CALLS = 10_000
COMPARED = 1_000
MOST_GROWTH_MB = 20
NAMES = ("steady-speed", "steady-memory")


class Run(NamedTuple):
    early_ms: float
    late_ms: float
    growth_mb: float

    @property
    def ratio(self) -> float:
        return self.late_ms / self.early_ms


def measure(folder: Path, names: Collection[str]) -> Iterator[Outcome]:
    runs = [_run(folder / str(number)) for number in range(RUNS)]
    best = min(runs, key=lambda run: run.ratio)
    if "steady-speed" in names:
        detail = f"median {best.late_ms:.2f} ms at the end, {best.early_ms:.2f} ms at the beginning"
        yield Outcome.at_most("steady-speed", best.ratio, 1.2, detail)
    if "steady-memory" in names:
        growth = min(run.growth_mb for run in runs)
        detail = f"server and client grew by {growth:.1f} MB; at most {MOST_GROWTH_MB}"
        yield Outcome.at_most("steady-memory", growth / MOST_GROWTH_MB, 1.0, detail)


def _run(folder: Path) -> Run:
    folder.mkdir()
    with guarded(folder) as (_, _, server, client):
        processes = (server.pid, client.pid)
        server.ask(do="row", count=COMPARED - 1)
        before = sum(map(_resident_mb, processes))
        took = server.ask(do="row", count=CALLS - COMPARED)
        after = sum(map(_resident_mb, processes))
    return Run(median(took[:COMPARED]), median(took[-COMPARED:]), after - before)


def _resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1000

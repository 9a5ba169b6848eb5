"""Guarded calls against the same read as an unguarded tool call, with the official MCP SDK.

All processes are up together and take turns, so that whatever slows this machine slows them all.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.guarded import guarded
from benchmarks.load import Load
from benchmarks.outcome import Outcome
from benchmarks.worker import worker

# Many short turns: what slows the machine for a second then slows both sides of a ratio.
ROUNDS = 12
SECONDS = 0.5


class Promise(NamedTuple):
    """Where the asker is, how many callers there are, and at least how many times the rate."""

    asker: str
    callers: int
    target: float


PROMISES = {
    "inside-1": Promise("inside", 1, 2.0),
    "inside-16": Promise("inside", 16, 8.0),
    "rest-1": Promise("rest", 1, 1.3),
    "rest-16": Promise("rest", 16, 5.0),
}
# The SDK can answer by an event stream or in plain JSON; the faster of the two counts.
MODES = ("streaming", "plain")


def measure(folder: Path, names: Collection[str]) -> Iterator[Outcome]:
    promises = {name: PROMISES[name] for name in PROMISES if name in names}
    runs = _take_turns(folder, promises.values())
    for name, (asker, callers, target) in promises.items():
        ours = _middle(runs[asker, callers])
        mode = max(MODES, key=lambda mode: _middle(runs[mode, callers]).rate)
        theirs = _middle(runs[mode, callers])
        detail = f"{_words(ours)} against {_words(theirs)} ({mode})"
        yield Outcome.at_least(name, ours.rate / theirs.rate, target, detail)


def _take_turns(folder: Path, promises: Collection[Promise]) -> dict[tuple[str, int], list[Load]]:
    askers = {promise.asker for promise in promises}
    runs: dict[tuple[str, int], list[Load]] = {}
    with ExitStack() as stack:
        ready = stack.enter_context(guarded(folder))
        asking: dict[str, Callable[..., Any]] = {}
        if "inside" in askers:
            asking["inside"] = partial(ready.server.ask, do="load")
        if "rest" in askers:
            asking["rest"] = stack.enter_context(worker("asker", ready.home, ready.workspace)).ask
        for mode in MODES:
            unguarded = stack.enter_context(worker("unguarded", ready.workspace, mode))
            asking[mode] = stack.enter_context(worker("mcp_caller", unguarded.greeting)).ask
        pairs = sorted(
            {(asker, promise.callers) for promise in promises for asker in (promise.asker, *MODES)}
        )
        for asker, callers in pairs:
            asking[asker](callers=callers, seconds=SECONDS / 4)
        for _ in range(ROUNDS):
            for asker, callers in pairs:
                answer = asking[asker](callers=callers, seconds=SECONDS)
                runs.setdefault((asker, callers), []).append(Load(*answer))
    return runs


def _middle(loads: list[Load]) -> Load:
    return Load(*(median(figures) for figures in zip(*loads, strict=True)))


def _words(load: Load) -> str:
    return f"{load.rate:,.0f} calls/s ({load.p50:.2f} ms, p99 {load.p99:.1f})"

"""Calls made as fast as they are answered, by so many callers at once."""

import asyncio
from collections.abc import Awaitable, Callable
from statistics import quantiles
from time import perf_counter
from typing import NamedTuple


class Load(NamedTuple):
    """Calls per second, the median and the 99th percentile of their times in ms, and how many."""

    rate: float
    p50: float
    p99: float
    calls: float


async def load(call: Callable[[], Awaitable[None]], callers: int, seconds: float) -> Load:
    took: list[float] = []
    began = perf_counter()

    async def keep_calling() -> None:
        # On a machine that stands still for a moment, there must be two times to compare.
        while (start := perf_counter()) < began + seconds or len(took) < 2:
            await call()
            took.append(perf_counter() - start)

    await asyncio.gather(*(keep_calling() for _ in range(callers)))
    elapsed = perf_counter() - began
    hundredths = quantiles(took, n=100, method="inclusive")
    return Load(len(took) / elapsed, hundredths[49] * 1000, hundredths[98] * 1000, len(took))


async def calls_in_a_row(call: Callable[[], Awaitable[None]], count: int) -> list[float]:
    """How long each took, in ms."""
    took: list[float] = []
    for _ in range(count):
        start = perf_counter()
        await call()
        took.append((perf_counter() - start) * 1000)
    return took

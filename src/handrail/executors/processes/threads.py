"""Blocking work in a thread, for callers that may be cancelled meanwhile."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def to_its_end(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Work in a thread. A cancelled caller is cancelled when the work has ended, not before."""
    loop = asyncio.get_running_loop()
    working = loop.run_in_executor(None, partial(work, *args, **kwargs))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise

"""SIGKILL and SIGSTOP at random moments, some of them just after a decision was sent."""

import asyncio
import random
from collections import Counter
from contextlib import suppress

from benchmarks.soak.deployment import PARTS, Deployment, Part

_PAUSE_SECONDS = (1.0, 5.0)
_SERVER: tuple[Part, ...] = ("server",)
_CLIENT: tuple[Part, ...] = ("client",)
_VICTIMS = [*[_SERVER] * 4, *[_CLIENT] * 3, PARTS]
_SUSPENDED_SHARE = 0.08
_SUSPENDED_SECONDS = (3.0, 14.0)
_AMID_SHARE, _AMID_SECONDS = 0.3, 0.02
_DECISION_SECONDS = 5.0


async def kill_forever(
    deployment: Deployment, decided: asyncio.Event, counts: Counter[str], chance: random.Random
) -> None:
    while True:
        await asyncio.sleep(chance.uniform(*_PAUSE_SECONDS))
        if chance.random() < _AMID_SHARE:
            decided.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(decided.wait(), _DECISION_SECONDS)
                await asyncio.sleep(chance.uniform(0, _AMID_SECONDS))
                counts["kills amid a decision"] += 1
        if chance.random() < _SUSPENDED_SHARE:
            part = chance.choice(PARTS)
            counts["suspensions"] += 1
            await deployment.suspend(part, chance.uniform(*_SUSPENDED_SECONDS))
        else:
            counts["kills"] += 1
            await deployment.kill(chance.choice(_VICTIMS), chance)

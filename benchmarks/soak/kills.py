"""SIGKILL and SIGSTOP at random moments, some of them just after a decision was sent."""

import asyncio
import random
from contextlib import suppress

from benchmarks.soak.deployment import PARTS, Deployment, Part
from benchmarks.soak.ledger import Ledger

_SHORTEST_SHARE = 0.2
_SERVER: tuple[Part, ...] = ("server",)
_CLIENT: tuple[Part, ...] = ("client",)
_VICTIMS = [*[_SERVER] * 4, *[_CLIENT] * 3, PARTS]
_SUSPENDED_SHARE = 0.08
_SUSPENDED_SECONDS = (3.0, 14.0)
_AMID_SHARE, _AMID_SECONDS = 0.3, 0.02
_DECISION_SECONDS = 5.0


async def kill_forever(
    deployment: Deployment,
    decided: asyncio.Event,
    ledger: Ledger,
    chance: random.Random,
    pause: float,
) -> None:
    """From a restart to the next kill it is at most `pause` seconds, unless for a decision."""
    counts = ledger.counts
    while True:
        await asyncio.sleep(chance.uniform(pause * _SHORTEST_SHARE, pause))
        if chance.random() < _AMID_SHARE:
            decided.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(decided.wait(), _DECISION_SECONDS)
                await asyncio.sleep(chance.uniform(0, _AMID_SECONDS))
                counts["kills amid a decision"] += 1
        if chance.random() < _SUSPENDED_SHARE:
            part = chance.choice(PARTS)
            counts["suspensions"] += 1
            ledger.note(f"suspended the {part}")
            await deployment.suspend(part, chance.uniform(*_SUSPENDED_SECONDS))
            ledger.note(f"resumed the {part}")
        else:
            victims = chance.choice(_VICTIMS)
            counts["kills"] += 1
            ledger.note(f"killed {' and '.join(victims)}")
            await deployment.kill(victims, chance)
            ledger.note(f"started {' and '.join(victims)} again")

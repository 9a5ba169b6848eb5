"""`make soak`: agents, approvers and kills for as long as you like; then the books are checked.

The processes are killed for the first part of the time. In the last third they run undisturbed,
and their memory is measured.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.soak.accounts import Findings, Line, account, growth, read_markers
from benchmarks.soak.actors import (
    Agent,
    Approver,
    Listener,
    count_pending,
    read_decisions,
    read_ends,
)
from benchmarks.soak.deployment import PARTS, Deployment
from benchmarks.soak.kills import kill_forever
from benchmarks.soak.ledger import Ledger

_UNDISTURBED_SHARE = 1 / 3
_SAMPLE_SECONDS = 1.0
_SAY_SECONDS = 30.0


async def soak(folder: Path, seconds: float, agents: int, seed: int) -> list[Line]:
    deployment, ledger = Deployment(folder), Ledger()
    (deployment.workspace / "README").write_text("Read me.\n")
    try:
        for part in PARTS:
            await deployment.start(part)
        samples = await _load(deployment, ledger, seconds, agents, seed)
        known = deployment.credentials
        ends = await read_ends(known, ledger)
        decisions = await read_decisions(known, ledger)
        pending = await count_pending(known, ledger)
    finally:
        await deployment.stop()
    found = Findings(
        ends,
        decisions,
        pending,
        await deployment.verify_audit(),
        read_markers(deployment.workspace),
        {part: growth(taken) for part, taken in samples.items()},
    )
    return list(account(ledger, found))


async def _load(
    deployment: Deployment, ledger: Ledger, seconds: float, agents: int, seed: int
) -> dict[str, list[float]]:
    """Memory of each process in the part of the time without kills."""
    known, is_over = deployment.credentials, asyncio.Event()
    approver = Approver(known, ledger, random.Random(f"{seed} approver"))
    async with asyncio.TaskGroup() as group:
        chance = random.Random(f"{seed} kills")
        kills = kill_forever(deployment, approver.sent, ledger.counts, chance)
        killing = group.create_task(kills)
        helping = [
            group.create_task(Listener(known, ledger).run()),
            group.create_task(approver.run()),
            group.create_task(_say_progress(ledger, seconds)),
        ]
        async with asyncio.TaskGroup() as askers:
            for number in range(agents):
                chance = random.Random(f"{seed} {number}")
                askers.create_task(Agent(f"a{number}", known, ledger, chance).run(is_over))
            await asyncio.sleep(seconds * (1 - _UNDISTURBED_SHARE))
            killing.cancel()
            await asyncio.wait([killing])
            for part in PARTS:
                await deployment.ensure(part)
            samples = await _sample_memory(deployment, seconds * _UNDISTURBED_SHARE)
            is_over.set()
        for task in helping:
            task.cancel()
    return samples


async def _sample_memory(deployment: Deployment, seconds: float) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {part: [] for part in PARTS}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for part in PARTS:
            samples[part].append(deployment.resident_mb(part))
        await asyncio.sleep(_SAMPLE_SECONDS)
    return samples


async def _say_progress(ledger: Ledger, seconds: float) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(_SAY_SECONDS)
        said = f"{len(ledger.calls):,} calls, {ledger.counts['kills']:,} kills"
        print(f"{time.monotonic() - began:6.0f} of {seconds:.0f} s: {said}", file=sys.stderr)


def show(lines: Iterable[Line]) -> bool:
    """Print the table; whether everything that must be zero is."""
    is_ok = True
    for line in lines:
        mark = "" if line.most is None else "ok" if line.ok else f"NOT MET: at most {line.most:g}"
        print(f"{line.name:42} {line.figure:>10,g}  {mark}".rstrip())
        is_ok &= line.ok
    return is_ok


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--agents", type=int, default=8, help="how many at once (default 8)")
    parser.add_argument("--seed", type=int, default=1, help="for the choices (default 1)")
    how = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="handrail-soak-") as folder:
        lines = asyncio.run(soak(Path(folder).resolve(), how.minutes * 60, how.agents, how.seed))
    return 0 if show(lines) else 1


if __name__ == "__main__":
    sys.exit(main())

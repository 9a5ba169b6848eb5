"""`make soak`: agents, approvers and kills for as long as you like; then the books are checked.

The processes are killed for the first part of the time. In the last third they run undisturbed,
and their memory is measured.
"""

import argparse
import asyncio
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.soak.accounts import Findings, Line, account, explain, growth, read_markers
from benchmarks.soak.actors import Agent, Approver, count_pending, read_decisions, read_ends
from benchmarks.soak.deployment import PARTS, Deployment
from benchmarks.soak.kills import kill_forever
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.listening import Listener
from benchmarks.soak.stored import StoredEvents

_UNDISTURBED_SHARE = 1 / 3
_SAMPLE_SECONDS = 1.0
_SAY_SECONDS = 30.0
_LOOK_SECONDS, _MOST_LOOKS = 0.1, 600


class Plan(NamedTuple):
    """`pause` is the longest time between a restart and the next kill."""

    seconds: float
    agents: int = 8
    seed: int = 1
    pause: float = 5.0

    @property
    def undisturbed_seconds(self) -> float:
        return self.seconds * _UNDISTURBED_SHARE

    @property
    def kill_seconds(self) -> float:
        return self.seconds - self.undisturbed_seconds

    def chance(self, name: object) -> random.Random:
        return random.Random(f"{self.seed} {name}")


async def soak(folder: Path, plan: Plan) -> tuple[Ledger, Findings]:
    deployment, ledger = Deployment(folder), Ledger()
    (deployment.workspace / "README").write_text("Read me.\n")
    try:
        for part in PARTS:
            await deployment.start(part)
        load = _Load(deployment, ledger, plan)
        await load.run()
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
        {part: growth(taken) for part, taken in load.samples.items()},
        load.stored.rows,
        load.heard_through,
    )
    return ledger, found


class _Load:
    """`samples` is the memory of each process in MB in the time without kills."""

    def __init__(self, deployment: Deployment, ledger: Ledger, plan: Plan):
        self._deployment, self._ledger, self._plan = deployment, ledger, plan
        self._known, self._is_over = deployment.credentials, asyncio.Event()
        self._phase = "kills"
        self.stored = StoredEvents(deployment.database)
        self.samples: dict[str, list[float]] = {part: [] for part in PARTS}
        self.heard_through = 0

    async def run(self) -> None:
        known, ledger, plan = self._known, self._ledger, self._plan
        approver = Approver(known, ledger, plan.chance("approver"))
        async with asyncio.TaskGroup() as group:
            helping = [
                group.create_task(Listener("steady", known, ledger).run()),
                group.create_task(Listener("restless", known, ledger, plan.chance("rest")).run()),
                group.create_task(approver.run()),
                group.create_task(self._say_progress()),
            ]
            async with asyncio.TaskGroup() as askers:
                for number in range(plan.agents):
                    agent = Agent(f"a{number}", known, ledger, plan.chance(number))
                    askers.create_task(agent.run(self._is_over))
                await self._kill(group, approver)
                await self._sample_memory()
                self._is_over.set()
            await self._wait_for_listeners()
            for task in helping:
                task.cancel()
        # The listeners may have received a last event since.
        self.stored.read_on()

    async def _kill(self, group: asyncio.TaskGroup, approver: Approver) -> None:
        plan, began = self._plan, time.monotonic()
        chance = plan.chance("kills")
        kills = kill_forever(self._deployment, approver.sent, self._ledger, chance, plan.pause)
        killing = group.create_task(kills)
        await asyncio.sleep(plan.kill_seconds)
        killing.cancel()
        await asyncio.wait([killing])
        for part in PARTS:
            await self._deployment.ensure(part)
        self._ledger.counts["seconds with kills"] = round(time.monotonic() - began)

    async def _sample_memory(self) -> None:
        self._phase = "no more kills as planned, memory is measured"
        began = time.monotonic()
        while time.monotonic() < began + self._plan.undisturbed_seconds:
            for part in PARTS:
                self.samples[part].append(self._deployment.resident_mb(part))
            await asyncio.sleep(_SAMPLE_SECONDS)
        self._ledger.counts["seconds without kills"] = round(time.monotonic() - began)

    async def _wait_for_listeners(self) -> None:
        """Give each listener the time to receive all that is stored by now."""
        self.stored.read_on()
        numbers = [event.number for event in self.stored.rows if event.is_for_people]
        self.heard_through = max(numbers, default=0)
        hearings = self._ledger.hearings.values()
        for _ in range(_MOST_LOOKS):
            if all((one.position or 0) >= self.heard_through for one in hearings):
                break
            await asyncio.sleep(_LOOK_SECONDS)

    async def _say_progress(self) -> None:
        plan, ledger, began = self._plan, self._ledger, time.monotonic()
        calm = f"{plan.undisturbed_seconds:.0f} s without, to measure memory"
        _say(f"{plan.kill_seconds:.0f} s with kills, then {calm}")
        while True:
            await asyncio.sleep(_SAY_SECONDS)
            # After a kill, the file cannot be read until the server has recovered it.
            with suppress(sqlite3.OperationalError):
                self.stored.read_on()
            said = f"{len(ledger.calls):,} calls, {ledger.counts['kills']:,} kills ({self._phase})"
            _say(f"{time.monotonic() - began:6.0f} of {plan.seconds:.0f} s: {said}")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


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
    pause = "most seconds from a restart to the next kill (default 5)"
    parser.add_argument("--pause", type=float, default=5.0, help=pause)
    how = parser.parse_args()
    plan = Plan(how.minutes * 60, how.agents, how.seed, how.pause)
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="handrail-soak-") as folder:
        ledger, found = asyncio.run(soak(Path(folder).resolve(), plan))
    is_ok = show(account(ledger, found))
    for words in explain(ledger, found, began):
        print(words)
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())

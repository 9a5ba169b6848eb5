"""One agent sends a batch of long bash lines: how much longer does everyone else wait?

All times are of whole requests, as a caller sees them, so they include what the client does.
"""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import aiohttp

from benchmarks.guarded import Guarded, guarded
from benchmarks.outcome import Outcome
from benchmarks.task import FILE_NAME, check_output
from handrail.app.home import Home
from handrail.client.api import HandrailApi
from handrail.core.access import Role

RUNS = 2
LINES = 100
SAMPLES = 40
ALONE = 10
SIZES = {"8k": 8_000, "70k": 70_000}
# Milliseconds more than without the batch.
LIMITS = {"read": 50, "health": 100, "approve": 100, "stop": 100}
NAMES = tuple(f"fair-{act}-{size}" for size in SIZES for act in LIMITS)

_MOST_SECONDS = 30.0
_PAUSE_SECONDS = 0.02

Act = Callable[[], Awaitable[Any]]
Times = dict[str, list[float]]


class Delay(NamedTuple):
    alone: float
    longest: float
    samples: int

    @property
    def ms(self) -> float:
        return max(0.0, self.longest - self.alone)


def measure(folder: Path, names: Collection[str]) -> Iterator[Outcome]:
    for size, chars in SIZES.items():
        wanted = [act for act in LIMITS if f"fair-{act}-{size}" in names]
        if not wanted:
            continue
        runs = [_run(folder / f"{size}-{number}", chars) for number in range(RUNS)]
        for act in wanted:
            delay = min((run[act] for run in runs), key=lambda delay: delay.ms)
            detail = (
                f"longest of {delay.samples}: {delay.longest:.0f} ms beside {LINES} lines, "
                f"{delay.alone:.0f} ms alone; at most {LIMITS[act]} ms more"
            )
            yield Outcome.at_most(f"fair-{act}-{size}", delay.ms / LIMITS[act], 1.0, detail)


def _run(folder: Path, chars: int) -> dict[str, Delay]:
    folder.mkdir()
    with guarded(folder) as ready:
        alone, beside = asyncio.run(_compare(ready, chars))
    return {act: Delay(median(alone[act]), max(beside[act]), len(beside[act])) for act in LIMITS}


async def _compare(ready: Guarded, chars: int) -> tuple[Times, Times]:
    known = Home(ready.home).find_credentials(ready.workspace)
    assert known is not None
    secret = _make_agent(ready)
    async with (
        HandrailApi(known.server, known.project_id, known.token_for(Role.AGENT)) as noisy,
        HandrailApi(known.server, known.project_id, secret) as quiet,
        HandrailApi(known.server, known.project_id, known.token_for(Role.USER)) as person,
        aiohttp.ClientSession() as session,
    ):
        address = f"{known.server}/health"

        async def health() -> None:
            async with session.get(address) as response:
                response.raise_for_status()

        acts = await _acts(quiet, person, health)
        alone = await _sample(acts, lambda: False, ALONE)
        # The first long line waits for a process to start, which is no other agent's concern.
        await noisy.batch([_line(chars, "warm")], session_id="warm", wait=_MOST_SECONDS)
        calls = [_line(chars, f"line-{number}") for number in range(LINES)]
        async with asyncio.TaskGroup() as group:
            batch = group.create_task(noisy.batch(calls, session_id="noisy", wait=0.0))
            await asyncio.sleep(_PAUSE_SECONDS)
            beside = await _sample(acts, batch.done, SAMPLES)
            # What is left of the batch shows nothing more.
            await person.stop_session("noisy")
    return alone, beside


async def _acts(quiet: HandrailApi, person: HandrailApi, health: Act) -> dict[str, Act]:
    """Approvals and stops need something to decide on, which is made ready before."""
    numbers, needed = count(), SAMPLES + ALONE

    async def ask(session_id: str, tool: str, wait: float, **params: str) -> Any:
        return await quiet.execute(
            tool, params, session_id=session_id, call_id=f"call-{next(numbers)}", wait=wait
        )

    async def read() -> None:
        answer = await ask("reads", "read_file", _MOST_SECONDS, path=FILE_NAME)
        check_output(answer["result"] and answer["result"]["output"])

    for number in range(needed):
        await ask("own", "write_file", 0.0, path=f"{number}.txt", content="x")
        await ask(f"own-{number}", "read_file", _MOST_SECONDS, path=FILE_NAME)
    # A question is asked when the client has looked.
    while len(cards := await person.pending_approvals()) < needed:  # noqa: ASYNC110
        await asyncio.sleep(_PAUSE_SECONDS)
    sessions = [f"own-{number}" for number in range(needed)]
    return {
        "read": read,
        "health": health,
        "approve": lambda: person.approve(cards.pop().approval_id),
        "stop": lambda: person.stop_session(sessions.pop(0)),
    }


async def _sample(acts: dict[str, Act], is_over: Callable[[], bool], most: int) -> Times:
    """How long each took, in ms, one after the other; none of those that began too late."""
    took: Times = {act: [] for act in acts}
    for _ in range(most):
        for act, do in acts.items():
            if is_over():
                return took
            began = perf_counter()
            await do()
            took[act].append((perf_counter() - began) * 1000)
        await asyncio.sleep(_PAUSE_SECONDS)
    return took


def _line(chars: int, name: str) -> dict[str, Any]:
    """A bash line that is judged to its end."""
    parts = (f"grep -n {name} src/module_{number}.py | head -5" for number in count())
    line = next(parts)
    while len(line) < chars:
        line += f" && {next(parts)}"
    return {"tool_name": "run_bash", "tool_params": {"command": line[:chars]}, "call_id": name}


def _make_agent(ready: Guarded) -> str:
    """The token of a second agent."""
    command = [sys.executable, "-m", "handrail", "token", "create", "--role", "agent"]
    where = ["--workspace", str(ready.workspace), "--home", str(ready.home)]
    made = subprocess.run([*command, *where], check=True, capture_output=True, text=True)
    return made.stdout.strip()

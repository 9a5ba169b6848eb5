"""What the boundary costs: a judgement and a box, against starting a program without either."""

import asyncio
import subprocess
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median

from benchmarks.outcome import Outcome
from handrail.core.box import Profile
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.tools.catalogue import judge

# A verdict is remembered, so what was said before and what is new are measured apart.
PROMISES = {
    "judge-argv": 0.1,
    "judge-line": 0.5,
    "judge-argv-again": 1 / 15,
    "judge-line-again": 2 / 3,
    "box-read": 25.0,
}
NAMES = tuple(PROMISES)

ROUNDS = 15
JUDGEMENTS = 200
STARTS = 20
_TRUE = "/bin/true"
_WORKSPACE = "/home/ada/project"
# A session says the same again and again, but not the same in a row.
_SAID_BEFORE = 100
_COMMANDS = (
    "rg -n main {}",
    "git log --oneline -20 -- {}",
    "find {} -name *.py -not -path ./node_modules/*",
    "sed -n 1,80p {}",
    "npm install ./{}",
)
_LINES = (
    'rg -n "class .*Error" {} --type py | sort -u | head -n 20 | cut -c 1-80',
    "git log --oneline -50 -- {} | grep -v Merge | head -5 && wc -l README",
    "find {} -name '*.py' -not -path './.venv/*' | xargs wc -l | sort -n",
)


def measure(folder: Path, wanted: Collection[str]) -> Iterator[Outcome]:
    """Both sides take turns, so that whatever slows the machine slows both."""
    for name in wanted:
        yield asyncio.run(_measure_box(folder)) if name == "box-read" else _measure_judge(name)


def _measure_judge(name: str) -> Outcome:
    judge_next = _judging(name)
    rounds = [(_time(judge_next, JUDGEMENTS), _time(_spawn, STARTS)) for _ in range(ROUNDS)]
    return _outcome(name, "judged", rounds)


async def _measure_box(folder: Path) -> Outcome:
    programs = find_programs()
    isolation = prove(programs)
    if programs is None or not isolation.holds:
        return Outcome("box-read", 0, PROMISES["box-read"], ok=False, detail=str(isolation.why_not))
    with FileSystemExecutor(folder) as files:
        guarded = GuardedNames(files.root, files.rules, files.second_names)
        boxed = CommandExecutor(folder, box=Box(programs, isolation, guarded))
        stages = [Stage((_TRUE.rpartition("/")[2],), Profile.READ)]

        async def start_in_box() -> None:
            await boxed.run(stages, timeout_seconds=30)

        async def start() -> None:
            await (await asyncio.create_subprocess_exec(_TRUE)).wait()  # noqa: TID251

        rounds = [
            (await _time_async(start_in_box, STARTS), await _time_async(start, STARTS))
            for _ in range(ROUNDS)
        ]
    return _outcome("box-read", "in its box", rounds)


def _outcome(name: str, what: str, rounds: list[tuple[float, float]]) -> Outcome:
    ours, plain = (1000 * median(side) for side in zip(*rounds, strict=True))
    ratio = median(mine / theirs for mine, theirs in rounds)
    detail = f"{ours:.3f} ms {what} against {plain:.3f} ms to start and end a program"
    return Outcome.at_most(name, ratio, round(PROMISES[name], 3), detail)


def _judging(name: str) -> Callable[[], None]:
    tool, calls = _bash_calls() if name.startswith("judge-line") else _argv_calls()
    if name.endswith("-again"):
        calls = cycle(islice(calls, _SAID_BEFORE))

    def judge_next() -> None:
        judge(tool, next(calls), workspace=_WORKSPACE, isolated=True)

    return judge_next


def _argv_calls() -> tuple[str, Iterator[dict[str, object]]]:
    lines = (line.format(file).split() for file in _files() for line in _COMMANDS)
    return "execute_command", ({"command": command, "args": args} for command, *args in lines)


def _bash_calls() -> tuple[str, Iterator[dict[str, object]]]:
    return "run_bash", ({"command": line.format(file)} for file in _files() for line in _LINES)


def _files() -> Iterator[str]:
    return (f"src/module_{number}.py" for number in count())


def _spawn() -> None:
    subprocess.run([_TRUE], check=True)


def _time(act: Callable[[], None], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - began) / times


async def _time_async(act: Callable[[], Awaitable[None]], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        await act()
    return (time.perf_counter() - began) / times

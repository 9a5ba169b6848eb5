"""Techniques, tried for real: in the open and in the boxes `read` and `write`.

Those that connect are also tried in `net`, where nobody has approved any host.

Run as a program, with the folder to work in, the table, the tools and the names of the techniques;
it prints what came of each.
It stands alone so that somebody else than who runs the tests can run it.
"""

import asyncio
import json
import random
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from handrail.core.box import Profile
from handrail.core.errors import ToolError
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.sandbox.box import environment
from tests.adversarial.arena import Arena, Technique, make_template
from tests.adversarial.boxes import boxed, make_sure, run

AT_ONCE = 6
SECONDS = 30
OPEN = "open"


def read_table(path: Path) -> list[tuple[Technique, str]]:
    """The rows, each with the reason why it cannot be shown here, if there is one."""
    table = tomllib.loads(path.read_text())
    return [_read_row(row, table.get("prelude", "")) for row in table["technique"]]


def _read_row(row: dict[str, Any], prelude: str) -> tuple[Technique, str]:
    program = ["python3", "-c", prelude + row["code"]] if "code" in row else row["argv"]
    technique = Technique(
        row["name"],
        tuple(program),
        frozenset(row.get("does", ["says"])),
        tuple(row.get("plant", {}).items()),
        tuple(row.get("tools", ())),
        row.get("says", "ESCAPED"),
        frozenset(row.get("may", ())),
        row.get("only", ""),
        row.get("maybe", False),
        row.get("in_box", ""),
        tuple(row.get("first", ())),
    )
    return technique, row.get("not_here", "")


async def run_open(argv: Sequence[str], ws: Path) -> bytes:
    """Into a file, not a pipe: who is left behind would hold its other end for ever."""
    with (ws.parent / "said").open("w+b") as said:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=said,
            stderr=asyncio.subprocess.STDOUT,
            cwd=ws,
            # Without what our own variables keep tar from.
            env={
                **dict(environment(":".join(SEARCH_PATH))),
                "HOME": str(ws.parent / "home"),
                "TAR_OPTIONS": "",
            },
        )
        try:
            async with asyncio.timeout(SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        said.seek(0)
        return said.read()


async def _wait_for_survivors(arena: Arena, technique: Technique, effects: set[str]) -> None:
    """In the open, a process that was left behind may act only after its parent has ended."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS):
            while not technique.does <= effects:
                await asyncio.sleep(0.1)
                effects |= {*arena.seen((arena.ws.parent / "said").read_bytes())}


class Trial:
    def __init__(self, folder: Path, tools: Path):
        self._folder = folder
        self._tools = tools
        self._seats = asyncio.Semaphore(AT_ONCE)
        self._means = make_sure()
        make_template(folder / "template")

    async def hold(self, techniques: Sequence[Technique]) -> dict[str, dict[str, list[str]]]:
        trials = [self._try(number, technique) for number, technique in enumerate(techniques)]
        # All are tried to the end, so that nobody is called off in the middle of a start.
        found = await asyncio.gather(*trials, return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                raise one
        names = [technique.name for technique in techniques]
        return {
            name: one
            for name, one in zip(names, found, strict=True)
            if not isinstance(one, BaseException)
        }

    async def _try(self, number: int, technique: Technique) -> dict[str, list[str]]:
        ways = [*([] if technique.in_box else [OPEN]), Profile.READ, Profile.WRITE]
        if technique.connects:
            ways.append(Profile.NET)
        return {
            way: await self._try_one(number * 4 + n, technique, way) for n, way in enumerate(ways)
        }

    async def _try_one(self, number: int, technique: Technique, way: str) -> list[str]:
        async with self._seats:
            # A number that is nobody else's, not even in another trial at the same time.
            mark = str(random.randrange(10**11, 10**12))
            with Arena(self._folder / str(number), technique, self._tools, mark) as arena:
                effects = {*arena.seen(await self._run(arena, way))}
                if way == OPEN and not technique.maybe:
                    await _wait_for_survivors(arena, technique, effects)
                return sorted(effects)

    async def _run(self, arena: Arena, way: str) -> bytes:
        steps = [argv for argv in (arena.first, arena.argv) if argv]
        if way == OPEN:
            (arena.ws.parent / "home").mkdir(exist_ok=True)
            return b"".join([await run_open(argv, arena.ws) for argv in steps])
        # What prepares the ground was approved, whatever comes after it.
        profiles = [*[Profile.WRITE] * (len(steps) - 1), Profile(way)]
        said = b""
        with boxed(arena.ws, *self._means) as executor:
            for argv, profile in zip(steps, profiles, strict=True):
                try:
                    outcome = await run(executor, *argv, profile=profile, seconds=SECONDS)
                except ToolError as error:
                    raise AssertionError(f"{argv} was not run: {error}") from error
                said += outcome.stdout + outcome.stderr
        return said


async def main(folder: str, table: str, tools: str, *names: str) -> None:
    rows = read_table(Path(__file__).with_name(table))
    techniques = [technique for technique, _ in rows if technique.name in names]
    found = await Trial(Path(folder) / "arenas", Path(tools)).hold(techniques)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

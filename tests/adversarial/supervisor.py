"""A client in a process of its own, which somebody is going to kill."""

import asyncio
import sys
from pathlib import Path

from tests.adversarial.boxes import boxed, make_sure, run


async def main(folder: str, keeper: str, *argv: str) -> None:
    with boxed(Path(folder), *make_sure(), keeper=keeper) as executor:
        print("ready", flush=True)
        await run(executor, *argv, seconds=120)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

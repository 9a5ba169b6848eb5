"""An agent in a process of its own, that asks a Handrail server over REST."""

import sys
from itertools import count
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.load import load
from benchmarks.task import FILE_NAME, check_output
from benchmarks.worker import READY, answer_forever, say
from handrail.app.home import Home
from handrail.client.api import HandrailApi
from handrail.core.access import Role

_MOST_SECONDS = 30.0


async def main(home: Path, workspace: Path) -> None:
    known = Home(home).find_credentials(workspace)
    assert known is not None
    numbers = count()
    async with HandrailApi(known.server, known.project_id, known.token_for(Role.AGENT)) as api:

        async def call() -> None:
            answer = await api.execute(
                "read_file",
                {"path": FILE_NAME},
                session_id="rest",
                call_id=f"call-{next(numbers)}",
                wait=_MOST_SECONDS,
            )
            check_output(answer["result"] and answer["result"]["output"])

        async def answer(**how: Any) -> Any:
            return await load(call, **how)

        say(READY)
        await answer_forever(answer)


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

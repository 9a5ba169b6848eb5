"""A Handrail server with the asker inside it, as an agent of its own would be."""

import asyncio
import sys
from itertools import count
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.load import calls_in_a_row, load
from benchmarks.task import FILE_NAME, check_output
from benchmarks.worker import answer_forever, say
from handrail.app.build_server import build_server
from handrail.app.enrol import enrol
from handrail.app.home import Home
from handrail.app.logs import configure_logs
from handrail.app.settings import Settings
from handrail.core.access import Role, hash_secret
from handrail.core.ids import CallId, ProjectId, SessionId
from handrail.core.tool import ToolCall
from handrail.server.app import create_app
from handrail.server.serving import HandrailServer, bind


async def main(home: Path, workspace: Path) -> None:
    settings = Settings(home, port=0)
    with bind(settings.host, settings.port) as listening:
        address = f"http://{settings.host}:{listening.getsockname()[1]}"
        async with build_server(settings) as services, asyncio.TaskGroup() as group:
            known = await enrol(services.store, services.clock, Home(home), workspace, address)
            token = await services.store.find_token(hash_secret(known.token_for(Role.AGENT)))
            assert token is not None
            asker, numbers = token.principal, count()

            async def call() -> None:
                asked = ToolCall(
                    ProjectId(known.project_id),
                    SessionId("inside"),
                    CallId(f"call-{next(numbers)}"),
                    "read_file",
                    {"path": FILE_NAME},
                )
                execution = await services.executor.execute_tool(asked, asker)
                check_output(execution.result and execution.result["output"])

            async def answer(do: str, **how: Any) -> Any:
                match do:
                    case "load":
                        return await load(call, **how)
                    case "row":
                        return await calls_in_a_row(call, **how)
                    case _:
                        raise ValueError(do)

            server = HandrailServer(create_app(services), services.room, lambda: say(address))
            serving = group.create_task(server.serve(sockets=[listening]))
            answering = group.create_task(answer_forever(answer))
            serving.add_done_callback(lambda _: answering.cancel())


if __name__ == "__main__":
    configure_logs(verbose=False)
    uvloop.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

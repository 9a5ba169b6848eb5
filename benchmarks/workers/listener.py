"""Listeners of a project in a process of their own, each on its own HTTP connection."""

import asyncio
import sys
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import uvloop

from benchmarks.worker import READY, answer_forever, say
from handrail.app.home import Home
from handrail.core.access import Role

_EVENT = b"event: "
_AT_ONCE = 50


class Listener(asyncio.Protocol):
    """Counts events and keeps nothing else, so that this process stays out of the way."""

    def __init__(self, request: bytes):
        self._request = request
        self._rest = b""
        self.events = 0
        self.greeted = asyncio.Event()
        self.left = asyncio.Event()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        self.events += data.count(_EVENT)
        self._rest = data[1 - len(_EVENT) :]
        if b"retry: " in data:
            self.greeted.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.left.set()


async def main(home: Path, workspace: Path) -> None:
    known = Home(home).find_credentials(workspace)
    assert known is not None
    server = urlsplit(known.server)
    head = (
        f"GET /my/projects/{known.project_id}/chat/stream HTTP/1.1",
        f"Host: {server.netloc}",
        f"Authorization: Bearer {known.token_for(Role.USER)}",
    )
    request = "\r\n".join([*head, "", ""]).encode()
    listeners: list[Listener] = []

    async def come() -> None:
        loop = asyncio.get_running_loop()
        _, one = await loop.create_connection(
            lambda: Listener(request), server.hostname or "", server.port or 80
        )
        await one.greeted.wait()
        listeners.append(one)

    async def answer(do: str, count: int = 0) -> Any:
        match do:
            case "come":
                for start in range(0, count, _AT_ONCE):
                    await asyncio.gather(*(come() for _ in range(min(_AT_ONCE, count - start))))
            case "heard":
                return [one.events for one in listeners]
            case "leave":
                for one in listeners:
                    assert one.transport is not None
                    one.transport.close()
                    await one.left.wait()
                listeners.clear()
            case _:
                raise ValueError(do)

    say(READY)
    await answer_forever(answer)


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1]), Path(sys.argv[2])))

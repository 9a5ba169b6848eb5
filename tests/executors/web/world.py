"""A world for requests to go astray in: every dial, wherever it was meant to go, ends here."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import httpcore2

PUBLIC = "93.184.216.34"

# What a server says to one who has asked; the words of the request are handed to it.
Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def saying(raw: bytes) -> Answer:
    async def answer(asked: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return answer


HELLO = saying(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")


@dataclass
class Listener:
    """A real server on this machine, and what was said to it."""

    port: int
    asked: list[bytes] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def listening(
    answer: Answer = HELLO, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Listener]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                ),
                0,
            )
            asked = head + await reader.readexactly(length)
            listener.asked.append(asked)
            await answer(asked, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, host, 0, ssl=tls)
    listener = Listener(server.sockets[0].getsockname()[1])
    try:
        yield listener
    finally:
        server.close()


class Everywhere(httpcore2.AsyncNetworkBackend):
    """A network in which every address is the one listener; who was dialled is written down."""

    def __init__(self, listener: Listener):
        self._listener = listener
        self._real = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
        self.dialled: list[tuple[str, int]] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((host, port))
        return await self._real.connect_tcp("127.0.0.1", self._listener.port, timeout=timeout)


class Names:
    """A name server that gives its answers in turn, and the last one for ever."""

    def __init__(self, *answers: Sequence[str]):
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, name: str, port: int) -> Sequence[str]:
        self.asked.append(name)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

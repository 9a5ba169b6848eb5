"""What the tests of the proxy stand on: a server that remembers, and a proxy before it."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from handrail.executors.network.dialing import Resolve
from handrail.executors.network.hosts import Withdrawn, nothing_withdrawn
from handrail.executors.network.proxy import Limits, PolicyProxy
from handrail.policy.network.hosts import HostList

NAME = "registry.test"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
ENOUGH_SECONDS = 20.0

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """A server on this machine, and everything that was said to it, by connection."""

    port: int
    heard: list[bytearray] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def place(self) -> str:
        return f"{NAME}:{self.port}"


@asynccontextmanager
async def serving(
    answer: bytes | None = ANSWER, *, host: str = "127.0.0.1"
) -> AsyncGenerator[Server]:
    """A server that answers the first thing it hears, and then listens; without one it echoes."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = bytearray()
        server.heard.append(heard)
        try:
            while data := await reader.read(1 << 16):
                if answer is None:
                    writer.write(data)
                    await writer.drain()
                elif not heard:
                    writer.write(answer)
                    writer.write_eof()
                heard += data
        except ConnectionError:
            pass
        finally:
            server.ended.set()
            writer.close()

    made = await asyncio.start_server(handle, host)
    server = Server(made.sockets[0].getsockname()[1])
    async with made:
        yield server


def resolving(*addresses: str, asked: list[str] | None = None) -> Resolve:
    """Somebody who answers for every name with these addresses."""

    async def resolve(name: str, port: int) -> Sequence[str]:
        if asked is not None:
            asked.append(name)
        return addresses

    return resolve


@dataclass(frozen=True)
class Proxied:
    proxy: PolicyProxy
    port: int

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, data: bytes | str) -> bytes:
        """Say something on a connection of its own, and hear everything that comes back."""
        async with asyncio.timeout(ENOUGH_SECONDS):
            reader, writer = await self.connect()
            try:
                writer.write(data.encode() if isinstance(data, str) else data)
                return await reader.read()
            finally:
                writer.close()

    async def tunnel(self, place: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        async with asyncio.timeout(ENOUGH_SECONDS):
            said = await reader.readuntil(b"\r\n\r\n")
        assert said == b"HTTP/1.1 200 Connection established\r\n\r\n"
        return reader, writer


@asynccontextmanager
async def proxying(
    *hosts: str,
    local: Sequence[str] = (),
    resolve: Resolve | None = None,
    limits: Limits | None = None,
    withdrawn: Withdrawn = nothing_withdrawn,
) -> AsyncGenerator[Proxied]:
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    proxy = PolicyProxy(
        listening,
        hosts=HostList.read(hosts),
        local_hosts=HostList.read(local, exact=True),
        limits=limits or Limits(),
        resolve=resolve or resolving("127.0.0.1"),
        withdrawn=withdrawn,
    )
    async with asyncio.timeout(2 * ENOUGH_SECONDS), proxy:
        yield Proxied(proxy, port)


def sentence_of(answer: bytes) -> tuple[int, str]:
    """The status of a refusal and its sentence, which stands in the first line and in the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    version, status, reason = head.split(b"\r\n")[0].decode().split(" ", 2)
    assert version == "HTTP/1.1"
    assert body.decode() == f"{reason}\n"
    return int(status), reason

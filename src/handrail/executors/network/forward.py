"""Forwarding a port of a box to the same port of this machine, such as that of a local model."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from handrail.executors.network.record import ProxyRecord
from handrail.executors.network.relay import Line, Relay

_LOOPBACK = "127.0.0.1"
_LAST_WORDS_SECONDS = 2.0


@asynccontextmanager
async def forwarding(
    listening: socket.socket, port: int, record: ProxyRecord, idle_seconds: float
) -> AsyncGenerator[None]:
    """Connect each connection to the socket, which it takes over, to the port on this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Line(reader, writer)
        with suppress(OSError, EOFError):
            try:
                server = Line(*await asyncio.open_connection(_LOOPBACK, port))
                try:
                    meter = record.meter(f"localhost:{port}")
                    await Relay(client, server, meter, idle_seconds).tunnel()
                    await server.hang_up(_LAST_WORDS_SECONDS)
                finally:
                    await server.cut()
            finally:
                await client.cut()

    server = await asyncio.start_server(serve, sock=listening)
    try:
        yield
    finally:
        server.close()

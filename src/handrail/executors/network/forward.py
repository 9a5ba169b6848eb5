"""Forwarding a port of a box to the same port of this machine, such as that of a local model."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from handrail.executors.network.proxy import Limits
from handrail.executors.network.record import ProxyRecord
from handrail.executors.network.relay import Line, Relay
from handrail.executors.network.serving import serve_callers

_LOOPBACK = "127.0.0.1"
_LAST_WORDS_SECONDS = 2.0


@asynccontextmanager
async def forwarding(
    listening: socket.socket, port: int, record: ProxyRecord, limits: Limits
) -> AsyncGenerator[None]:
    """Connect each connection to the socket, which it takes over, to the port on this machine."""

    async def serve(taken: socket.socket) -> None:
        with suppress(OSError, EOFError):
            client = Line(*await asyncio.open_connection(sock=taken))
            try:
                server = Line(*await asyncio.open_connection(_LOOPBACK, port))
                try:
                    meter = record.meter(f"localhost:{port}")
                    await Relay(client, server, meter, limits.idle_seconds).tunnel()
                    await server.hang_up(_LAST_WORDS_SECONDS)
                finally:
                    await server.cut()
            finally:
                await client.cut()

    with listening:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve_callers(listening, serve, limits.connections))
            try:
                yield
            finally:
                serving.cancel()

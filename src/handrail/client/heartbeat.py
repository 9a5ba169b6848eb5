"""Heartbeat: renews this client's lease at the server while its stream is open.

Heartbeats are sent from the event loop that does the work, so a client that hangs sends none.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

import aiohttp
import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.wire.connections import LEASE_HEADER

# Two heartbeats can be lost before the lease lapses.
_PER_LEASE = 3

log = structlog.get_logger(__name__)


class Heartbeat:
    def __init__(self, api: HandrailApi):
        self._api = api
        self._stream: aiohttp.ClientResponse | None = None
        self._pause = 0.0
        self._opened = asyncio.Event()

    @contextmanager
    def keeping(self, stream: aiohttp.ClientResponse) -> Generator[None]:
        """Send heartbeats while this stream is open, if the server gave a lease with it.

        An older server gives none.
        """
        if lease := stream.headers.get(LEASE_HEADER):
            self._pause = float(lease) / _PER_LEASE
            self._stream = stream
            self._opened.set()
        try:
            yield
        finally:
            self._stream = None
            self._opened.clear()

    async def run(self) -> None:
        now = asyncio.get_running_loop().time
        due = now()
        while True:
            await self._opened.wait()
            await asyncio.sleep(due - now())
            due = max(due + self._pause, now())
            if self._stream is not None:
                await self._send(self._stream)

    async def _send(self, stream: aiohttp.ClientResponse) -> None:
        try:
            connected = await self._api.send_heartbeat(seconds=self._pause)
        except (ApiError, ServerUnreachable) as error:
            log.info("heartbeat.failed", error=error.message)
            return
        if not connected:
            # The lease has lapsed, and the end of the stream may have been lost on the way.
            stream.close()

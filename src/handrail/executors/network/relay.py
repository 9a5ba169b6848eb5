"""Handing on what client and server say to each other, until they are done or fall silent."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass

from handrail.executors.network.record import Meter
from handrail.executors.network.request import Request

_PIECE_BYTES = 1 << 16
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_MOST_TRAILERS = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A connection to one of the two, for hearing and for speaking."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say_no_more(self) -> None:
        if not self.writer.is_closing():
            self.writer.write_eof()

    async def hang_up(self, seconds: float) -> None:
        """End it, and leave what was said some time to arrive."""
        self.writer.close()
        with suppress(OSError):
            async with asyncio.timeout(seconds):
                await self.writer.wait_closed()

    async def cut(self) -> None:
        """End it at once, with all that has not arrived yet."""
        self.writer.transport.abort()
        with suppress(OSError):
            await self.writer.wait_closed()


class Relay:
    """Between one client and one server. Ends both ways when nothing is said for too long."""

    def __init__(self, client: Line, server: Line, meter: Meter, idle_seconds: float):
        self._client = client
        self._server = server
        self._meter = meter
        self._idle_seconds = idle_seconds
        self._clock = asyncio.timeout(idle_seconds)

    async def tunnel(self) -> None:
        """Hand on everything, both ways, until both have said all."""
        try:
            async with self._clock, asyncio.TaskGroup() as both:
                both.create_task(self._send_all())
                both.create_task(self._receive_all())
        except* (OSError, EOFError):
            # One of them has gone; the other will notice.
            pass

    async def exchange(self, request: Request) -> None:
        """Hand on one request, and whatever the server says to it; nothing else goes to it."""
        try:
            async with self._clock, asyncio.TaskGroup() as both:
                sending = both.create_task(self._send(request))
                await self._receive_all()
                sending.cancel()
        except* (OSError, EOFError):
            pass

    async def _send(self, request: Request) -> None:
        await self._say(request.head or b"")
        if request.awaits_leave:
            self._client.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if request.length is None:
            await self._send_chunks()
        else:
            await self._send_bytes(request.length)

    async def _send_all(self) -> None:
        while data := await self._client.reader.read(_PIECE_BYTES):
            await self._say(data)
        self._server.say_no_more()

    async def _send_bytes(self, length: int) -> None:
        while length:
            data = await self._client.reader.read(min(length, _PIECE_BYTES))
            if not data:
                raise EOFError
            length -= len(data)
            await self._say(data)

    async def _send_chunks(self) -> None:
        """Each chunk is measured and written anew, so that the server sees the end where we do."""
        while size := await self._read_chunk_size():
            await self._say(b"%x\r\n" % size)
            await self._send_bytes(size)
            if await self._client.reader.readexactly(2) != b"\r\n":
                raise EOFError
            await self._say(b"\r\n")
        for _ in range(_MOST_TRAILERS):
            if await self._read_line() == b"\r\n":
                await self._say(b"0\r\n\r\n")
                return
        raise EOFError

    async def _read_chunk_size(self) -> int:
        size = _CHUNK_SIZE.fullmatch(await self._read_line())
        if size is None:
            raise EOFError
        return int(size[1], 16)

    async def _read_line(self) -> bytes:
        try:
            return await self._client.reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            raise EOFError from error

    async def _receive_all(self) -> None:
        while data := await self._server.reader.read(_PIECE_BYTES):
            self._meter.received_bytes += len(data)
            self._stay_awake()
            self._client.writer.write(data)
            await self._client.writer.drain()
        self._client.say_no_more()

    async def _say(self, data: bytes) -> None:
        self._meter.sent_bytes += len(data)
        self._stay_awake()
        self._server.writer.write(data)
        await self._server.writer.drain()

    def _stay_awake(self) -> None:
        # What comes in the very moment of the end is too late.
        if not self._clock.expired():
            now = asyncio.get_running_loop().time()
            self._clock.reschedule(now + self._idle_seconds)

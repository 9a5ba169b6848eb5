"""A line that breaks: carries bytes both ways, and hangs up in the middle of answers."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

_MOST_AT_ONCE = 65_536
_FRAME_END = b"\n\n"


class CuttingProxy:
    """Stands before a server. Its connections last until `begin` is called, and not for long then.

    Half of the cuts fall on any byte, the others on the end of a frame.
    """

    def __init__(self, port: int, chance: random.Random, most_bytes: int):
        self._port = port
        self._chance = chance
        self._most_bytes = most_bytes
        self._begun = False
        self.cuts_within_frames = 0
        self.cuts_between_frames = 0

    def begin(self) -> None:
        """Cut from now on, the connection that is open as well."""
        self._begun = True

    @property
    def cuts(self) -> int:
        return self.cuts_within_frames + self.cuts_between_frames

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[str]:
        """Take connections for as long as the context is open; gives the address."""
        connections = set[asyncio.Task[None]]()

        def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = asyncio.create_task(self._connect(reader, writer))
            connections.add(connection)
            connection.add_done_callback(connections.discard)

        server = await asyncio.start_server(connect, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            for connection in connections:
                connection.cancel()
            await asyncio.gather(*connections, return_exceptions=True)
            await server.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection("127.0.0.1", self._port)
        asking = asyncio.create_task(_carry(reader, questions))
        try:
            await self._carry_until_cut(answers, writer)
        finally:
            asking.cancel()
            for end in (writer, questions):
                end.close()
            await asyncio.gather(
                asking, writer.wait_closed(), questions.wait_closed(), return_exceptions=True
            )

    async def _carry_until_cut(
        self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        left: int | None = None
        at_frame_end = self._chance.random() < 0.5
        while piece := await answers.read(_MOST_AT_ONCE):
            if self._begun and left is None:
                left = self._chance.randrange(self._most_bytes)
            end = None if left is None else _place_to_cut(piece, left, at_frame_end=at_frame_end)
            writer.write(piece[:end])
            await writer.drain()
            if end is not None:
                self._count(piece[:end])
                return
            if left is not None:
                left = max(0, left - len(piece))

    def _count(self, last_words: bytes) -> None:
        if last_words.endswith(_FRAME_END):
            self.cuts_between_frames += 1
        else:
            self.cuts_within_frames += 1


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_MOST_AT_ONCE):
        writer.write(piece)
        await writer.drain()


def _place_to_cut(piece: bytes, left: int, *, at_frame_end: bool) -> int | None:
    """After how many bytes of a piece to hang up; None when not in this piece."""
    if left >= len(piece):
        return None
    if not at_frame_end:
        return left
    found = piece.find(_FRAME_END, left)
    return None if found < 0 else found + len(_FRAME_END)

"""A request that stops arriving is ended; slow uploads and open streams are not."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from handrail.core.access import Role
from handrail.server.http import Timeouts
from handrail.server.services import Services
from tests.conftest import Household
from tests.server.conftest import base, serving, until

SOON = Timeouts(head_seconds=0.3, body_seconds=0.6, body_bytes=1)
CONTENT = b"x" * 60
UPLOAD = f"PUT /blobs/{hashlib.sha256(CONTENT).hexdigest()}"
each_way_to_read_a_body = pytest.mark.parametrize(
    "start", ["POST /tools/execute", UPLOAD], ids=["as a whole", "in pieces"]
)
HEAD = "GET /health HTTP/1.1\r\nHost: localhost\r\n"


class Line(NamedTuple):
    """A connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[int, str, bytes]:
        """Status, head and body of what comes until the server closes the connection."""
        async with asyncio.timeout(10):
            head, _, body = (await self.reader.read()).partition(b"\r\n\r\n")
        words = head.decode()
        return int(words.split()[1]) if words else 0, words, body


@asynccontextmanager
async def a_line(address: str) -> AsyncGenerator[Line]:
    server = urlsplit(address)
    line = Line(*await asyncio.open_connection(server.hostname, server.port))
    try:
        yield line
    finally:
        line.writer.close()


def a_head(home: Household, start: str, length: int) -> bytes:
    method, _, path = start.partition(" ")
    lines = (
        f"{method} {base(home)}{path} HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        f"Authorization: Bearer {home.secrets[Role.USER]}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    )
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture
async def address(services: Services) -> AsyncGenerator[str]:
    async with serving(services, timeouts=SOON) as address:
        yield address


@pytest.mark.parametrize("earlier", ["", HEAD + "\r\n"], ids=["at once", "after another"])
async def test_half_a_head_is_answered_with_408(address: str, earlier: str) -> None:
    async with a_line(address) as line:
        line.writer.write((earlier + HEAD).encode())
        _, words, body = await line.answer()

    last = (words.encode() + b"\r\n\r\n" + body).rpartition(b"HTTP/1.1 ")[2]
    assert last.startswith(b"408 ")
    problem = json.loads(last.partition(b"\r\n\r\n")[2])
    assert problem["type"] == "urn:handrail:timeout"
    assert problem["detail"] == "address and headers have not arrived within 0.3 seconds"


async def test_a_connection_on_which_nothing_is_said_is_closed(address: str) -> None:
    async with a_line(address) as line:
        assert await line.answer() == (0, "", b"")


@each_way_to_read_a_body
async def test_a_body_that_stops_is_answered_with_408_and_leaves_no_traceback(
    address: str, household: Household, start: str, caplog: pytest.LogCaptureFixture
) -> None:
    with capture_logs() as lines:
        async with a_line(address) as line:
            line.writer.write(a_head(household, start, 2_000_000) + b"{")
            status, _, body = await line.answer()
        await until(lambda: said(lines))

    assert (status, json.loads(body)["type"]) == (408, "urn:handrail:timeout")
    assert_quiet(lines, caplog)


@each_way_to_read_a_body
async def test_a_caller_that_leaves_amid_its_body_is_one_quiet_line(
    address: str, household: Household, start: str, caplog: pytest.LogCaptureFixture
) -> None:
    with capture_logs() as lines:
        async with a_line(address) as line:
            line.writer.write(a_head(household, start, 2_000_000) + b"{")
            await line.writer.drain()
        await until(lambda: said(lines))

    assert_quiet(lines, caplog)


async def said(lines: list[EventDict]) -> bool:
    return any(line["event"] == "request.abandoned" for line in lines)


def assert_quiet(lines: list[EventDict], caplog: pytest.LogCaptureFixture) -> None:
    told = [line for line in lines if str(line["event"]).startswith("request.")]
    assert [(line["event"], line["log_level"]) for line in told] == [("request.abandoned", "info")]
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_body_that_arrives_slowly_is_taken_whole(
    address: str, household: Household
) -> None:
    """It takes longer than the timeout in all; only a pause would end it."""
    async with a_line(address) as line:
        line.writer.write(a_head(household, UPLOAD, len(CONTENT)))
        for start in range(len(CONTENT)):
            line.writer.write(CONTENT[start : start + 1])
            await asyncio.sleep(2.5 * SOON.body_seconds / len(CONTENT))
        _, _, body = await line.answer()

    # It has arrived: that it is small is known only at its end.
    assert b"60 bytes" in body


async def test_an_open_stream_outlives_both_timeouts(address: str, household: Household) -> None:
    headers = {"authorization": f"Bearer {household.secrets[Role.USER]}"}
    async with (
        aiohttp.ClientSession(address, headers=headers) as session,
        session.get(f"{base(household)}/chat/stream") as stream,
    ):
        await stream.content.readuntil(b"\n\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3 * SOON.body_seconds):
                await stream.content.read()
        assert not stream.content.at_eof()

"""Listener: keeps a stream of events open, whatever happens to the line."""

import asyncio
import random
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache

import aiohttp
import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable, problem_detail
from handrail.client.heartbeat import Heartbeat
from handrail.client.sse import ServerEvent, SseParser
from handrail.core.errors import SetupError
from handrail.wire.version import check_wire_version

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0

log = structlog.get_logger(__name__)


class Listener:
    """Hands over every event once, in order.

    `announce` is called with True when the stream is open and False when it is lost. With a
    `heartbeat` the stream is a client's, which is connected while it sends heartbeats.
    """

    def __init__(
        self,
        api: HandrailApi,
        handle: Callable[[ServerEvent], None],
        announce: Callable[[bool], None] = lambda connected: None,
        heartbeat: Heartbeat | None = None,
    ):
        self._api = api
        self._heartbeat = heartbeat
        self._handle = handle
        self._announce = announce
        self._last_event_id: int | None = None

    async def run(self) -> None:
        """Listen until cancelled, or until the server says that this token is not good.

        Raises:
            ApiError: The server knows us no longer.
            ServerUntrusted: Whoever answers there was never proven to be the server.
            SetupError: It speaks another version; the words say what to upgrade.
        """
        pauses = Pauses()
        while True:
            try:
                await self._listen(pauses)
            except aiohttp.ClientConnectorCertificateError as error:
                if self._last_event_id is None:
                    raise self._api.untrusted(error) from error
                log.warning("stream.untrusted", error=str(error))
            except (aiohttp.ClientError, TimeoutError, OSError, ServerUnreachable) as error:
                log.info("stream.lost", error=str(error) or type(error).__name__)
            except ApiError as error:
                if error.status == 401 and await self._api.renew():
                    continue
                if error.status in (401, 403, 404):
                    raise
                log.warning("stream.refused", status=error.status, error=error.message)
            self._announce(False)
            await pauses.sleep()

    async def _listen(self, pauses: "Pauses") -> None:
        leased = self._heartbeat is not None
        async with self._api.stream(self._last_event_id, heartbeat=leased) as response:
            if response.status != 200:
                raise ApiError(
                    response.status, problem_detail(await response.read(), response.status)
                )
            parser = SseParser()
            pauses.reset()
            self._announce(True)
            with self._heartbeat.keeping(response) if self._heartbeat else nullcontext():
                async for piece in response.content.iter_any():
                    events = parser.feed(piece)
                    _check_version(parser.wire_version)
                    for event in events:
                        if event.id is not None:
                            self._last_event_id = event.id
                        if event.data:
                            self._handle(event)


@cache
def _check_version(server: str | None) -> None:
    if server is not None and (words := check_wire_version(server)) is not None:
        raise SetupError(words)


class Pauses:
    """Longer and longer waits, with some chance in them so that clients do not march in step."""

    def __init__(self) -> None:
        self._next = _FIRST_PAUSE_SECONDS

    def reset(self) -> None:
        self._next = _FIRST_PAUSE_SECONDS

    async def sleep(self) -> None:
        await asyncio.sleep(self._next * random.uniform(0.5, 1.0))  # noqa: S311  no secret
        self._next = min(self._next * 2, _LONGEST_PAUSE_SECONDS)

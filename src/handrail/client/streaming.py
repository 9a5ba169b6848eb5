"""StreamingClient: keeps the line to the server open, whatever happens to it."""

import asyncio
import random
from collections.abc import Callable

import aiohttp
import msgspec
import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable, problem_detail
from handrail.client.handler import ReportResult, ResultAck, Signal, ToolHandler
from handrail.client.sse import ServerEvent, SseParser

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0
_MOST_PER_POST = 100

log = structlog.get_logger(__name__)

_read_signal = msgspec.json.Decoder(Signal).decode
_read_ack = msgspec.json.Decoder(ResultAck).decode


class StreamingClient:
    """Listens, hands events to the ToolHandler and carries its reports back.

    `announce` is called with True when the line is up and False when it is down.
    """

    def __init__(
        self,
        api: HandrailApi,
        make_handler: Callable[[Callable[[ReportResult], None]], ToolHandler],
        announce: Callable[[bool], None] = lambda connected: None,
    ):
        self._api = api
        self._announce = announce
        self._handler = make_handler(self.send_tool_result)
        self._outbox: list[ReportResult] = []
        self._outgoing = asyncio.Event()
        self._last_event_id: int | None = None

    def send_tool_result(self, report: ReportResult) -> None:
        """Put a report into the outbox; it is sent, and sent again, until the server has it."""
        self._outbox.append(report)
        self._outgoing.set()

    async def run(self) -> None:
        """Serve until cancelled, or until the server says that this token is not good.

        Raises:
            ApiError: The server knows us no longer.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._send_forever())
            await self._listen_forever(group)

    async def _listen_forever(self, group: asyncio.TaskGroup) -> None:
        pauses = _Pauses()
        while True:
            try:
                await self._listen(group, pauses)
            except (aiohttp.ClientError, TimeoutError, OSError, ServerUnreachable) as error:
                log.info("stream.lost", error=str(error) or type(error).__name__)
            except ApiError as error:
                if error.status in (401, 403, 404):
                    raise
                log.warning("stream.refused", status=error.status, error=error.message)
            self._announce(False)
            await pauses.sleep()

    async def _listen(self, group: asyncio.TaskGroup, pauses: "_Pauses") -> None:
        async with self._api.stream(self._last_event_id) as response:
            if response.status != 200:
                raise ApiError(
                    response.status, problem_detail(await response.read(), response.status)
                )
            parser = SseParser()
            pauses.reset()
            self._announce(True)
            async for piece in response.content.iter_any():
                for event in parser.feed(piece):
                    self._route(event, group)

    def _route(self, event: ServerEvent, group: asyncio.TaskGroup) -> None:
        if event.id is not None:
            self._last_event_id = event.id
        try:
            match event.name:
                case "tool.execution_signal":
                    signal = _read_signal(event.data)
                    group.create_task(self._handler.handle_tool_execution_signal(signal))
                case "tool.result_ack":
                    self._handler.handle_tool_result_ack(_read_ack(event.data))
                case _:
                    pass
        except msgspec.DecodeError as error:
            log.warning("event.unreadable", name=event.name, id=event.id, error=str(error))

    async def _send_forever(self) -> None:
        pauses = _Pauses()
        while True:
            await self._outgoing.wait()
            self._outgoing.clear()
            while self._outbox:
                batch, self._outbox = self._outbox[:_MOST_PER_POST], self._outbox[_MOST_PER_POST:]
                try:
                    await self._send(batch)
                    pauses.reset()
                except ServerUnreachable:
                    self._outbox = batch + self._outbox
                    await pauses.sleep()

    async def _send(self, batch: list[ReportResult]) -> None:
        try:
            receipts = await self._api.send_results(batch)
        except ApiError as error:
            if error.status >= 500:
                raise ServerUnreachable(error.message) from error
            if len(batch) > 1:
                for report in batch:
                    await self._send([report])
                return
            log.error("result.refused", execution=batch[0]["tool_id"], error=error.message)
            await self._send_excuse(batch[0], error)
            return
        for receipt in receipts:
            if not receipt["success"]:
                log.warning("result.rejected", execution=receipt["tool_id"], why=receipt["message"])

    async def _send_excuse(self, report: ReportResult, error: ApiError) -> None:
        """A result that cannot be delivered must still end its call."""
        excuse = {
            "tool_id": report["tool_id"],
            "epoch": report["epoch"],
            "status": "failed",
            "error": f"the result could not be delivered: {error.message}",
            "error_type": "internal",
        }
        try:
            await self._api.send_results([excuse])
        except ApiError as refused:
            log.error("excuse.refused", execution=report["tool_id"], error=refused.message)


class _Pauses:
    """Longer and longer waits, with some chance in them so that clients do not march in step."""

    def __init__(self) -> None:
        self._next = _FIRST_PAUSE_SECONDS

    def reset(self) -> None:
        self._next = _FIRST_PAUSE_SECONDS

    async def sleep(self) -> None:
        await asyncio.sleep(self._next * random.uniform(0.5, 1.0))  # noqa: S311  no secret
        self._next = min(self._next * 2, _LONGEST_PAUSE_SECONDS)

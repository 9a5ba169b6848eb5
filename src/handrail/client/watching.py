"""Watcher: a person's screen for open questions, on a machine that executes nothing."""

import asyncio
from collections.abc import Callable

import msgspec
import structlog

from handrail.client.api import HandrailApi
from handrail.client.asking import Asking, read_card, read_resolved, read_status, read_tainted
from handrail.client.listening import Listener
from handrail.client.sse import ServerEvent
from handrail.core.ports import Channel

log = structlog.get_logger(__name__)


class Watcher:
    """`announce` is called with True when the line is up and False when it is down."""

    def __init__(
        self,
        api: HandrailApi,
        channel: Channel,
        announce: Callable[[bool], None] = lambda connected: None,
    ):
        self._api = api
        self._announce = announce
        self._asking = Asking(api, channel)

    async def run(self) -> None:
        """Ask about everything that waits or comes, until cancelled.

        Raises:
            ApiError: The server knows us no longer.
        """
        async with asyncio.TaskGroup() as group:
            listener = Listener(
                self._api,
                lambda event: self._route(event, group),
                lambda connected: self._on_line(connected, group),
            )
            await listener.run()

    def _on_line(self, connected: bool, group: asyncio.TaskGroup) -> None:
        self._announce(connected)
        if connected:
            group.create_task(self._asking.catch_up())

    def _route(self, event: ServerEvent, group: asyncio.TaskGroup) -> None:
        try:
            match event.name:
                case "tool.approval_request":
                    group.create_task(self._asking.ask(read_card(event.data)))
                case "approval.resolved":
                    self._asking.close(read_resolved(event.data))
                case "tool.status":
                    group.create_task(self._asking.tell_outcome(read_status(event.data).tool_id))
                case "session.tainted":
                    self._asking.warn(read_tainted(event.data))
                case _:
                    pass
        except msgspec.DecodeError as error:
            log.warning("event.unreadable", name=event.name, id=event.id, error=str(error))

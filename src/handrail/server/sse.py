"""The event stream: every event once, in order, resumed after the last one that was heard."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack

from handrail.core.access import Role
from handrail.core.ids import ClientId
from handrail.plane.connections import Connection
from handrail.server.audience import MOST_PER_READ, Audiences
from handrail.server.auth import Entry
from handrail.server.frames import PING, FrameLog, Renderer, join, reset_frame
from handrail.server.services import Services
from handrail.wire import WIRE_VERSION

_SHORT_SECONDS = 0.001


class EventStream:
    """One listener's stream. While a client's stream is open, the client gets work.

    A `leased` client must send heartbeats as well; its stream ends when its lease lapses.

    The stream ends soon after its token is revoked, also when another process revoked it.
    """

    def __init__(
        self,
        services: Services,
        audiences: Audiences,
        entry: Entry,
        last_event_id: int | None,
        *,
        leased: bool = False,
    ):
        self._services = services
        self._leased = leased
        self._store = services.store
        self._audiences = audiences
        self._entry = entry
        self._project = entry.project
        self._client_id: ClientId | None = None
        if entry.principal.role is Role.CLIENT:
            self._client_id = ClientId(entry.principal.subject)
        self._last_event_id = last_event_id
        self._renderer = Renderer(
            services.store,
            services.names,
            entry.project,
            self._client_id,
            with_chat=entry.hears_chat,
        )
        # The last event that was sent, and where it stands in the log of the audience.
        self._cursor = 0
        self._position: int | None = None

    async def frames(self) -> AsyncGenerator[bytes]:
        with ExitStack() as stack:
            self._count(stack)
            connection = self._connect(stack)
            joining = self._audiences.join(self._entry, self._client_id, connection)
            audience = stack.enter_context(joining)
            first, head = await self._store.event_range(self._project.id)
            last = self._last_event_id
            # It may ask for events that were dropped, or that another database had.
            lost = last is not None and not first - 1 <= last <= head
            self._cursor = head if last is None or lost else last
            # With its number, so that a listener that hears nothing else can go on from here.
            yield f": handrail {WIRE_VERSION}\nid: {self._cursor}\nretry: 1000\n\n".encode()
            if lost:
                yield reset_frame(head, self._services.clock.now())
            if connection is not None:
                await self._services.dispatcher.offer_open_calls(connection)
                await self._services.surveyor.looks.ask_again(connection)
            # A client hears only some events: it can reach the log by reading the store only if
            # the log starts where the client stands.
            start = head if self._client_id is None else self._cursor
            shared, pings = audience.begin(start, head), audience.pings
            while not audience.is_over_for(self._entry):
                if self._cursor < shared.first or self._is_behind(shared):
                    yield await self._read_store(head)
                elif data := self._read_log(shared):
                    yield data
                elif audience.pings != pings:
                    pings = audience.pings
                    yield PING
                else:
                    await audience.wait()

    def _is_behind(self, shared: FrameLog) -> bool:
        """Whether the log has dropped frames that this listener has not been sent."""
        return self._position is not None and shared.read(self._position) is None

    def _read_log(self, shared: FrameLog) -> bytes:
        """What is new in the log; nothing while it is not as far as this listener."""
        if self._position is None:
            self._position = shared.find(self._cursor)
        piece = None if self._position is None else shared.read(self._position)
        if piece is None:
            return b""
        self._position, self._cursor = piece.end, shared.last
        self._services.tally.events_streamed += piece.events
        return piece.data

    async def _read_store(self, head: int) -> bytes:
        """Events from before those in the log."""
        self._position = None
        items = await self._store.read_stream(
            self._project.id, after=self._cursor, client_id=self._client_id, limit=MOST_PER_READ
        )
        expected = self._cursor + 1
        if not items or items[0].event.seq != expected:
            first, last = await self._store.event_range(self._project.id)
            if first > expected:
                # Events were dropped before this listener had read them.
                self._cursor = last
                return reset_frame(last, self._services.clock.now())
        if not items:
            # Their commit is on disk, and the store is about to learn of it.
            await asyncio.sleep(_SHORT_SECONDS)
            return b""
        self._cursor = items[-1].event.seq
        data, events = join(await self._renderer.render(items, head))
        self._services.tally.events_streamed += events
        return data

    def _connect(self, stack: ExitStack) -> Connection | None:
        workspace_id = self._entry.principal.workspace_id
        if self._client_id is None or workspace_id is None:
            return None
        opening = self._services.connections.open(
            self._client_id, workspace_id, leased=self._leased
        )
        connection = stack.enter_context(opening)
        stack.callback(self._services.drafts.drop, connection)
        return connection

    def _count(self, stack: ExitStack) -> None:
        listening = self._services.tally.listening
        listening[self._entry.channel] += 1
        stack.callback(listening.subtract, {self._entry.channel: 1})

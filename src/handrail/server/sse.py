"""The event stream: every event once, in order, resumed from where the listener stood."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack
from datetime import datetime

import msgspec
import structlog

from handrail.core.access import Role
from handrail.core.approval import Approval
from handrail.core.event import Event, EventKind, Topic
from handrail.core.ids import ClientId, MessageId, RunId, SessionId
from handrail.core.ports import Bell, StreamItem
from handrail.plane.connections import Connection
from handrail.plane.whispers import Whisper
from handrail.server.auth import RECHECK_SECONDS, Channel, Entry, Gate
from handrail.server.services import Services
from handrail.wire import WIRE_VERSION
from handrail.wire.chat import CHAT_DELTA, ChatDelta
from handrail.wire.events import (
    ABOUT_APPROVALS,
    STREAM_RESET,
    Payload,
)
from handrail.wire.rendering import (
    CANNOT_BE_TOLD,
    render,
    render_message,
    render_run_event,
    stream_reset,
)

_PING_SECONDS = 5.0
_MOST_PER_FLUSH = 500
_TURNS_OF_THE_LOOP = 4

CHANNELS = tuple(Channel)

_encode = msgspec.json.Encoder().encode
log = structlog.get_logger(__name__)


class EventStream:
    """One listener's stream. While a client's stream is open, the client gets work.

    A `leased` client must send heartbeats as well; its stream ends when its lease lapses.

    The stream ends soon after its token is revoked, also when another process revoked it.
    """

    def __init__(
        self,
        services: Services,
        gate: Gate,
        entry: Entry,
        last_event_id: int | None,
        *,
        leased: bool = False,
    ):
        self._services = services
        self._gate = gate
        self._entry = entry
        self._leased = leased
        self._time = asyncio.get_running_loop().time
        self._checked_at = self._time()
        self._refused = False
        self._project = entry.project
        self._principal = entry.principal
        self._client_id: ClientId | None = None
        if entry.principal.role is Role.CLIENT:
            self._client_id = ClientId(entry.principal.subject)
        self._cursor = last_event_id
        # The last message of each conversation that this listener was told.
        self._told: dict[SessionId, int] = {}

    async def frames(self) -> AsyncGenerator[bytes]:
        store = self._services.store
        with ExitStack() as stack:
            self._count(stack)
            ear = stack.enter_context(self._services.whispers.listen(self._project.id))
            bell = stack.enter_context(self._services.bus.listen(*self._topics()))
            connection = self._connect(stack)
            # Whatever is numbered up to here was told before, or is offered anew below.
            first, head = await store.event_range(self._project.id)
            # It may ask for what has been dropped, or have listened to another life of us.
            lost = self._cursor is not None and not first - 1 <= self._cursor <= head
            self._cursor = head if self._cursor is None or lost else self._cursor
            # With its number, so that also who hears nothing else can go on from here.
            yield f": handrail {WIRE_VERSION}\nid: {self._cursor}\nretry: 1000\n\n".encode()
            if lost:
                yield self._reset(head)
            if connection is not None:
                await self._services.dispatcher.offer_open_calls(connection)
            while not await self._is_over(connection):
                items = await store.read_stream(
                    self._project.id,
                    after=self._cursor,
                    client_id=self._client_id,
                    limit=_MOST_PER_FLUSH,
                )
                if items and await self._is_torn(items[0]):
                    # It listened so slowly that what came next has been dropped meanwhile.
                    _, self._cursor = await store.event_range(self._project.id)
                    yield self._reset(self._cursor)
                elif items:
                    self._cursor = items[-1].event.seq
                    standing = [item for item in items if not self._is_void(item)]
                    self._services.tally.events_streamed += len(standing)
                    yield b"".join([await self._frame(item, head) for item in standing])
                elif whispers := ear.take():
                    now = self._services.clock.now()
                    yield b"".join(_delta(one, now) for one in whispers if not self._is_told(one))
                elif not await self._wait(bell):
                    yield b": ping\n\n"

    async def _is_over(self, connection: Connection | None) -> bool:
        await self._check_token()
        ended = connection is not None and connection.ended
        return self._refused or ended or self._services.room.closed

    async def _wait(self, bell: Bell) -> bool:
        """Wait for a ring, or until our token is good no more; False when a ping is due."""
        ping_at = self._time() + _PING_SECONDS
        while self._time() < ping_at:
            if await bell.wait(RECHECK_SECONDS):
                await self._let_others_come_along()
                return True
            await self._check_token()
            if self._refused:
                return True
        return False

    async def _let_others_come_along(self) -> None:
        """One thing leads to another, and is told with it: an end, and the next call it wakes."""
        for _ in range(_TURNS_OF_THE_LOOP):
            await asyncio.sleep(0)

    async def _check_token(self) -> None:
        """Seldom looks into the store, however often it is asked to."""
        if self._time() - self._checked_at >= RECHECK_SECONDS:
            self._refused = not await self._gate.is_still_good(self._entry)
            self._checked_at = self._time()

    def _topics(self) -> tuple[str, ...]:
        topics = (Topic.project(self._project.id), Topic.CLOSING)
        return topics if self._client_id is None else (*topics, Topic.client(self._client_id))

    def _connect(self, stack: ExitStack) -> Connection | None:
        workspace_id = self._principal.workspace_id
        if self._client_id is None or workspace_id is None:
            return None
        opening = self._services.connections.open(
            self._client_id, workspace_id, leased=self._leased
        )
        return stack.enter_context(opening)

    def _count(self, stack: ExitStack) -> None:
        listening = self._services.tally.listening
        listening[self._entry.channel] += 1
        stack.callback(listening.subtract, {self._entry.channel: 1})

    def _reset(self, head: int) -> bytes:
        return _event(head, STREAM_RESET, stream_reset(self._services.clock.now()))

    async def _is_torn(self, following: StreamItem) -> bool:
        """Whether events are missing that are not just somebody else's."""
        expected = (self._cursor or 0) + 1
        if following.event.seq == expected:
            return False
        return (await self._services.store.event_range(self._project.id)).first > expected

    def _is_void(self, item: StreamItem) -> bool:
        """A signal that was given anew since. On a bad line they would bury the one that counts."""
        event, execution, _ = item
        if execution is None:
            return False
        signal = event.kind is EventKind.EXECUTION_SIGNAL and event.client_id == self._client_id
        return signal and self._client_id is not None and event.epoch < execution.epoch

    async def _frame(self, item: StreamItem, head: int) -> bytes:
        """What is told of an event; one that cannot be told must not end the stream for good."""
        try:
            return await self._told_of(item, head)
        except CANNOT_BE_TOLD:
            log.exception("stream.passed_over", event_id=item.event.seq, kind=item.event.kind)
            return b"id: %d\n\n" % item.event.seq

    async def _told_of(self, item: StreamItem, head: int) -> bytes:
        approval: Approval | None = None
        if item.execution is None:
            return await self._of_chat(item.event)
        if item.event.kind in ABOUT_APPROVALS and item.execution.approval_id is not None:
            approval = await self._services.store.find_approval(item.execution.approval_id)
        name, payload = render(
            item,
            listener=self._client_id,
            salt=self._project.digest_salt,
            replayed=item.event.seq <= head,
            approval=approval,
        )
        return _event(item.event.seq, name, payload)

    def _is_told(self, whisper: Whisper) -> bool:
        """Whether the message that this is a piece of was told already, and whole."""
        return whisper.seq <= self._told.get(whisper.session_id, 0)

    async def _of_chat(self, event: Event) -> bytes:
        """What was said or became of a run; nothing, where the conversation is deleted since."""
        if event.kind is EventKind.CHAT_RUN:
            run = await self._services.store.find_run(RunId(event.execution_id))
            return (
                b"" if run is None else _event(event.seq, event.kind, render_run_event(event, run))
            )
        message = await self._services.store.find_message(MessageId(event.execution_id))
        if message is None:
            return b""
        self._told[message.session_id] = message.seq
        return _event(event.seq, event.kind, render_message(message))


def _delta(whisper: Whisper, at: datetime) -> bytes:
    """Without a number: it cannot be asked for again."""
    payload: ChatDelta = {
        "session_id": whisper.session_id,
        "run_id": whisper.run_id,
        "seq": whisper.seq,
        "text": whisper.text,
        "timestamp": at.isoformat().replace("+00:00", "Z"),
    }
    return b"event: %b\ndata: %b\n\n" % (CHAT_DELTA.encode(), _encode(payload))


def _event(number: int, name: str, payload: Payload) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, name.encode(), _encode(payload))

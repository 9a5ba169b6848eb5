"""Audiences: listeners that get the same bytes. Each event is read and rendered once for them."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import structlog

from handrail.core.event import Topic
from handrail.core.ids import ClientId, ProjectId
from handrail.core.project import Project
from handrail.plane.connections import Connection
from handrail.server.auth import RECHECK_SECONDS, Entry, Gate
from handrail.server.frames import FrameLog, Renderer
from handrail.server.services import Services

MOST_PER_READ = 500
_PING_SECONDS = 5.0
_TURNS_OF_THE_LOOP = 4

# A write to one listener takes some 30 microseconds of the loop. With this pause after each piece,
# many listeners slow down how often they are written to, and not the calls that they hear of.
_PAUSE_SECONDS_PER_LISTENER = 0.000_5
_LONGEST_PAUSE_SECONDS = 0.5
# The timer of the loop is no finer.
_SHORTEST_PAUSE_SECONDS = 0.001

log = structlog.get_logger(__name__)


class Audience:
    """One task reads events, renders them and checks tokens, for all listeners.

    `pings` counts the pings that are due. `over` is set when all streams shall end.
    """

    def __init__(
        self,
        services: Services,
        gate: Gate,
        group: asyncio.TaskGroup,
        project: Project,
        client_id: ClientId | None,
        connection: Connection | None,
        *,
        with_chat: bool,
    ):
        self._services = services
        self._gate = gate
        self._group = group
        self._project_id = project.id
        self._client_id = client_id
        self._connection = connection
        self._renderer = Renderer(
            services.store, services.names, project, client_id, with_chat=with_chat
        )
        self._log: FrameLog | None = None
        self._head = 0
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        # By the hashes of their tokens.
        self._listeners: Counter[str] = Counter()
        self._entries: dict[str, Entry] = {}
        self._refused: set[str] = set()
        self._time = asyncio.get_running_loop().time
        self._checked_at = self._time()
        self.pings = 0
        self.over = False
        self._stack = ExitStack()
        topics = (Topic.project(self._project_id), Topic.CLOSING)
        if client_id is not None:
            topics = (*topics, Topic.client(client_id))
        self._ear = self._stack.enter_context(services.whispers.listen(self._project_id))
        self._bell = self._stack.enter_context(services.bus.listen(*topics))

    @contextmanager
    def attend(self, entry: Entry) -> Generator[None]:
        """Count a listener; after the last one, everything ends."""
        token = entry.token_hash
        self._listeners[token] += 1
        self._entries[token] = entry
        try:
            yield
        finally:
            self._listeners[token] -= 1
            if not self._listeners[token]:
                del self._listeners[token], self._entries[token]
            if not self._listeners:
                self.close()

    def begin(self, start: int, head: int) -> FrameLog:
        """The log, which has the events after `start` unless it was begun before.

        Events up to `head` count as replayed.
        """
        if self._log is None:
            self._log, self._head = FrameLog(start), head
            self._task = self._group.create_task(self._run(self._log))
        return self._log

    def is_over_for(self, entry: Entry) -> bool:
        return self.over or entry.token_hash in self._refused

    async def wait(self) -> None:
        """Wait until the log, the pings or the right to listen may have changed."""
        await self._news.wait()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def close(self) -> None:
        self.over = True
        self._stack.close()
        if self._task is not None:
            self._task.cancel()

    async def _run(self, frames: FrameLog) -> None:
        try:
            while not self._is_over():
                await self._check_tokens()
                if await self._read_into(frames):
                    self._wake()
                    await self._pause()
                elif not await self._wait_for_bell():
                    self.pings += 1
                    self._wake()
        except Exception:
            # The streams end, and their listeners come back with the last number they have heard.
            log.exception("stream.failed", project=self._project_id)
        finally:
            self.over = True
            self._wake()

    def _is_over(self) -> bool:
        ended = self._connection is not None and self._connection.ended
        return ended or self._services.room.closed

    async def _read_into(self, frames: FrameLog) -> bool:
        """Whether there was anything new."""
        store, last = self._services.store, frames.last
        items = await store.read_stream(
            self._project_id, after=last, client_id=self._client_id, limit=MOST_PER_READ
        )
        if items and items[0].event.seq != last + 1:
            first, head = await store.event_range(self._project_id)
            if first > last + 1:
                # Events were dropped before they were read here. Each listener finds out itself.
                frames.restart(head)
                return True
        if items:
            frames.extend(await self._renderer.render(items, self._head), items[-1].event.seq)
        elif whispers := self._ear.take():
            now = self._services.clock.now()
            frames.extend(self._renderer.render_whispers(whispers, last, now), last)
        else:
            return False
        return True

    async def _wait_for_bell(self) -> bool:
        """Wait for a ring; False when a ping is due. Tokens are checked meanwhile."""
        ping_at = self._time() + _PING_SECONDS
        while self._time() < ping_at:
            if await self._bell.wait(RECHECK_SECONDS):
                # An end and the next call that it allows are then sent together.
                for _ in range(_TURNS_OF_THE_LOOP):
                    await asyncio.sleep(0)
                return True
            await self._check_tokens()
        return False

    async def _check_tokens(self) -> None:
        """Once per token and RECHECK_SECONDS, however many listeners have it."""
        if self._time() - self._checked_at < RECHECK_SECONDS:
            return
        refused = {
            token
            for token, entry in [*self._entries.items()]
            if not await self._gate.is_still_good(entry)
        }
        self._checked_at = self._time()
        if refused:
            self._refused |= refused
            self._wake()

    async def _pause(self) -> None:
        seconds = self._listeners.total() * _PAUSE_SECONDS_PER_LISTENER
        if seconds >= _SHORTEST_PAUSE_SECONDS:
            await asyncio.sleep(min(seconds, _LONGEST_PAUSE_SECONDS))


class Audiences:
    """The owner of a project and its approvers have one audience each, a client one per stream."""

    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate
        self._group = asyncio.TaskGroup()
        self._people: dict[tuple[ProjectId, bool], Audience] = {}
        self._open: set[Audience] = set()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """The time in which there can be listeners."""
        async with asyncio.TaskGroup() as self._group:
            yield
            for audience in [*self._open]:
                audience.close()

    @contextmanager
    def join(
        self, entry: Entry, client_id: ClientId | None, connection: Connection | None
    ) -> Generator[Audience]:
        people = self._people if client_id is None else {}
        key = (entry.project.id, entry.hears_chat)
        audience = people.get(key)
        if audience is None or audience.over:
            audience = Audience(
                self._services,
                self._gate,
                self._group,
                entry.project,
                client_id,
                connection,
                with_chat=entry.hears_chat,
            )
            people[key] = audience
            self._open.add(audience)
        try:
            with audience.attend(entry):
                yield audience
        finally:
            if audience.over:
                self._open.discard(audience)
                if people.get(key) is audience:
                    del people[key]

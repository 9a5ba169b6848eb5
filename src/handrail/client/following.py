"""Follower: says something to the agent, and follows what comes of it to the end."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.client.asking import Asking, Resolved
from handrail.client.listening import Listener
from handrail.client.sse import ServerEvent
from handrail.core.card import Card
from handrail.core.errors import HandrailError, leaves
from handrail.core.ports import Channel

Told = dict[str, Any]
# Called with the name of an event, what it says and, where it is about a call, the call.
Hear = Callable[[str, Told, Told | None], Awaitable[None]]

_PAGE = 200
_PATIENCE_SECONDS = 120.0
# News of our own making, beside those of the stream.
_ON_LINE, _INTERRUPT = "on line", "interrupt"
# How a text begins that Handrail says to the model on the person's side.
_HANDRAILS = "[Handrail]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run has come out, and what it has taken."""

    run_id: str
    session_id: str
    status: str
    error: str | None
    answer: str
    turns: int
    calls: int
    tokens: int


class Follower:
    """One message and its run.

    The person is asked by `channel`, if there is one, about the calls of that conversation alone.
    """

    def __init__(self, api: HandrailApi, hear: Hear, channel: Channel | None = None):
        self._api = api
        self._hear = hear
        self._channel = channel
        self._asking = Asking(api, channel)
        self._news: asyncio.Queue[tuple[str, Told]] = asyncio.Queue()
        self._silent_since: float | None = None
        self._asked: list[asyncio.Task[None]] = []
        self._foreign: set[str] = set()
        self._run: Told = {}
        self._seq = 0
        self._answer = ""
        self._turns = self._calls = self._tokens = 0
        self.interrupted = False

    @property
    def outcome(self) -> Outcome | None:
        """What has become of it so far; None where nothing was begun."""
        if not self._run:
            return None
        return Outcome(
            self._run["run_id"],
            self._run["session_id"],
            self._run["status"],
            self._run["error"],
            self._answer,
            self._turns,
            self._calls,
            self._tokens,
        )

    def interrupt(self) -> None:
        """Stop the run; following it comes to an end with that."""
        self.interrupted = True
        self._news.put_nowait((_INTERRUPT, {}))

    async def follow(self, message: Told) -> Outcome | None:
        """Say it, and hear all that comes of it; None where it was interrupted before.

        Raises:
            ApiError: The message was not taken.
            ServerUnreachable: The server has not answered for long.
        """
        troubles: list[HandrailError] = []
        try:
            async with asyncio.TaskGroup() as group:
                listener = Listener(self._api, self._take, self._on_line)
                listening = group.create_task(listener.run())
                try:
                    await self._follow(message, group)
                finally:
                    for task in (listening, *self._asked):
                        task.cancel()
        except* HandrailError as errors:
            troubles = list(leaves(errors))
        # Not from inside `except*`: some versions of Python would wrap it in a group.
        for trouble in troubles:
            raise trouble
        return self.outcome

    async def _follow(self, message: Told, group: asyncio.TaskGroup) -> None:
        while (await self._news.get())[0] != _ON_LINE:
            if self.interrupted:
                return
        begun = await self._api.post("/chat/messages", message)
        self._run, self._seq = begun["run"], begun["message"]["seq"] - 1
        # Events before the stream stood open are not told on it.
        await self._catch_up(group)
        while self._run["status"] == "running":
            name, data = await self._news.get()
            await self._take_in(name, data, group)

    # What comes from the line.

    def _take(self, event: ServerEvent) -> None:
        try:
            self._news.put_nowait((event.name, msgspec.json.decode(event.data, type=Told)))
        except msgspec.DecodeError:
            return

    def _on_line(self, connected: bool) -> None:
        if connected:
            self._silent_since = None
            self._news.put_nowait((_ON_LINE, {}))
            return
        self._silent_since = self._silent_since or time.monotonic()
        if time.monotonic() - self._silent_since > _PATIENCE_SECONDS:
            raise ServerUnreachable(
                f"{self._api.server} has not answered for a while; the run continues when the "
                f"server is back"
            )

    async def _take_in(self, name: str, data: Told, group: asyncio.TaskGroup) -> None:
        match name:
            case "interrupt":
                await self._stop()
            case "on line" | "stream.reset":
                await self._catch_up(group)
            case "tool.status" | "approval.resolved":
                await self._of_call(name, data)
            case _ if data.get("session_id") == self._run["session_id"]:
                await self._of_session(name, data, group)
            case _:
                pass

    async def _of_session(self, name: str, data: Told, group: asyncio.TaskGroup) -> None:
        match name:
            case "chat.message" if data["seq"] == self._seq + 1:
                await self._note(data)
            case "chat.message":
                # It was heard before, or has lost its forerunner on the way.
                await self._catch_up(group)
            case "chat.delta" if data["seq"] <= self._seq:
                pass
            case "chat.run" if data["run_id"] == self._run["run_id"]:
                self._run = data
                await self._hear(name, data, None)
            case "tool.approval_request":
                await self._hear(name, data, None)
                self._ask(msgspec.convert(data, Card), group)
            case _:
                await self._hear(name, data, None)

    async def _stop(self) -> None:
        words = {"channel": "terminal"}
        stopped = await self._api.post(f"/chat/runs/{self._run['run_id']}/stop", words)
        self._run = stopped["run"]

    async def _of_call(self, name: str, data: Told) -> None:
        if data["tool_id"] in self._foreign:
            return
        try:
            call = await self._api.get(f"/tools/{data['tool_id']}")
        except (ApiError, ServerUnreachable):
            return
        if call["session_id"] != self._run["session_id"]:
            self._foreign.add(data["tool_id"])
            return
        if name == "approval.resolved":
            self._asking.close(msgspec.convert(data, Resolved))
        await self._hear(name, data, call)

    # What is looked up.

    async def _catch_up(self, group: asyncio.TaskGroup) -> None:
        """Hear what was said, and ask what was asked, while we did not listen."""
        where = {"session_id": self._run["session_id"], "limit": _PAGE}
        while True:
            try:
                page = await self._api.get("/chat/messages", after=self._seq, **where)
            except ServerUnreachable:
                # The line will be lost as well, and when it is back we come here again.
                return
            for message in page["messages"]:
                await self._note(message)
            if len(page["messages"]) < _PAGE:
                break
        if page["run"] is not None and page["run"]["run_id"] == self._run["run_id"]:
            if page["run"]["status"] != self._run["status"]:
                await self._hear("chat.run", page["run"], None)
            self._run = page["run"]
        for card in await self._open_questions():
            self._ask(card, group)

    async def _open_questions(self) -> list[Card]:
        if self._channel is None:
            return []
        try:
            cards = await self._api.pending_approvals()
        except ServerUnreachable:
            return []
        return [card for card in cards if card.session_id == self._run["session_id"]]

    def _ask(self, card: Card, group: asyncio.TaskGroup) -> None:
        if self._channel is not None:
            self._asked.append(group.create_task(self._asking.ask(card)))

    async def _note(self, message: Told) -> None:
        self._seq = message["seq"]
        if message["run_id"] == self._run["run_id"]:
            self._tokens += message["tokens"] or 0
            self._count(message)
        await self._hear("chat.message", message, None)

    def _count(self, message: Told) -> None:
        """What is said behind the last call is the answer, also where it was said in pieces."""
        text = "".join(part["text"] or "" for part in message["parts"] if part["type"] == "text")
        match message["role"]:
            case "assistant":
                calls = sum(part["type"] == "tool_use" for part in message["parts"])
                self._turns += 1
                self._calls += calls
                self._answer = "" if calls else self._answer + text
            case "user" if not text.startswith(_HANDRAILS):
                self._answer = ""
            case _:
                pass

"""Listeners of the event stream that resume after the last event they received."""

import asyncio
import random
import time

import aiohttp

from benchmarks.soak.ledger import Heard, Hearing, Ledger
from handrail.app.home import Credentials
from handrail.client.api import HandrailApi
from handrail.client.sse import ServerEvent, SseParser
from handrail.core.access import Role
from handrail.wire.events import STREAM_RESET

_AGAIN_SECONDS = 0.1
_SERVER_ERROR = 500
_RESTLESS_SECONDS = (0.05, 3.0)


class Listener:
    """Follows the stream. With `chance` it also hangs up by itself at random moments."""

    def __init__(
        self, name: str, known: Credentials, ledger: Ledger, chance: random.Random | None = None
    ):
        self._name, self._known, self._ledger, self._chance = name, known, ledger, chance
        self._hearing = ledger.hearings.setdefault(name, Hearing())

    async def run(self) -> None:
        known, token = self._known, self._known.token_for(Role.USER)
        async with HandrailApi(known.server, known.project_id, token) as api:
            while True:
                try:
                    async with asyncio.timeout(self._patience()):
                        await self._listen(api)
                except (aiohttp.ClientError, TimeoutError, OSError):
                    pass
                await asyncio.sleep(_AGAIN_SECONDS)

    def _patience(self) -> float | None:
        return self._chance.uniform(*_RESTLESS_SECONDS) if self._chance else None

    async def _listen(self, api: HandrailApi) -> None:
        parser, is_first = SseParser(), True
        async with api.stream(self._hearing.position) as response:
            self._ledger.counts["answers 5xx"] += response.status >= _SERVER_ERROR
            response.raise_for_status()
            async for piece in response.content.iter_any():
                for event in parser.feed(piece):
                    if is_first:
                        self.take_greeting(event)
                    else:
                        self.take(event)
                    is_first = False

    def take_greeting(self, event: ServerEvent) -> None:
        """The first frame of a stream has the number after which it begins, and no data."""
        hearing = self._hearing
        if hearing.position is None:
            hearing.start = hearing.position = event.id
            return
        self._ledger.counts["stream resumes"] += 1
        self._ledger.note(f"{self._name} resumed after {hearing.position}")

    def take(self, event: ServerEvent) -> None:
        if event.id is None:
            return
        self._hearing.position = event.id
        if event.name == STREAM_RESET:
            self._ledger.counts["stream resets"] += 1
            self._ledger.note(f"{self._name} was reset to {event.id}")
        else:
            self._hearing.events.append(Heard(event.id, event.name, time.time()))

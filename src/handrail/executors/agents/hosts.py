"""HostQuestions: which hosts a program may reach, each asked about at most once."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from handrail.core.errors import HandrailError
from handrail.policy.network.hosts import Host, HostList

# A program can make up names without end, and a person reads them one by one.
_MOST_OPEN = 5
AskAbout = Callable[[Host], Awaitable[str]]
Start = Callable[[Coroutine[object, object, None]], asyncio.Task[None]]


class HostQuestions:
    """`quiet` hosts are refused without a question; about all others `ask` is called.

    A question is a task of its own: it goes on if the connection that has asked is closed.
    """

    def __init__(self, quiet: HostList, ask: AskAbout, start: Start):
        self._quiet = quiet
        self._ask = ask
        self._start = start
        self._asked: dict[Host, asyncio.Task[None]] = {}
        self._answers: dict[Host, str] = {}

    async def answer(self, host: Host) -> str:
        """Why a host may not be reached; connections to the same one wait together."""
        if self._quiet.covers(host):
            return "its profile refuses this host without a question"
        if host not in self._asked:
            if sum(not asked.done() for asked in self._asked.values()) >= _MOST_OPEN:
                return f"{_MOST_OPEN} other hosts wait for an answer; try again later"
            self._asked[host] = self._start(self._keep_answer(host))
        await asyncio.shield(self._asked[host])
        return self._answers[host]

    def close(self) -> None:
        for asked in self._asked.values():
            asked.cancel()

    async def _keep_answer(self, host: Host) -> None:
        try:
            self._answers[host] = await self._ask(host)
        except HandrailError as error:
            self._answers[host] = f"no answer could be had: {error}"

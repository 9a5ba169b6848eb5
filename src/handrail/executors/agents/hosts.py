"""HostQuestions: which hosts a program may reach, each asked about at most once."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from handrail.core.errors import HandrailError
from handrail.executors.network.proxy import Answer
from handrail.policy.network.hosts import Host, HostList

AskAbout = Callable[[Host], Awaitable[Answer]]
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
        self._answers: dict[Host, Answer] = {}

    async def answer(self, host: Host) -> Answer:
        """The answer for a host; connections to the same one wait together."""
        if self._quiet.covers(host):
            return Answer("its profile refuses this host without a question")
        if host not in self._asked:
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
            self._answers[host] = Answer(f"no answer could be had: {error}")

"""Agents that ask and people who decide: each goes on through any restart."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from benchmarks.soak.ledger import Call, Ledger, end_of
from handrail.app.home import Credentials
from handrail.client.api import ApiError, HandrailApi, ServerTroubled, ServerUnreachable
from handrail.core.access import Role
from handrail.core.card import Card
from handrail.core.execution import FINAL

T = TypeVar("T")

_WAIT_SECONDS = 20.0
_AGAIN_SECONDS = 0.1
_CALLS_PER_SESSION = 100
_KINDS = [*["read"] * 9, *["list"] * 2, *["append"] * 4, *["bash"] * 4, "slow bash"]
_FINAL = {str(status) for status in FINAL}
_REFUSED_SHARE, _CONTRADICTED_SHARE = 0.12, 0.1


async def insist(ledger: Ledger, send: Callable[[], Awaitable[T]]) -> T:
    """Send the same request until there is an answer."""
    while True:
        try:
            return await send()
        except ServerTroubled:
            ledger.counts["answers 5xx"] += 1
        except ServerUnreachable:
            ledger.counts["broken requests"] += 1
        await asyncio.sleep(_AGAIN_SECONDS)


class Agent:
    """Asks for one thing after another, and appends only to files of its own."""

    def __init__(self, name: str, known: Credentials, ledger: Ledger, chance: random.Random):
        self._name, self._known, self._ledger, self._chance = name, known, ledger, chance
        self._numbers = count(1)

    async def run(self, is_over: asyncio.Event) -> None:
        async with _api(self._known, Role.AGENT) as api:
            while not is_over.is_set():
                calls = [self._next_call()]
                if self._chance.random() < 0.1:
                    calls += [self._next_call() for _ in range(2)]
                self._ledger.calls += calls
                for call in calls:
                    call.end = await self.ask(api, call)

    async def ask(self, api: HandrailApi, call: Call) -> tuple[str, str | None]:
        while True:
            answer = await insist(self._ledger, lambda: _execute(api, call))
            if answer["status"] in _FINAL:
                return end_of(answer)

    def _next_call(self) -> Call:
        number = next(self._numbers)
        session = f"{self._name}-{number // _CALLS_PER_SESSION}"
        marker = f"{self._name}-{number:06}"
        kind = self._chance.choice(_KINDS)
        tool, params, effect = "read_file", {"path": "README"}, None
        if kind == "list":
            tool, params = "list_directory", {"path": "."}
        elif kind == "append":
            content = {"content": f"{marker}\n", "mode": "append"}
            tool, params, effect = "write_file", {"path": f"{marker}.w", **content}, marker
        elif kind in ("bash", "slow bash"):
            pause = "sleep 0.7; " if kind == "slow bash" else ""
            line = f"{pause}echo {marker} >> {self._name}.log"
            tool, params, effect = "run_bash", {"command": line}, marker
        return Call(tool, params, session, marker, effect)


class Approver:
    """Decides on everything that waits; sometimes two screens contradict each other."""

    def __init__(self, known: Credentials, ledger: Ledger, chance: random.Random):
        self._known, self._ledger, self._chance = known, ledger, chance
        # Set whenever a decision has just been sent, for kills in the middle of one.
        self.sent = asyncio.Event()

    async def run(self) -> None:
        async with _api(self._known, Role.USER) as api:
            while True:
                cards = await insist(self._ledger, api.pending_approvals)
                await asyncio.gather(*(self._decide(api, card) for card in cards))
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _decide(self, api: HandrailApi, card: Card) -> None:
        answers = ["rejected" if self._chance.random() < _REFUSED_SHARE else "approved"]
        if self._chance.random() < _CONTRADICTED_SHARE:
            answers = ["approved", "rejected"]
        await asyncio.gather(*(self._send(api, card, answer) for answer in answers))

    async def _send(self, api: HandrailApi, card: Card, answer: str) -> None:
        async def decide() -> Any:
            self.sent.set()
            if answer == "approved":
                return await api.approve(card.approval_id, digest=card.digest)
            return await api.reject(card.approval_id)

        # 409: the other screen was first, or the question has changed and is asked again.
        with suppress(ApiError):
            await insist(self._ledger, decide)
            self._ledger.decisions.setdefault(card.approval_id, []).append(answer)


async def read_ends(known: Credentials, ledger: Ledger) -> dict[str, tuple[str, str | None]]:
    """What the server says of every call now, by the caller's own id."""
    async with _api(known, Role.AGENT) as api:
        ends: dict[str, tuple[str, str | None]] = {}
        for call in ledger.calls:
            answer = await insist(ledger, lambda call=call: _execute(api, call))
            ends[call.call_id] = end_of(answer)
        return ends


async def read_decisions(known: Credentials, ledger: Ledger) -> dict[str, str]:
    """What the server says of every question that was answered."""
    async with _api(known, Role.USER) as api:
        found: dict[str, str] = {}
        for approval_id in ledger.decisions:
            answer = await insist(ledger, lambda one=approval_id: api.get(f"/approvals/{one}"))
            found[approval_id] = answer["status"]
        return found


async def count_pending(known: Credentials, ledger: Ledger) -> int:
    async with _api(known, Role.USER) as api:
        return len(await insist(ledger, api.pending_approvals))


async def _execute(api: HandrailApi, call: Call) -> dict[str, Any]:
    return await api.execute(
        call.tool_name,
        call.params,
        session_id=call.session_id,
        call_id=call.call_id,
        wait=_WAIT_SECONDS,
    )


def _api(known: Credentials, role: Role) -> HandrailApi:
    return HandrailApi(known.server, known.project_id, known.token_for(role))
